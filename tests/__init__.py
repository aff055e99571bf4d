"""Mirrors the packages; `python -m tests` runs it all."""
