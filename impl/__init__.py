"""Package impl."""
