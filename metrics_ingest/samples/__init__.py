"""Storage of samples: they are checked, arranged as columns, and written in bulk."""
