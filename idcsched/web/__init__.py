"""What stands around every view: middlewares, and what a process does when it begins to serve."""
