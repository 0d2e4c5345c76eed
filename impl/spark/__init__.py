"""The runtime on Spark: a driver, and one worker process for each subtask.

`runtime` runs attempt after attempt. `coordination` is the driver's side of an attempt, `worker` the
subtask's side, and `channels` the connections between them. `snapshots` and `savepoints` take and publish
state. `faults` has subclasses for jobs with planned faults. `session` starts Spark, `datasource` reads
committed output. *The core* is `impl.core`, the protocol without I/O.
"""
