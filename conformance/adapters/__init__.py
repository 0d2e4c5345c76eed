"""Package conformance.adapters."""
