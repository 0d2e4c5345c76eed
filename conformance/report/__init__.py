"""Package conformance.report."""
