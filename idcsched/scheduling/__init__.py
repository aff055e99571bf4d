"""Profiles and their revisions, the live snapshot, decision records, and `decide_request`, which joins them."""
