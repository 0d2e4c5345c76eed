"""The shapes of the store over which its proofs range."""
