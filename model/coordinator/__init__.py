"""The checkpoint coordinator: requests, pending checkpoints, completion, failures, time, recovery.

`coordinator` has the step for each event. `trigger` starts a checkpoint, `completion` ends it, `scheduler`
advances virtual time, and `recovery` restores tasks and replaces coordinators. `state` defines the
coordinator's state. `proposed` has generations from public discussions, which no released jar has.
"""
