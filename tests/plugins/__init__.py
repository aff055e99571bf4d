"""The built-in plugins, each by what it does."""
