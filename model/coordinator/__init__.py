"""The checkpoint coordinator: requests, pending checkpoints, completion, failures, time, recovery.

`coordinator` takes the events; `trigger` starts a checkpoint, `completion` ends it, `scheduler` reads virtual
time, `recovery` is what outlives a failure, and `state` is what the coordinator knows.
"""
