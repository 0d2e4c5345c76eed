"""Engines that are used from Python: each in an environment of its own, its job in `jobs/`."""
