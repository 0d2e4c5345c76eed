"""Spark's Python daemon, which imports the modules of a subtask before it forks.

Spark starts this module as a process once, and forks every worker from it. If each of eight workers on two
cores imported the modules, a job would start ten seconds later, and a restart after a killed worker would
take more than one second longer.

Imported objects are never garbage. `gc.freeze` excludes them from every garbage collection, and a higher
threshold makes collections rarer. Both together save a tenth of the processing time of a row.

A thread writes the snapshot while the subtask processes records. It releases the interpreter lock at every
file operation and every larger checksum, and gets it back after the switch interval. With Python's default
interval of 5 ms, the thread needs 50 ms for 5,000 keys, and 44 ms of them are waits for the lock. So this
module sets a shorter interval.

Spark puts its archives on the module path. Each worker that starts reads the directories of these archives,
which takes a quarter of the processor time of a short job. An installed pyspark has the same modules as its
archives, so this module removes the archives from the path.

The working folder is the last entry of the module path. Python finds the functions of a job there, but no
module there replaces one of this package.
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
    """The module search path `path` without Spark's archives (.zip, .jar), if pyspark is installed on it."""
    homes = tuple(f"{entry}/pyspark/" for entry in path if Path(entry, "pyspark", "daemon.py").is_file())
    return [entry for entry in path if not (entry.startswith(homes) and entry.endswith((".zip", ".jar")))]


if __name__ == "__main__":
    sys.path[:] = [*without_archives(sys.path), os.getcwd()]
    from pyspark.daemon import manager

    for module in _NEEDED:
        importlib.import_module(module)
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    sys.setswitchinterval(_SWITCH_SECONDS)
    manager()
