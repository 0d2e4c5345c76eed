"""Spark's Python daemon, with what a subtask needs imported before it forks.

Spark starts `python -m <this>` once and forks every worker from it. Imported here, pyarrow, pandas and our
rooms are paid for once; imported in each of eight workers, on two cores, they cost ten seconds at the
start of a job and more than one after a worker was killed.
"""

import importlib

from pyspark.daemon import manager

_NEEDED = ("pandas", "pyarrow.csv", "pyarrow.parquet", "pyspark.worker", "impl.spark.worker")

if __name__ == "__main__":
    for module in _NEEDED:
        importlib.import_module(module)
    manager()
