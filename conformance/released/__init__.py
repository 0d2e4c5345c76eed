"""Compares releases of Flink with the model, component by component."""
