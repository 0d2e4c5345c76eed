"""The checkpoint coordinator: requests, pending checkpoints, completion, failures, time, recovery.

`coordinator` takes the events; `trigger` starts a checkpoint, `completion` ends it, `scheduler` advances
virtual time, `recovery` restores tasks and replaces coordinators, and `state` holds the coordinator's state.
`proposed` has generations of public discussions, which no released jar has.
"""
