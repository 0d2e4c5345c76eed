"""The keyed aggregation that is measured: it counts the rows of each word, and sums their values.

Our runtime and Structured Streaming read the same folder of Parquet files. `exact` computes the required
result from the files with Arrow. Words are drawn evenly, so every batch has nearly all words.
"""

import operator
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from conformance.bench.runtime.endless import EndlessInput
from impl.aggregation.arrow_aggregates import count, sum_of
from impl.aggregation.rows import Emit
from impl.config import MEMORY, CheckpointConfig, ExecutionConfig
from impl.connectors import read_committed
from impl.job import Job, ParquetInput, ParquetOutput
from impl.spark.worker.sources import Input

ROWS, KEYS, ROWS_A_FILE = 20_000_000, 10_000, 200_000
TOTALS = pa.schema({"word": pa.string(), "count": pa.int64(), "total": pa.int64()})
SLOTS = 5
ROW, ARROW = "row", "arrow"
BATCH_ROWS, FEWER_ROWS, CHANNEL_BATCHES = 65_536, 4_096, 1
"""Rows of a batch, rows of a batch of the row API, and batches in a channel, behind which a barrier waits.
A call of a function for each row takes ten times as long as a kernel, so the row API has smaller batches."""

Totals = dict[str, tuple[int, int]]


def files(folder: Path, rows: int = ROWS, keys: int = KEYS) -> Path:
    """The folder of the input files, made unless it exists."""
    made = folder / f"words-{rows}-{keys}"
    if (made / "_whole").exists():
        return made
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    words = pa.array([f"word-{number:06d}" for number in range(keys)])
    draw = np.random.default_rng(20261121)
    most = min(ROWS_A_FILE, -(-rows // 2))  # a file for each of two sources
    for number, first in enumerate(range(0, rows, most)):
        here = min(most, rows - first)
        table = pa.table(
            {
                "word": words.take(pa.array(draw.integers(0, keys, here))),
                "value": draw.integers(0, 1_000, here),
            }
        )
        pq.write_table(table, made / f"{number:05d}.parquet")
    (made / "_whole").touch()
    return made


def exact(folder: Path) -> Totals:
    """The required result: by word, the count and the total."""
    table = ds.dataset(sorted(map(str, folder.glob("*.parquet")))).to_table()
    grouped = table.group_by("word").aggregate([([], "count_all"), ("value", "sum")])
    return _by_word(grouped.column("word"), grouped.column("count_all"), grouped.column("value_sum"))


def newest(updates: pa.Table) -> Totals:
    """The last update of each word, which has the highest count.

    Raises ValueError if an update was committed twice.
    """
    grouped = updates.group_by("word").aggregate([("count", "max"), ("total", "max"), ("count", "count")])
    distinct = updates.group_by(["word", "count"]).aggregate([]).num_rows
    if distinct != updates.num_rows:
        raise ValueError(f"{updates.num_rows - distinct} updates were committed twice")
    return _by_word(grouped.column("word"), grouped.column("count_max"), grouped.column("total_max"))


def _by_word(*columns: pa.ChunkedArray) -> Totals:
    words, counts, totals = (one.to_pylist() for one in columns)
    return dict(zip(words, zip(counts, totals, strict=True), strict=True))


class Sums:
    """The aggregate function of the row API, which is called for every row."""

    def create_accumulator(self) -> tuple[int, int]:
        """Count and total before the first row."""
        return 0, 0

    def add(self, row: tuple[Any, ...], accumulator: tuple[int, int]) -> tuple[int, int]:
        """Count and total after one more row."""
        return accumulator[0] + 1, accumulator[1] + row[1]

    def get_result(self, row: tuple[Any, ...], accumulator: tuple[int, int]) -> tuple[Any, ...]:
        """Word, count and total."""
        count, total = accumulator
        return row[0], count, total


def job(
    api: str,
    source: Path | Input,
    output: Path,
    *,
    interval_ms: int | None = 500,
    backend: str = MEMORY,
    rows_per_second: float | None = None,
    counts: Path | None = None,
) -> Job:
    """A job of two sources, two counting subtasks and one sink, with an update of each changed word for each
    checkpoint.

    `source`: the folder of the files, or another input. `counts`: the folder in which an endless source
    counts its rows (`EndlessInput`); None: the source ends.
    """
    if not isinstance(source, Path):
        rows = source
    elif counts:
        rows = EndlessInput(source, counts)
    else:
        rows = ParquetInput(source, rows_per_second=rows_per_second)
    words = Job("words").source("words", rows, 2)
    if api == ROW:
        sums = words.key_by(operator.itemgetter(0)).aggregate("sums", Sums(), 2, Emit.CHANGED)
    else:
        aggregates = {"count": count(), "total": sum_of("value")}
        sums = words.key_by("word").aggregate_columns("sums", aggregates, 2)
    execution = ExecutionConfig(
        batch_rows=FEWER_ROWS if api == ROW else BATCH_ROWS,
        channel_batches=CHANNEL_BATCHES,
        state_backend=backend,
    )
    return (
        sums.sink("updates", ParquetOutput(output / "committed", TOTALS))
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=interval_ms))
        .with_execution(execution)
    )


def answer(output: Path) -> Totals:
    """The newest committed count and total of each word. Raises ValueError as `newest`."""
    return newest(read_committed(output / "committed"))
