"""The shapes of a gate over which its proofs range, by mode."""
