"""The keyed aggregation that is measured: words with values, their number and sum by word.

Our runtime and Structured Streaming both read a folder of Parquet files. `exact` is the result that both must
have, computed from the files by Arrow. Words are drawn evenly, so every batch has nearly all words.
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
"""Rows of a batch, and how many batches wait in a channel: what a barrier waits behind. Calling a function
for each row takes ten times as long as a kernel for all of them, so rows of the row API come in smaller
batches, with every state backend."""

Totals = dict[str, tuple[int, int]]


def files(folder: Path, rows: int = ROWS, keys: int = KEYS) -> Path:
    """The folder of the input; made anew unless it is there already."""
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
    """The answer, by word."""
    table = ds.dataset(sorted(map(str, folder.glob("*.parquet")))).to_table()
    grouped = table.group_by("word").aggregate([([], "count_all"), ("value", "sum")])
    return _by_word(grouped.column("word"), grouped.column("count_all"), grouped.column("value_sum"))


def newest(updates: pa.Table) -> Totals:
    """The last update of each word: counts only grow. Raises ValueError if an update was committed twice."""
    grouped = updates.group_by("word").aggregate([("count", "max"), ("total", "max"), ("count", "count")])
    distinct = updates.group_by(["word", "count"]).aggregate([]).num_rows
    if distinct != updates.num_rows:
        raise ValueError(f"{updates.num_rows - distinct} updates were committed twice")
    return _by_word(grouped.column("word"), grouped.column("count_max"), grouped.column("total_max"))


def _by_word(*columns: pa.ChunkedArray) -> Totals:
    words, counts, totals = (one.to_pylist() for one in columns)
    return dict(zip(words, zip(counts, totals, strict=True), strict=True))


class Sums:
    """The aggregate of the row API: called for every row."""

    def create_accumulator(self) -> tuple[int, int]:
        """No row yet."""
        return 0, 0

    def add(self, row: tuple[Any, ...], accumulator: tuple[int, int]) -> tuple[int, int]:
        """One row more."""
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
    """Two sources, two counters, one sink; an update for each changed word before each barrier.

    `source`: the folder of the files, or another input. With `counts` the rows come for ever, and are counted
    there: see `EndlessInput`.
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
    """The committed output of a run of the job."""
    return newest(read_committed(output / "committed"))
