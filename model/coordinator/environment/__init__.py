"""Closed models of the coordinator: the plain one, and one for each subject."""
