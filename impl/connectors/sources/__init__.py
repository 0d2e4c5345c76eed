"""Replayable sources: over files, folders, and made-up rows."""
