"""The change history (who changed what, when and why), and the change feed that snapshots follow."""
