"""The theorem on dataflows of a stated size: broken variants, runs that break them, the Python model."""
