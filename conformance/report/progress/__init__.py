"""What a person at a terminal sees while something runs."""
