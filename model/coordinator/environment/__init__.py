"""Closed models of the coordinator: one with the basic events, and one for each subject."""
