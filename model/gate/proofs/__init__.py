"""The symbolic cases of a gate, by mode, with stated numbers of channels and items."""
