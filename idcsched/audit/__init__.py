"""Who changed what, when and why; and the feed that tells snapshots what has moved."""
