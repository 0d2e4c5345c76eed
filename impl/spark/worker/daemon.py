"""Spark's Python daemon, with what a subtask needs imported before it forks.

Spark starts `python -m <this>` once and forks every worker from it. Imported here, pyarrow, pandas and our
rooms are paid for once; imported in each of eight workers, on two cores, they cost ten seconds at the
start of a job and more than one after a worker was killed.

What is imported is never garbage. Frozen, it is not looked at again whenever a batch of rows has made many
objects, and with a higher threshold that is not so often: both together are a tenth of the time of a row.

A snapshot is written beside the processing, by a thread that lets the interpreter go at every file operation
and at every larger checksum, and gets it back when the processing has held it for the switch interval. With
Python's 5 ms the writing of 5,000 keys takes 50 ms, though there is work of 6 ms in it.

The folder it is started in comes last on its path: functions of a job are found there, but no module that is
called like one of ours.
"""

import gc
import importlib
import os
import sys

from pyspark.daemon import manager

_OBJECTS_BETWEEN_COLLECTIONS = 50_000
_SWITCH_SECONDS = 0.001
_NEEDED = ("pandas", "pyarrow.csv", "pyarrow.parquet", "pyspark.worker", "impl.spark.worker.worker")

if __name__ == "__main__":
    sys.path.append(os.getcwd())
    for module in _NEEDED:
        importlib.import_module(module)
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    sys.setswitchinterval(_SWITCH_SECONDS)
    manager()
