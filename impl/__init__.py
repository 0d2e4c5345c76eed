"""The implementation: Flink's checkpointing on PySpark.

A user declares a job with `job`, its processing with `streams` and `functions`, its settings with `config`
and its planned faults with `faults`. `running_job` is a job in a thread of the user's process. `driver`
runs a job in a separate process and starts a new process if that one is killed. `savepoints` requests
savepoints of a running job. `eventlog` writes the logs that trace validation reads. `metrics` has the
measurements of a run, and `monitoring` the web page of a running job.

`graph` has the plan of a job. `core` is the protocol without I/O, and `state` is its durable storage.
`connectors` has the sources and the sinks, and `spark` the runtime. `jobs` has the jobs of the suite.
"""
