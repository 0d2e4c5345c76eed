"""What runs in the worker process of one subtask: its loop, its operator, its launch."""
