"""The implementation: Flink's checkpointing on PySpark.

`job` declares a job, `streams` and `functions` its processing, `config` its settings, `faults` planned
faults. `graph` has the plan of a job. `core` is the protocol without I/O, `state` its durable storage,
`connectors` its sources and outputs, `spark` the runtime. `eventlog` is what trace validation reads,
`metrics` the measurements, `monitoring` the web page of a running job. `driver` runs a job in a process that
is replaced when it is killed, `savepoints` requests savepoints of it. `jobs` has the jobs of the suite.
"""
