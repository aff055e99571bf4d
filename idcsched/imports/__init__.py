"""The inventory in files: written out as CSV or JSON, and read back, all or nothing, as a preview or for good."""
