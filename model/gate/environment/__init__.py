"""Closed models of a gate: the items that its channels may deliver, by mode."""
