"""The store of completed checkpoints, what outlives a coordinator, and shared state."""
