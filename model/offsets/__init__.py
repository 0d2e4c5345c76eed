"""A source's reader that commits its offsets to the external system when a checkpoint completes."""
