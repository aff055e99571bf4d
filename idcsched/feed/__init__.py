"""The feed: what tells every process that something has moved."""
