"""The shapes of the coordinator that its proofs go through, by subject."""
