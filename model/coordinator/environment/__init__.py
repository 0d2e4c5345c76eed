"""Closed models of the coordinator: the plain one, and those that each show one subject."""
