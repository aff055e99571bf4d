"""The distributions here are installed and then run from where they were installed, not from this folder."""

collect_ignore = ["broken", "carbon"]
