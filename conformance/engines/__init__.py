"""Runs the same job and the same faults on Flink, PyFlink, Structured Streaming, Bytewax and Pathway.

`feed` writes the input of every engine, and `schedule` draws the faults. `engine` is the interface of an
engine: `flink/` implements it for clusters of released jars, `python/` for the others. `rounds` runs one
round, and `round_account` prepares its output for the classifier of `conformance.observe.guarantees`.
`campaign` runs the rows of `table.toml`, and `results` stores the results.
"""
