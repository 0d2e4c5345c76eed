"""A stateful aggregation of Structured Streaming over the numbers, as an implementation under test.

The query reads files of numbers, and keeps a count and a sum by key in Spark's state store. It writes an
update for each number, and one file for each micro-batch. An `idempotent` sink writes a repeated batch into
the same file, an `appending` sink into a new file. The query runs in a process that can be killed (`python -m
conformance.torture.streaming_query SPEC`). After an error it is started again from Spark's checkpoint.
"""

import os
import secrets
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from impl.faults import Action
from impl.jobs.numbers import KEYS
from impl.spark.errors import InjectedFaultError
from impl.spark.faults.injector import executor_above
from impl.spark.session import spark_session

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

IDEMPOTENT, APPENDING = "idempotent", "appending"
STATE, BEFORE, AFTER = "state-updated", "batch-to-write", "batch-written"
POINTS = {
    STATE: "a task updates the state of a key with a record",
    BEFORE: "the sink is about to write a micro-batch",
    AFTER: "the sink has written a micro-batch, and Spark has not committed it",
}
PAIRS = [
    *((STATE, action) for action in (Action.ERROR, Action.SIGKILL, Action.KILL_EXECUTOR, Action.KILL_DRIVER)),
    *((point, action) for point in (BEFORE, AFTER) for action in (Action.ERROR, Action.KILL_DRIVER)),
]
_OUTPUT = "key long, number long, count long, total long"
_RESTARTS = 20


@dataclass(frozen=True)
class StreamingFault:
    """One fault: it is due when the record `number` is processed, or the micro-batch `number` is written."""

    point: str
    number: int
    action: str
    task: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    def due(self, folder: str) -> bool:
        """Create the file `mark`. Returns True only to the first caller, which then injects the fault."""
        try:
            os.close(os.open(self.mark(folder), os.O_CREAT | os.O_EXCL, 0o644))
        except FileExistsError:
            return False
        return True

    def mark(self, folder: str) -> Path:
        """The file that exists once the fault was injected."""
        return Path(folder) / f"injected-{self.point}-{self.number}-{self.action}"

    def inject(self, driver: int) -> None:
        """Inject it: kill this process, its executor or its driver, or raise InjectedFaultError."""
        if self.action == Action.SIGKILL:
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.action == Action.KILL_EXECUTOR:
            os.kill(executor_above(os.getpid()), signal.SIGKILL)
        elif self.action == Action.KILL_DRIVER:
            os.kill(driver, signal.SIGKILL)
        raise InjectedFaultError(f"{self.action} at {self.point} of {self.number}")


class Updates:
    """The stateful function: yields an update for each number of a key, in the order of the numbers."""

    def __init__(self, faults: list[StreamingFault], folder: str, driver: int) -> None:
        self._faults = {one.number: one for one in faults if one.point == STATE}
        self._folder = folder
        self._driver = driver

    def __call__(
        self,
        key: tuple[int],
        frames: Iterator["pd.DataFrame"],
        state: Any,  # noqa: ANN401 - Spark's GroupState has no importable type
    ) -> Iterator["pd.DataFrame"]:
        """Yield the updates of one key in one micro-batch."""
        import pandas as pd

        count, total = state.get if state.exists else (0, 0)
        rows = []
        for number in sorted(number for frame in frames for number in frame["number"].tolist()):
            fault = self._faults.get(number)
            if fault is not None and fault.due(self._folder):
                fault.inject(self._driver)
            count, total = count + 1, total + number
            rows.append((key[0], number, count, total))
        state.update((count, total))
        yield pd.DataFrame(rows, columns=["key", "number", "count", "total"])


def sink(folder: Path, kind: str, faults: list[StreamingFault]) -> Callable[["DataFrame", int], None]:
    """Return the writer of micro-batches. It writes a file for each, visible only when it is complete."""
    by_batch = {(one.point, one.number): one for one in faults}

    def pass_point(point: str, batch: int) -> None:
        fault = by_batch.get((point, batch))
        if fault is not None and fault.due(str(folder)):
            fault.inject(os.getpid())

    def write(frame: "DataFrame", batch: int) -> None:
        table: pa.Table = frame.toArrow()
        pass_point(BEFORE, batch)
        name = f"batch-{batch}" if kind == IDEMPOTENT else f"batch-{batch}-{secrets.token_hex(4)}"
        staging = folder / "output" / f".{name}"
        pq.write_table(table, staging)
        staging.replace(folder / "output" / f"{name}.parquet")
        pass_point(AFTER, batch)

    return write


def run_query(spark: "SparkSession", spec: dict[str, Any]) -> int:
    """Run the query until all input is processed. Returns the number of its starts.

    Raises InjectedFaultError if it fails too often.
    """
    from pyspark.errors import StreamingQueryException
    from pyspark.sql.streaming.state import GroupStateTimeout

    folder = Path(spec["folder"])
    faults = [StreamingFault(**one) for one in spec["faults"]]
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    for started in range(1, _RESTARTS + 1):
        numbers = spark.readStream.schema("number long").option("maxFilesPerTrigger", "1")
        query = (
            numbers.parquet(str(folder / "input"))
            .selectExpr(f"number % {KEYS} AS key", "number")
            .groupBy("key")
            .applyInPandasWithState(
                Updates(faults, str(folder), os.getpid()),
                _OUTPUT,
                "count long, total long",
                "append",
                GroupStateTimeout.NoTimeout,
            )
            .writeStream.foreachBatch(sink(folder, spec["sink"], faults))
            .option("checkpointLocation", str(folder / "checkpoint"))
            .outputMode("append")
            .trigger(availableNow=True)
            .start()
        )
        try:
            query.awaitTermination()
        except StreamingQueryException as failed:
            with (folder / "failures.txt").open("a") as file:
                file.write(f"{str(failed).splitlines()[0][:300]}\n")
            continue
        return started
    raise InjectedFaultError(
        f"the query has failed {_RESTARTS} times; the reasons are in {folder}/failures.txt"
    )


def state_of(spark: "SparkSession", folder: Path) -> list[list[int]]:
    """Key, count and total of every key in Spark's state store, as of the last committed micro-batch."""
    stored = spark.read.format("statestore").load(str(folder / "checkpoint"))
    rows = stored.selectExpr("key.key AS key", "value.groupState.count", "value.groupState.total").collect()
    return [[row[0], row[1], row[2]] for row in rows]


def main(path: str) -> None:
    """Run a specification, and write its result into a file next to it."""
    file = Path(path)
    spec = orjson.loads(file.read_bytes())
    folder = Path(spec["folder"])
    with spark_session(spec["master"], folder / "spark.log", "structured-streaming") as spark:
        started = run_query(spark, spec)
        state = state_of(spark, folder)
    file.with_suffix(".result").write_bytes(orjson.dumps({"started": started, "state": state}))


if __name__ == "__main__":
    main(sys.argv[1])
