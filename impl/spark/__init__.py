"""Package impl.spark."""
