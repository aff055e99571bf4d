"""Mirrors the packages; `make test` runs it all."""
