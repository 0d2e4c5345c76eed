"""Released Flinks driven beside the model, component by component."""
