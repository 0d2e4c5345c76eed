"""The store of completed checkpoints (vocabulary: `store`).

`store` decides which checkpoints are retained, `shared_state` which shared files are in use, and `retained`
holds what survives a failure of the coordinator.
"""
