"""The snapshot steps of one subtask (vocabulary: `subtask`)."""
