"""Aggregates by key, over rows and over columns."""
