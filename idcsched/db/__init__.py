"""Model fields and constraints that all rooms share, and the bulkhead in front of the database."""
