"""The store of completed checkpoints: which are retained, which are dropped, which is the latest."""
