"""Compares released Flinks with the model, component by component."""
