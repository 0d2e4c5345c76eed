"""The snapshots of one subtask, and the barriers that it sends to its outputs."""
