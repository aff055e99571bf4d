"""What is taken of each line and stock, and how many machines of whom stand where."""
