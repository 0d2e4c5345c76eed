"""Package conformance."""
