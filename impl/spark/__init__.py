"""The runtime on Spark: a driver, and one worker process for each subtask.

`runtime` runs one attempt after the other. `coordination` is the driver's side of an attempt, `worker` the
subtask's side, and `channels` the connections between them. `snapshots` takes the snapshots of a subtask, and
`savepoints` the savepoints of a job. `faults` has subclasses for jobs with planned faults. `session` starts
Spark, and `datasource` reads committed output. *The core* is `impl.core`, the protocol without I/O.
"""
