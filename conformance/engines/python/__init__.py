"""Engines whose jobs are Python programs. Each has a separate environment, and its job is in `jobs/`."""
