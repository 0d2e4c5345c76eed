"""Package conformance.mutants."""
