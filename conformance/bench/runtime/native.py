"""The aggregation of the words by Structured Streaming itself, with which our runtime is compared.

The query is `groupBy(word).agg(count, sum)` in update mode, with its state in RocksDB. `foreachBatch` writes
each micro-batch as Parquet. A micro-batch has so many files that it takes about our checkpoint interval.
"""

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds

from conformance.bench.runtime.word_counts import Totals, newest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CORES = 2
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
    "spark.driver.memory": "4g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(CORES),
    "spark.sql.streaming.stateStore.providerClass": _STORE,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}


def session() -> "SparkSession":
    """Make a Spark session in which Java compiles fully, which our runtime does not need."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{CORES}]").appName("native")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def run(spark: "SparkSession", source: Path, output: Path, files_a_batch: int) -> dict[str, Any]:
    """Run the query on all files. Returns its numbers of rows and batches, and the median ms of a batch."""
    from pyspark.sql import functions

    def write(frame: "DataFrame", batch: int) -> None:
        frame.write.mode("overwrite").parquet(str(output / "batches" / str(batch)))

    words = spark.readStream.schema("word string, value long").option("maxFilesPerTrigger", files_a_batch)
    sums = words.parquet(str(source / "*.parquet")).groupBy("word")
    query = (
        sums.agg(functions.count("*").alias("count"), functions.sum("value").alias("total"))
        .writeStream.foreachBatch(write)
        .outputMode("update")
        .option("checkpointLocation", str(output / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    progress = query.recentProgress
    return {
        "rows": sum(one["numInputRows"] for one in progress),
        "batches": len(progress),
        "batch_ms": median(one["batchDuration"] for one in progress),
    }


def answer(output: Path) -> Totals:
    """The newest count and total of each word in the output of a run. Raises ValueError as `newest`."""
    return newest(ds.dataset(sorted(map(str, output.glob("batches/*/*.parquet")))).to_table())
