"""Model fields and constraints that all packages share, and the bulkhead in front of the database."""
