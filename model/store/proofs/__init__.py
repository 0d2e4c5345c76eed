"""The symbolic cases of the store: in stated sizes, and for any number of entries."""
