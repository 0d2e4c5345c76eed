"""Engines that are used from Python. Each has its own environment, and its job in `jobs/`."""
