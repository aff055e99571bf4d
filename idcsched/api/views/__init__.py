"""The views, one file per resource; the work is done by services."""
