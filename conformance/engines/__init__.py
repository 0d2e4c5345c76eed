"""Whole engines under the same faults: clusters of Flink, PyFlink, Structured Streaming, Bytewax, Pathway.

`feed` is the input of every engine, `schedule` draws the faults, and `engine` states what a campaign needs of
an engine: `flink/` has the cluster of released jars, `python/` the others. `rounds` runs one round.
`round_account` prepares its output for the classifier of `conformance.observe.guarantees`. `campaign` runs
the rows of `table.toml`, and `results` stores the results.
"""
