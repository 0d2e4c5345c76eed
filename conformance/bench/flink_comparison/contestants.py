"""The contestants, which are the compared jobs, and the ratios of their rates.

Each contestant runs with a small and a large number of rows. Its rate is that of the difference.
"""

from typing import Final, NamedTuple

from conformance.bench.runtime.word_counts import ARROW, ROW

OURS, ONE_CORE, NATIVE, FLINK, PYFLINK = "ours", "one-core", "native", "flink", "pyflink"
"""The kinds of processes that run the jobs."""
SQL, MINI_BATCH, STREAM, PROCESS, THREAD = "sql", "mini-batch", "stream", "process", "thread"
"""The ways to program Flink, each a table of `settings.toml`."""
MEMORY, ROCKSDB = "memory", "rocksdb"
_M: Final = 1_000_000
_FEWEST: Final = 20_000


class Contestant(NamedTuple):
    """One way to run the aggregation."""

    name: str
    kind: str
    """The kind of the process that runs it."""
    api: str
    backend: str
    small: int
    """The number of rows of the small run, whose time is subtracted."""
    large: int
    """The number of rows of the large run."""

    def smaller(self, times: int) -> "Contestant":
        """The same contestant with fewer rows; the large run still has more rows than the small run."""
        if times == 1:
            return self
        small = max(_FEWEST, self.small // times)
        return self._replace(small=small, large=max(2 * small, self.large // times))


CONTESTANTS: Final = (
    Contestant("Flink SQL with mini-batch, memory", FLINK, MINI_BATCH, MEMORY, 4 * _M, 20 * _M),
    Contestant("Arrow batch API, memory", OURS, ARROW, MEMORY, 20 * _M, 60 * _M),
    Contestant("Flink SQL, rocksdb", FLINK, SQL, ROCKSDB, 1 * _M, 5 * _M),
    Contestant("Flink SQL with mini-batch, rocksdb", FLINK, MINI_BATCH, ROCKSDB, 2 * _M, 10 * _M),
    Contestant("Arrow batch API, rocksdb", OURS, ARROW, ROCKSDB, 20 * _M, 60 * _M),
    Contestant("Structured Streaming, rocksdb", NATIVE, "", ROCKSDB, 2 * _M, 10 * _M),
    Contestant("row API, rocksdb", OURS, ROW, ROCKSDB, 2 * _M, 10 * _M),
    Contestant("PyFlink DataStream in threads, memory", PYFLINK, THREAD, MEMORY, 200_000, 1 * _M),
    Contestant("PyFlink DataStream in processes, memory", PYFLINK, PROCESS, MEMORY, 40_000, 160_000),
    Contestant("row API, memory", OURS, ROW, MEMORY, 2 * _M, 10 * _M),
    Contestant("row API, memory, one core", ONE_CORE, ROW, MEMORY, 2 * _M, 10 * _M),
    Contestant("Arrow batch API, memory, one core", ONE_CORE, ARROW, MEMORY, 10 * _M, 20 * _M),
    Contestant("Flink SQL, memory", FLINK, SQL, MEMORY, 2 * _M, 10 * _M),
    Contestant("Flink DataStream in Java, memory", FLINK, STREAM, MEMORY, 2 * _M, 10 * _M),
    Contestant("Flink DataStream in Java, rocksdb", FLINK, STREAM, ROCKSDB, 1 * _M, 5 * _M),
)
"""The contestants in the order of their runs. The two sides of a ratio are close together."""


class Goal(NamedTuple):
    """A ratio of two rates of the same turn. `target`: the median must be at least this; None: no target."""

    first: str
    second: str
    target: float | None = None
    title: str = ""

    @property
    def name(self) -> str:
        """The name of the ratio, with both sides."""
        return self.title or f"throughput, {self.first}, compared with {self.second}"


GOALS: Final = (
    Goal("Arrow batch API, memory", "Flink SQL with mini-batch, memory", 3.0),
    Goal("Arrow batch API, rocksdb", "Flink SQL, rocksdb", 3.0),
    Goal("Arrow batch API, rocksdb", "Flink SQL with mini-batch, rocksdb", 3.0),
    Goal("row API, memory", "PyFlink DataStream in processes, memory", 5.0),
    Goal("row API, memory", "PyFlink DataStream in threads, memory", 5.0),
    Goal("row API, rocksdb", "Structured Streaming, rocksdb", 1.5),
    Goal("Arrow batch API, memory", "Arrow batch API, memory, one core", 1.7,
         "throughput, Arrow batch API, memory, 2 cores compared with one"),
    Goal("row API, memory", "row API, memory, one core", 1.7,
         "throughput, row API, memory, 2 cores compared with one"),
    Goal("Arrow batch API, memory", "Flink SQL, memory"),
    Goal("Arrow batch API, memory", "Flink DataStream in Java, memory"),
    Goal("row API, memory", "Flink DataStream in Java, memory"),
    Goal("row API, rocksdb", "Flink DataStream in Java, rocksdb"),
)  # fmt: skip
