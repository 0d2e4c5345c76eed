"""A source that commits its offsets when a checkpoint completes (vocabulary: `offsets`)."""
