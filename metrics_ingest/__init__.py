"""Numbers about IDCs and lines: what they mean, the latest of each, their history, and what is made of it."""
