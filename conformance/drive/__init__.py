"""Package conformance.drive."""
