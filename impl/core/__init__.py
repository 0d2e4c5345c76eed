"""Package impl.core."""
