"""One file a subject, each with its `ROWS`."""
