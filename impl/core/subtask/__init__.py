"""The snapshot steps of one subtask."""
