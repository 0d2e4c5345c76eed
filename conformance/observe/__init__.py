"""Package conformance.observe."""
