"""Barrier snapshots on any dataflow: the dataflow is an input, an operator is the history of what it read.

Read `job` (the state), `structure` and `key_groups` (the dataflow and its subtasks) and `any_dataflow` (the
steps), then `properties`; `environment` closes it with
`bounds` and has all small dataflows. spec/dataflow/AnyDataflow.tla is the same machine; the two state graphs
are compared. `regional` adds checkpoints that fall back for failed regions (proposed, and not in TLA+).
"""
