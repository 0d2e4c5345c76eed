"""The store of completed checkpoints: what is retained, what is dropped, which is the latest."""
