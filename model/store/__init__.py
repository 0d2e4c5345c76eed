"""The store of completed checkpoints: which ones it retains, which ones it drops, and the latest one."""
