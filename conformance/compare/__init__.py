"""Package conformance.compare."""
