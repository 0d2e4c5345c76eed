"""The job on Structured Streaming: `python FILE SPEC`, a JSON file with the folders, the source and the sink.

Sinks: `files` is Spark's own sink into files, `batches` writes each micro-batch with `foreachBatch` under a
new name, and `early` is the planted defect, which shows each row when it is computed. Sources: `chunks` is
Spark's own source of files, `lanes` and `forgetful` read the lanes; `forgetful` is the planted defect, which
reads on from the end of the lanes after a restart.
"""

import json
import os
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

WIDTH = 22
TRIGGER = "200 milliseconds"
_ROW = "line string"
_OFF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",  # a query of small batches compiles longer than it runs
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


class Part(InputPartition):
    """Records of one lane: from the first offset on, before the last."""

    def __init__(self, lane: str, first: int, last: int) -> None:
        self.lane, self.first, self.last = lane, first, last


class LaneReader(DataSourceStreamReader):
    """Offsets by lane, in the number of records."""

    def __init__(self, folder: str, forgetful: bool) -> None:
        self._folder = Path(folder)
        self._position = self._ends() if forgetful else None

    def _ends(self) -> dict[str, int]:
        return {file.name: file.stat().st_size // WIDTH for file in sorted(self._folder.iterdir())}

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """The beginning."""
        return dict.fromkeys(self._ends(), 0)

    def latestOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """The present end."""
        return self._ends()

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[Part]:
        """The records between two offsets; a forgetful reader goes on from where it is itself."""
        if self._position is not None:
            start, self._position = self._position, dict(end)
        return [Part(str(self._folder / lane), start[lane], end[lane]) for lane in end]

    def read(self, partition: Part) -> Iterator[tuple[str]]:
        """The lines of a partition."""
        if partition.first < partition.last:
            with Path(partition.lane).open("rb") as file:
                file.seek(partition.first * WIDTH)
                text = file.read((partition.last - partition.first) * WIDTH).decode()
            yield from ((line,) for line in text.splitlines())


class LaneSource(DataSource):
    """The lanes of a folder as a streaming source."""

    @classmethod
    def name(cls) -> str:
        """Its name for `format`."""
        return "lanes"

    def schema(self) -> str:
        """One column."""
        return _ROW

    def streamReader(self, schema: Any) -> LaneReader:  # noqa: ANN401, N802 - Spark's name and types
        """The reader."""
        del schema
        return LaneReader(self.options["path"], self.options["forgetful"] == "yes")


def updates(progress: str, shown: str | None) -> Any:  # noqa: ANN401 - a function that Spark calls
    """The stateful function: by key, a row for each record in the order of lanes and positions."""

    def update(key: tuple[str], frames: Iterator["pd.DataFrame"], state: Any) -> Iterator["pd.DataFrame"]:  # noqa: ANN401
        import pandas as pd

        place, total = state.get if state.exists else (0, 0)
        rows = []
        with (Path(progress) / str(os.getpid())).open("ab", buffering=0) as processed:
            for line in sorted(line for frame in frames for line in frame["line"].tolist()):
                lane, position, number, weight = map(int, line.split(","))
                place, total = place + 1, total + weight
                rows.append(f"{number},{lane},{position},{place},{total}")
                processed.write(b".")
                if shown is not None:
                    with (Path(shown) / f"early-{os.getpid()}").open("a", encoding="ascii") as file:
                        file.write(rows[-1] + "\n")
        state.update((place, total))
        yield pd.DataFrame({"line": rows})

    return update


def lines_of(spark: SparkSession, spec: dict[str, str]) -> "DataFrame":
    """The input."""
    if spec["source"] == "chunks":
        source = spark.readStream.schema("lane string, position string, key string, weight string")
        read = source.option("maxFilesPerTrigger", "16").csv(spec["chunks"])
        return read.selectExpr("concat_ws(',', lane, position, key, weight) AS line")
    spark.dataSource.register(LaneSource)
    forgetful = "yes" if spec["source"] == "forgetful" and any(Path(spec["checkpoints"]).iterdir()) else "no"
    return spark.readStream.format("lanes").option("forgetful", forgetful).load(spec["lanes"])


def main(spec: dict[str, str]) -> None:
    """Run until the end of the input is announced and all of it is processed."""
    from pyspark.sql.streaming.state import GroupStateTimeout

    builder = SparkSession.builder.master("local[2]").appName("barrierspec")
    for key, value in _OFF.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    output = spec["output"]
    rows = (
        lines_of(spark, spec)
        .selectExpr("split(line, ',')[2] AS key", "line")
        .groupBy("key")
        .applyInPandasWithState(
            updates(spec["progress"], output if spec["sink"] == "early" else None),
            _ROW,
            "place long, total long",
            "append",
            GroupStateTimeout.NoTimeout,
        )
        .writeStream.option("checkpointLocation", spec["checkpoints"])
        .outputMode("append")
        .trigger(processingTime=TRIGGER)
    )

    def write(frame: "DataFrame", batch: int) -> None:
        lines = [row.line for row in frame.collect()]
        hidden = Path(output) / f".{batch}"
        hidden.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        hidden.rename(Path(output) / f"batch-{batch}-{uuid.uuid4().hex[:8]}")

    match spec["sink"]:
        case "files":
            query = rows.format("text").start(output)
        case "batches":
            query = rows.foreachBatch(write).start()
        case _:
            query = rows.foreachBatch(lambda frame, _: frame.collect()).start()
    while not Path(spec["end"]).exists():
        if query.awaitTermination(0.2):
            return
        time.sleep(0.05)
    query.processAllAvailable()
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
