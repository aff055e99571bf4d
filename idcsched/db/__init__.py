"""What the project adds to Django's way with databases."""
