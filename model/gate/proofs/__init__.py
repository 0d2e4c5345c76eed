"""The shapes of a gate that its proofs go through, by mode."""
