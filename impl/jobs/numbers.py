"""A small job for fault campaigns: it counts and sums numbers by key, and writes an update for each number.

Two source partitions generate the numbers below `rows`. Keyed subtasks count and sum them by their remainder.
Two sinks write an update for each number. The update has the number, so a check can distinguish a lost update
from a duplicate. The final count and sum of a key are known in advance.
"""

import operator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from impl.connectors.two_phase import Output
from impl.graph.plan import Row
from impl.job import Job, KafkaInput, KafkaRecord, ParquetOutput, RateInput

SOURCES, COUNTERS, SINKS = 2, 2, 2
KEYS = 40
UPDATES = pa.schema({"key": pa.int64(), "number": pa.int64(), "count": pa.int64(), "total": pa.int64()})


def to_rows(batch: pa.RecordBatch, partition: int, offset: int) -> list[Row]:
    """The rows (key, number) of a batch of numbers."""
    return [(number % KEYS, number) for number in batch.column("value").to_pylist()]


def row_of(record: KafkaRecord) -> Row:
    """The row (key, number) of a record that has the number as text."""
    number = int(record.value or b"")
    return number % KEYS, number


@dataclass(frozen=True)
class Totals:
    """The count and the sum of the numbers of a key."""

    def create_accumulator(self) -> tuple[int, int]:
        """The totals of no number: (0, 0)."""
        return 0, 0

    def add(self, row: Row, accumulator: tuple[int, int]) -> tuple[int, int]:
        """The accumulator after one more number."""
        count, total = accumulator
        return count + 1, total + row[1]

    def get_result(self, row: Row, accumulator: tuple[int, int]) -> Row:
        """The update after this number."""
        return (*row, *accumulator)


def numbers_job(
    rows: int, output: Path | Output, rows_per_second: float | None = None, topic: KafkaInput | None = None
) -> Job:
    """The job: 2 sources, 2 counters, 2 sinks.

    `output`: a folder for Parquet files, or any other output. `topic`: a Kafka topic with the numbers as
    text; None: the sources generate the numbers.
    """
    into = ParquetOutput(output, UPDATES) if isinstance(output, Path) else output
    return (
        Job("numbers")
        .source("numbers", topic or RateInput(rows, to_rows, rows_per_second), SOURCES)
        .key_by(operator.itemgetter(0))
        .aggregate("count", Totals(), COUNTERS)
        .sink("sink", into, SINKS)
    )
