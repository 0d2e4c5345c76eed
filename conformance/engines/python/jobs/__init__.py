"""The job of the campaigns on engines of Python; each file runs in the environment of its engine."""
