"""The history of changes: who changed what, when and why."""
