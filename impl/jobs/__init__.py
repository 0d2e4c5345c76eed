"""Bundled jobs: the flights of the main job, and the numbers of fault campaigns."""
