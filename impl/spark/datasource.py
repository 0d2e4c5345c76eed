"""A Spark data source that reads the committed output of a job: `format("barrierspec")`.

    register(spark)
    spark.read.format("barrierspec").load("committed")
    spark.readStream.format("barrierspec").load("s3://bucket/committed")

A batch is the output up to the newest checkpoint for which every sink subtask has committed its output, or up
to the checkpoint in the option `checkpoint`. A stream has one micro-batch for each such checkpoint, and its
offset has the checkpoint's id. The readers never read rows of a checkpoint that is not complete, nor files
that ended attempts have left (ONCE-05, ONCE-06). They read each file as a whole, and compare its checksum.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxFiles

from impl.config import ConfigError
from impl.connectors.errors import SinkConflictError
from impl.connectors.manifests import DataFile, Manifest, read_verified
from impl.connectors.parquet_progress import retracted, schema_of, whole_output
from impl.state.locations import Where, path_or_uri

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

FORMAT = "barrierspec"
_BEGINNING = -1


def register(spark: "SparkSession") -> None:
    """Register the format `barrierspec` with `spark`."""
    spark.dataSource.register(CommittedOutput)


@dataclass
class CommittedFile(InputPartition):  # type: ignore[misc] # the base has no types here
    """One data file, which is one partition of the query."""

    directory: Where
    file: DataFile

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows of the file. Raises `OutputCorruptError` if the file was altered."""
        yield from pq.read_table(pa.BufferReader(read_verified(self.directory, self.file))).to_batches()


class CommittedOutput(DataSource):  # type: ignore[misc]
    """The committed output in the directory of a `ParquetOutput`. Raises ConfigError without a directory."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    @property
    def _directory(self) -> Where:
        path = self.options.get("path")
        if not path:
            raise ConfigError(f"{FORMAT} takes the directory of a job's committed output: load(directory)")
        return path_or_uri(path.removeprefix("file:"))

    def schema(self) -> "StructType":
        """The schema of the rows, which the sink has stored."""
        return from_arrow_schema(schema_of(self._directory))

    def reader(self, schema: "StructType") -> "CommittedReader":
        """The reader of a batch."""
        limit = self.options.get("checkpoint")
        return CommittedReader(self._directory, None if limit is None else int(limit))

    def streamReader(self, schema: "StructType") -> "CommittedStream":  # noqa: N802 - Spark's name
        """The reader of a stream."""
        return CommittedStream(self._directory)


class CommittedReader(DataSourceReader):  # type: ignore[misc]
    """Reads the output that is committed when Spark plans the query. `up_to`: the last checkpoint to read."""

    def __init__(self, directory: Where, up_to: int | None) -> None:
        self._directory = directory
        self._up_to = up_to

    def partitions(self) -> Sequence[CommittedFile]:
        """One partition for each file."""
        return _files(self._directory, whole_output(self._directory, up_to=self._up_to))

    def read(self, partition: CommittedFile) -> Iterator[pa.RecordBatch]:
        """The rows of a file."""
        return partition.batches()


class CommittedStream(DataSourceStreamReader):  # type: ignore[misc]
    """One micro-batch for each checkpoint with output.

    An offset is the id of a checkpoint, and the number of retracted manifests up to it. If that number grows,
    the job has restored an older checkpoint and retracted output that this stream has already delivered.
    """

    def __init__(self, directory: Where) -> None:
        self._directory = directory

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """The offset before every checkpoint."""
        return {"checkpoint": _BEGINNING, "retracted": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """One checkpoint at a time. Every limit except ReadAllAvailable means one checkpoint."""
        return ReadMaxFiles(1)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """The next checkpoint that every sink subtask has committed. With `ReadAllAvailable`, the newest one.

        Raises SinkConflictError if the job has retracted output up to `start`.
        """
        before = start["checkpoint"]
        retractions = retracted(self._directory, before)
        if retractions != start["retracted"]:
            raise SinkConflictError(
                f"{self._directory}: the job has restored a checkpoint before {before}, whose output this "
                "stream has read; start the stream again, with a new checkpoint location"
            )
        ids = sorted({one.checkpoint for one in whole_output(self._directory, before)})
        if not ids:
            return start
        following = ids[-1] if isinstance(limit, ReadAllAvailable) else ids[0]
        return {"checkpoint": following, "retracted": retracted(self._directory, following)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[CommittedFile]:
        """The files of the checkpoints after `start`, up to `end`."""
        return _files(self._directory, whole_output(self._directory, start["checkpoint"], end["checkpoint"]))

    def read(self, partition: CommittedFile) -> Iterator[pa.RecordBatch]:
        """The rows of a file."""
        return partition.batches()


def _files(directory: Where, manifests: Sequence[Manifest]) -> list[Any]:
    return [CommittedFile(directory, one) for manifest in manifests for one in manifest.files]
