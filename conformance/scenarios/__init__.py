"""One sequence in every generation, side by side."""
