"""The demo of `make run`: demo data, and the whole system as processes of one machine."""
