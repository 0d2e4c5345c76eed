"""The proofs of a gate with any number of channels, by mode: the rules over ropes of channels."""
