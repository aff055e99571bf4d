"""Profiles and their revisions, the live snapshot, decision records, and `schedule()`, which brings them together."""
