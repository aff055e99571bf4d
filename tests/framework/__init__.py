"""The decision, rule by rule."""
