"""Compares the state graphs of TLC, of the Python model and of the relation that z3 reads."""
