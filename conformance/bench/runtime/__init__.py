"""Measurements of the runtime on Spark."""
