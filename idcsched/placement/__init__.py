"""What becomes of a decision that is taken at its word: placements, their machines, and their life."""
