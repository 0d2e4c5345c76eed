"""The runtime on Spark: barrier execution mode, one Spark job for each execution attempt.

`session` starts Spark and refuses what cannot work, `addresses` tells where everybody is; `runtime` runs
attempt after attempt; `attempt` serves one; `coordination` is the checkpoint coordinator on the driver;
`workers` its control connections. On the other side `worker` is one Spark task, `subtask` its loop,
`operators` what it runs, `inbox` and `outputs` its channels; where barriers overtake, `overtaking`,
`credits`, `inflight` and `unaligned` come in. Below them all, `frames`, `handshake` and `doors` are how
processes of one attempt talk. `datasource` reads what was committed.
"""
