"""Batches of rows and of columns in one job on Spark: the output is exact although a worker is killed."""

import operator
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle

from conformance.observe.validate import validate
from conformance.verdict import Verdict
from impl.aggregation.arrow_aggregates import count, sum_of
from impl.aggregation.rows import Emit
from impl.config import MEMORY, ROCKSDB, CheckpointConfig, ExecutionConfig
from impl.connectors import read_committed
from impl.faults import FaultPlan
from impl.job import Job, ParquetInput, ParquetOutput

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not see the tests

FILES, ROWS_A_FILE, WORDS = 6, 1_500, 50
EARLY = 300
"""The words of the first rows do not come again: an update of theirs that is lost stays so."""
TOTALS = pa.schema({"word": pa.string(), "rows": pa.int64(), "sum": pa.int64()})


class Totals:
    """The number of rows and the sum of their values."""

    def create_accumulator(self):
        return 0, 0

    def add(self, row, accumulator):
        return accumulator[0] + 1, accumulator[1] + row[1]

    def get_result(self, row, accumulator):
        return row[0], *accumulator


def words(folder):
    """Writes files of words and numbers. Returns the expected results."""
    exact = {}
    for file in range(FILES):
        numbers = range(file * ROWS_A_FILE, (file + 1) * ROWS_A_FILE)
        shown = [f"early-{one % 9}" if one < EARLY else f"word-{one * one % WORDS}" for one in numbers]
        pq.write_table(pa.table({"word": shown, "value": pa.array(numbers)}), folder / f"{file}.parquet")
        for word, number in zip(shown, numbers, strict=True):
            rows, total = exact.get(word, (0, 0))
            exact[word] = rows + 1, total + number
    return exact


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize(("backend", "overtaking"), [(MEMORY, False), (ROCKSDB, True)])
def test_rows_and_columns_are_aggregated_exactly_although_a_worker_is_killed(
    spark, tmp_path, backend, overtaking
):
    (tmp_path / "words").mkdir()
    exact = words(tmp_path / "words")
    source = ParquetInput(tmp_path / "words", rows_per_second=6_000.0)
    stream = Job("words").source("words", source, 2)
    by_row = stream.key_by(operator.itemgetter(0)).aggregate("rows", Totals(), 2, Emit.CHANGED)
    settings = CheckpointConfig(checkpointing_interval_ms=100, unaligned_checkpoints_enabled=overtaking)
    columns = {"rows": count(), "sum": sum_of("value")}
    by_column = stream.key_by("word").aggregate_columns("columns", columns, 2)
    job = (
        by_row.sink("of_rows", ParquetOutput(tmp_path / "of_rows", TOTALS))
        .together_with(by_column.sink("of_columns", ParquetOutput(tmp_path / "of_columns", TOTALS)))
        .with_checkpoints(settings)
        .with_execution(ExecutionConfig(batch_rows=64, state_backend=backend, heartbeat_timeout_ms=60_000))
    )
    fault = FaultPlan("acknowledgement-sent", "columns-0", 4)

    result = job.execute("local[8]", tmp_path, faults=[fault], event_log=True, spark=spark)
    trace = validate(tmp_path / "events")

    assert len(result.attempts) == 2
    for output in ("of_rows", "of_columns"):
        committed = read_committed(tmp_path / output).to_pylist()
        updates = [(row["word"], row["rows"]) for row in committed]
        assert len(set(updates)) == len(updates)  # each occurs once: nothing was committed twice
        newest = {}
        for row in sorted(committed, key=lambda row: row["rows"]):
            newest[row["word"]] = row["rows"], row["sum"]
        assert newest == exact
    assert trace.verdict is Verdict.CONFORMS, trace.describe()
    assert not overtaking or trace.situations["overtook"] > 0
