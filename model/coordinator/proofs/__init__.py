"""The shapes of the coordinator over which its proofs range, by subject."""
