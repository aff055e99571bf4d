"""Who is asked for numbers, when, and how samples are made of the answers."""
