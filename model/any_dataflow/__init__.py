"""Barrier snapshots on any dataflow. The caller gives the dataflow. The state of an operator is its history.

Read first `job` (the state), then `structure` and `key_groups` (the dataflow and its subtasks),
`any_dataflow` (the steps) and `properties`. `environment` holds the closed models within `bounds`, and lists
all small dataflows. spec/dataflow/AnyDataflow.tla specifies the same state machine. The suite compares the
two state graphs. `regional` adds checkpoints that fall back for failed regions (proposed, and not in TLA+).
"""
