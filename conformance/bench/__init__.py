"""Measurements: the rates of the suite, and figures of the runtime on Spark.

`rates` measures the suite itself, with `flink` (real releases) and `logs` (their logs); `benchmark` repeats
work. Each other measurement is one module with a function `measure(folder, scale)`: those of the runtime are
in `runtime/`, whose `driver` runs jobs in processes of their own; those that compare the exploration
engines with other model checkers are in `engines/`; `traces` validates the logs of many jobs, and
`validation` one log of each kind. `figures` are their results,
`published` makes the pages of the documentation. The wheel does not contain this folder.
"""

from collections.abc import Mapping

MEASURED: Mapping[str, str] = {
    "throughput": "runtime.throughput",
    "flink": "flink_comparison.comparison",
    "cost": "runtime.cost",
    "backpressure": "runtime.backpressure",
    "recovery": "runtime.recovery",
    "incremental": "runtime.incremental",
    "memory": "runtime.memory",
    "engines": "engines.engines",
    "composition": "engines.composition",
    "largest": "engines.largest",
    "traces": "traces",
    "validation": "validation",
}
"""All measurements except the rates, in the order of the page: the module of each."""
