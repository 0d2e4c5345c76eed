"""Closed models of the coordinator: with the basic events, with events of one subject, and of its parts."""
