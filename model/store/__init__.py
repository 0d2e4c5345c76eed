"""The store of completed checkpoints: it retains some, drops the others, and returns the latest one."""
