"""The store of completed checkpoints (vocabulary: `store`).

`store` decides which checkpoints are retained, `shared_state` decides which shared files are in use, and
`retained` holds the data that survives a failure of the coordinator.
"""
