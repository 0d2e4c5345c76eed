"""A runnable implementation of barrier checkpointing on PySpark.

`job` is the public API: a job in a few lines, of the `streams` that are declared with it; `config`,
`functions` and `faults` are what it is given. `plan` is what becomes of it, `topology` tells whether that can
run, `rescaling` whether it can go on from a checkpoint. `core` is the protocol without I/O, `state` its
durable side, `connectors` the ends of a job, `spark` the runtime, `eventlog` what a run leaves for trace
validation. `driver` lets a job outlive the process that drives it. `flights` is the main job, and
`flights_check` holds its output against the source.
"""
