"""The checkpoint coordinator of one job: requests, pending checkpoints, completion, failures, time."""
