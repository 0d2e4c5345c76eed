"""Spark's Python daemon, which imports the modules of a subtask before it forks.

Spark starts `python -m <this>` once and forks every worker from it. Imports in each of eight workers, on two
cores, would take ten seconds at the start of a job, and more than one after a worker was killed.

Imported objects are never garbage. `freeze` excludes them from every collection, and a higher threshold makes
collections rarer: both together save a tenth of the time of a row.

A thread writes the snapshot while the subtask goes on. It releases the interpreter at every file operation
and every larger checksum, and gets it back after the switch interval. With Python's 5 ms the writing of 5,000
keys takes 50 ms, with 6 ms of work.

Spark puts its archives on the path, and a worker reads their directories anew as it starts: a quarter of the
processor time of a short job. Those of an installed pyspark hold what is installed too, and are left out.

The working folder comes last on its path: functions of a job are found there, and no module with the name of
one of this package.
"""

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

_OBJECTS_BETWEEN_COLLECTIONS = 50_000
_SWITCH_SECONDS = 0.001
_NEEDED = ("pandas", "pyarrow.csv", "pyarrow.parquet", "pyspark.worker", "impl.spark.worker.worker")


def without_archives(path: Sequence[str]) -> list[str]:
    """The module search path without the archives inside of a pyspark that is installed on it."""
    homes = tuple(f"{place}/pyspark/" for place in path if Path(place, "pyspark", "daemon.py").is_file())
    return [place for place in path if not (place.startswith(homes) and place.endswith((".zip", ".jar")))]


if __name__ == "__main__":
    sys.path[:] = [*without_archives(sys.path), os.getcwd()]
    from pyspark.daemon import manager

    for module in _NEEDED:
        importlib.import_module(module)
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    sys.setswitchinterval(_SWITCH_SECONDS)
    manager()
