"""The snapshots of one subtask: taken, written, and where they lie."""
