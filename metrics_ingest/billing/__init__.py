"""What stretches of bandwidth come to, and what of it is billed."""
