"""What is measured: rates of the suite, and what the runtime on Spark is held to.

`rates` has the suite's own rates, with those of real Flinks in `flink` and of their logs in `logs`. The
runtime's measurements are one room each: `throughput` beside Structured Streaming, `cost` of checkpoints by
`windows` of one job that has an `endless` source, `backpressure`, `recovery`, `incremental` checkpoints of
large state, `memory`. Their jobs are in `words` and `slow`; `driver` runs them in `processes` of their own,
`native` is what is measured beside them. `engines` has our engines beside other checkers on the gate,
`composition` on the whole, `largest` one search alone: the others are in `checkers`, SPIN's text in
`promela`, ours in `exploring`, all are `watched`, and `rows` has what they came to. `traces` validates the
logs of many jobs. `figures` are what comes of it, `published` makes the pages of the documentation.
"""

from collections.abc import Mapping

MEASURED: Mapping[str, str] = {
    "throughput": "runtime.throughput",
    "cost": "runtime.cost",
    "backpressure": "runtime.backpressure",
    "recovery": "runtime.recovery",
    "incremental": "runtime.incremental",
    "memory": "runtime.memory",
    "engines": "engines.engines",
    "composition": "engines.composition",
    "largest": "engines.largest",
    "traces": "traces",
}
"""The measurements beside the rates, in the order of the pages: the module of each.

It has a function `measure(folder, scale)`.
"""
