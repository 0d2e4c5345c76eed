"""Package impl.connectors."""
