"""What `make run` shows: demo data, and the whole system as processes of one machine."""
