"""The test job of all engines, on Structured Streaming. `python FILE SPEC` runs it.

SPEC is a JSON file with the folders, the source and the sink.

Sinks: `files` is Spark's sink into files, and `batches` writes each micro-batch with `foreachBatch` into a
new file. `early` is a planted defect: it shows each row as soon as it is computed. Sources: `chunks` is
Spark's source of files. `forgetful` is a planted defect: after a restart it reads only files that did not
exist at the restart.
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

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

MOST_CHUNKS = 100
"""More than the number of chunks that a lane has."""
TRIGGER = "200 milliseconds"
_ROW = "line string"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",  # for small batches, compilation takes longer than the query
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def updates(progress: str, shown: str | None) -> Any:  # noqa: ANN401 - a function that Spark calls
    """Return the stateful function, which Spark calls for each key with new records.

    The function makes a row of each record, in the order of lanes and positions. `progress`: the folder of
    files to which it adds a byte for each record. `shown`: the output folder for the sink `early`, else None.
    """

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
    """The records of the input. After a restart, a forgetful source ignores the files that exist already."""
    source = spark.readStream.schema("lane string, position string, key string, weight string")
    source = source.option("maxFilesPerTrigger", "16")
    if spec["source"] == "forgetful" and any(Path(spec["checkpoints"]).iterdir()):
        existing = {file.name.split("-")[1] for file in Path(spec["chunks"]).iterdir()}
        later = [f"{number:04}" for number in range(MOST_CHUNKS) if f"{number:04}" not in existing]
        source = source.option("pathGlobFilter", f"chunk-{{{','.join(later)}}}-*.csv")
    read = source.csv(spec["chunks"])
    return read.selectExpr("concat_ws(',', lane, position, key, weight) AS line")


def main(spec: dict[str, str]) -> None:
    """Run until the file `end` of the specification exists and all input is processed."""
    from pyspark.sql.streaming.state import GroupStateTimeout

    builder = SparkSession.builder.master("local[2]").appName("barrierspec")
    for key, value in _SETTINGS.items():
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
