"""Package model.engines."""
