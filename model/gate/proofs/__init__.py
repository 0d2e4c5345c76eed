"""The shapes of a gate in its proofs, by mode. A shape is the size of every collection in a state."""
