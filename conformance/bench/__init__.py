"""Measurements: the rates of the suite, and figures of the runtime on Spark.

`rates` measures the suite itself, with `flink` (releases of Flink) and `logs` (their logs), and `benchmark`
repeats the work. Each other measurement is a module with a function `measure(folder, scale)`. Those of the
runtime are in `runtime/`, whose `driver` runs jobs in separate processes. `flink_comparison/` compares the
runtime with Flink, and `engines/` compares our exploration engines with other model checkers. `traces`
validates the logs of many jobs, and `validation` one log of each kind. `figures` defines their results, and
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
"""By name, in the order of the page: the module of each measurement except the rates."""
