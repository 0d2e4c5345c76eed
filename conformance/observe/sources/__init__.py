"""The replay of what a source does itself: `offsets`, the commits of its offsets."""
