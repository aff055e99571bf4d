"""Import and export of the inventory as CSV, Excel or JSON; an import is all or nothing, and can be previewed."""
