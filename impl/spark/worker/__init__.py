"""The worker process of one subtask: its launch, its loop, its operator."""
