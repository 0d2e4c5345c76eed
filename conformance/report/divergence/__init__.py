"""The text of a divergence: its description, the pytest test, and why the answer was refused."""
