"""The savepoints of a running job."""
