"""The snapshot steps of one subtask (vocabulary: `subtask`): its events, its profiles and its steps."""
