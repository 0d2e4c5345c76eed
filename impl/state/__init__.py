"""Package impl.state."""
