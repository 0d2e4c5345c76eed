"""Fault campaigns: many short runs of a job, several faults in each, and everything checked after each.

`rounds` draws a campaign from a seed; `local` runs a round in a session that stays, `apart` one whose driver
or executors are killed. `account` reads what a run has left, for the classifier of
`conformance.observe.guarantees.guarantee`; `leftovers` looks for files, sockets and processes that should
be gone; `judge` puts it together; `campaign` runs round after round and `report` tells what came of it.
`streaming` does the same to Structured Streaming, whose query is in `streaming_query`.
"""
