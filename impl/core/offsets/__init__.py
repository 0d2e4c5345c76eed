"""A reader that commits its offsets when a checkpoint completes."""
