"""Closed models of a gate: what its channels may deliver, by mode."""
