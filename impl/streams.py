"""The declaration of streams. Names are those of Flink's DataStream API if it has the same method.

A stream is the output of one stage, or of several stages (`union`), together with the job declared until now.
Every method returns a new value. `Stream.sink` ends a stream and returns the job. Methods raise `ConfigError`
if the job has a stage of the same name, or if a function or a value is not valid.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from impl.aggregation.arrow_aggregates import AggregatingColumns, Of
from impl.aggregation.rows import AggregateFunction, Aggregating, Emit
from impl.batches import KeyColumns, columns_of
from impl.config import ConfigError
from impl.connectors.two_phase import Output
from impl.functions import (
    BatchFunction,
    Batchwise,
    CoProcessFunction,
    KeyedBatchFunction,
    ProcessFunction,
    Rowwise,
    require_no_hooks,
)
from impl.graph.plan import Chained, Edge, KeySelector, Partitioning, Role, Row, Stage

if TYPE_CHECKING:
    from impl.job import Job

Aggregates = Mapping[str, Of]
"""Maps the name of each column of the result to its aggregate."""


class End(NamedTuple):
    """A stage whose rows are in a stream, and how these rows reach the next stage.

    `partitioning`: None: forward if both stages have the same parallelism, else rebalance.
    """

    stage: str
    partitioning: Partitioning | None = None
    key_selector: KeySelector | None = None
    chained: bool = False
    """Whether the next function runs in the subtasks of `stage`."""


@dataclass(frozen=True)
class Stream:
    """A stream of rows: the output of the stages `ends` of `job`."""

    job: "Job"
    ends: tuple[End, ...]

    def map(self, name: str, function: Callable[[Row], Row], parallelism: int | None = None) -> "Stream":
        """The stream of `function(row)` for each row. `parallelism` None: as in the stage before."""
        require_no_hooks(name, function)
        return self.process(name, Rowwise(lambda rows: [function(row) for row in rows]), parallelism)

    def flat_map(
        self, name: str, function: Callable[[Row], Iterable[Row]], parallelism: int | None = None
    ) -> "Stream":
        """The stream of all rows that `function(row)` returns, for each row."""
        require_no_hooks(name, function)
        flat = Rowwise(lambda rows: [made for row in rows for made in function(row)])
        return self.process(name, flat, parallelism)

    def filter(self, name: str, function: Callable[[Row], bool], parallelism: int | None = None) -> "Stream":
        """The stream of the rows for which `function` returns True."""
        require_no_hooks(name, function)
        return self.process(name, Rowwise(lambda rows: [row for row in rows if function(row)]), parallelism)

    def map_batches(
        self, name: str, function: Callable[[pa.RecordBatch], pa.RecordBatch], parallelism: int | None = None
    ) -> "Stream":
        """The stream of `function(batch)` for each Arrow batch, on a stream of batches."""
        require_no_hooks(name, function)
        return self.process(name, Batchwise(function), parallelism)

    def process(
        self, name: str, function: ProcessFunction | BatchFunction, parallelism: int | None = None
    ) -> "Stream":
        """The stream of the rows that a function emits for each row or batch. Its argument `key` is None."""
        if parallelism is None:
            parallelism = max(self.job.stage(end.stage).parallelism for end in self.ends)
        return self._into(Stage(name, Role.PROCESS, function, parallelism))

    def key_by(self, key_selector: KeySelector | str, *columns: str) -> "KeyedStream":
        """Send every row to the subtask of its key: the result of a function of the row, or named columns.

        Keys are numbers, strings, bytes, None, dates and times, UUIDs, members of enums, and tuples,
        frozensets and frozen dataclasses of keys. `impl.state.backends.key_values` has the whole list. The
        first row with any other key fails its task with an `UnsupportedKeyError`. Column names and
        `operator.itemgetter` select the keys of a whole batch at once.
        """
        return KeyedStream(self.job, self._each(Partitioning.HASH, _selector(key_selector, columns)))

    def forward(self) -> "Stream":
        """Send the rows of each subtask to the next stage's subtask with the same index.

        Both stages need the same parallelism.
        """
        return replace(self, ends=self._each(Partitioning.FORWARD))

    def rebalance(self) -> "Stream":
        """Send batches to the subtasks of the next stage in turn."""
        return replace(self, ends=self._each(Partitioning.REBALANCE))

    def broadcast(self) -> "Stream":
        """Send every row to every subtask of the next stage."""
        return replace(self, ends=self._each(Partitioning.BROADCAST))

    def chained(self) -> "Stream":
        """Run the next function in the subtasks of the function before it. Rows pass by a call.

        Flink chains functions by default if they have the same parallelism. After a restore, each function
        with state must be in the same chain, under the same name.
        """
        return replace(self, ends=tuple(End(end.stage, chained=True) for end in self.ends))

    def chained_by(self, key_selector: KeySelector | str, *columns: str) -> "KeyedStream":
        """Chain the next function as `chained` does, and give it keyed state. No row changes its subtask.

        Each row must already be in the subtask of its key, for example behind a `key_by` of the same key. A
        row in another subtask raises a StateError. Flink's `reinterpretAsKeyedStream`.
        """
        selector = _selector(key_selector, columns)
        ends = (End(end.stage, key_selector=selector, chained=True) for end in self.ends)
        return KeyedStream(self.job, tuple(ends))

    def union(self, *others: "Stream") -> "Stream":
        """The stream of the rows of this stream and of `others`. Rows of different streams have no order."""
        job, ends = self.job, self.ends
        for other in others:
            job, ends = job.together_with(other.job), (*ends, *other.ends)
        return Stream(job, ends)

    def connect(self, other: "Stream | KeyedStream") -> "ConnectedStreams":
        """This stream and `other`, as the two inputs of one function."""
        return ConnectedStreams(self.job.together_with(other.job), self.ends, other.ends)

    def sink(self, name: str, sink: Output, parallelism: int = 1) -> "Job":
        """Write the rows into a transactional sink; returns the job. `together_with` combines jobs."""
        return self._into(Stage(name, Role.SINK, sink, parallelism)).job

    def _each(self, partitioning: Partitioning, key_selector: KeySelector | None = None) -> tuple[End, ...]:
        return tuple(End(end.stage, partitioning, key_selector) for end in self.ends)

    def _into(self, stage: Stage) -> "Stream":
        return _connect(self.job, stage, self.ends)


@dataclass(frozen=True)
class KeyedStream:
    """A stream whose rows go to the subtasks of their keys."""

    job: "Job"
    ends: tuple[End, ...]

    def process(
        self,
        name: str,
        function: ProcessFunction | BatchFunction | KeyedBatchFunction,
        parallelism: int | None = None,
    ) -> Stream:
        """The stream of the rows that a function emits for each row or batch, with the state of the key.

        `parallelism`: None: 1, or the parallelism of the stage before if the function is chained.
        """
        if parallelism is None:
            chained = any(end.chained for end in self.ends)
            parallelism = self.job.stage(self.ends[0].stage).parallelism if chained else 1
        return _connect(self.job, Stage(name, Role.PROCESS, function, parallelism), self.ends)

    def aggregate(
        self,
        name: str,
        function: AggregateFunction[Any],
        parallelism: int | None = None,
        emit: Emit = Emit.EACH_ROW,
    ) -> Stream:
        """The stream of the results of an aggregation of the rows of each key. `emit`: when to emit them."""
        require_no_hooks(name, function)
        return self.process(name, Aggregating(function, emit), parallelism)

    def aggregate_columns(self, name: str, aggregates: Aggregates, parallelism: int | None = None) -> Stream:
        """The stream of aggregates of columns, by key. It emits the changed keys before each barrier.

        `aggregates`: maps each column of the result to its aggregate, such as {"rows": count(), "sum":
        sum_of("value")}. Raises `ConfigError` if it is empty, or if the stream is not keyed by columns.
        """
        selected = [end.key_selector for end in self.ends]
        keys = {None if one is None else columns_of(one) for one in selected}
        key = keys.pop()
        if key is None or keys or not aggregates:
            raise ConfigError(
                f"{name!r}: aggregate_columns takes at least one aggregate, and a stream that is keyed by "
                "columns, such as key_by('word')"
            )
        return self.process(name, AggregatingColumns(key, aggregates), parallelism)

    def connect(self, other: "Stream | KeyedStream") -> "ConnectedStreams":
        """This stream and `other`, as the two inputs of one function.

        If both streams are keyed, equal keys share their state.
        """
        return ConnectedStreams(self.job.together_with(other.job), self.ends, other.ends)


@dataclass(frozen=True)
class ConnectedStreams:
    """Two streams, `first` and `second`, as the two inputs of one function."""

    job: "Job"
    first: tuple[End, ...]
    second: tuple[End, ...]

    def process(self, name: str, function: CoProcessFunction, parallelism: int = 1) -> Stream:
        """The stream of the rows that a function with two inputs emits."""
        return _connect(self.job, Stage(name, Role.PROCESS, function, parallelism), self.first, self.second)


def _selector(key_selector: KeySelector | str, columns: tuple[str, ...]) -> KeySelector:
    return KeyColumns((key_selector, *columns)) if isinstance(key_selector, str) else key_selector


def _connect(job: "Job", stage: Stage, *inputs: tuple[End, ...]) -> Stream:
    """The stream of a new stage with these inputs. A chained stage becomes a part of the stage before it."""
    if any(end.chained for ends in inputs for end in ends):
        return _chain(job, stage, [end for ends in inputs for end in ends])
    edges = [
        Edge(end.stage, stage.name, end.partitioning or _default(job, end, stage), end.key_selector, number)
        for number, ends in enumerate(inputs)
        for end in ends
    ]
    return Stream(job.with_stage(stage, edges), (End(stage.name),))


def _chain(job: "Job", stage: Stage, ends: Sequence[End]) -> Stream:
    """Chain a function to the stage before. Raises ConfigError if it cannot run in that stage's subtasks."""
    before = job.stage(ends[0].stage)
    if len(ends) > 1 or {before.role, stage.role} != {Role.PROCESS}:
        raise ConfigError(
            f"{stage.name!r} cannot be chained: expected a function of one input behind another function; "
            "use forward() in place of chained()"
        )
    if stage.parallelism != before.parallelism:
        raise ConfigError(
            f"{stage.name!r} has parallelism {stage.parallelism} and is chained to {before.name!r} of "
            f"parallelism {before.parallelism}; leave the parallelism out"
        )
    if any(stage.logic is other for other in (before.logic, *(link.function for link in before.chained))):
        raise ConfigError(
            f"{stage.name!r}: expected a separate function object, got an object that is already in the "
            "chain; make one object for each function, because the same object would share its fields"
        )
    link = Chained(stage.name, stage.logic, ends[0].key_selector)
    return Stream(job.with_chained(before, link), (End(before.name),))


def _default(job: "Job", end: End, stage: Stage) -> Partitioning:
    """Forward if the parallelisms are equal, as in Flink, else rebalance."""
    same = job.stage(end.stage).parallelism == stage.parallelism
    return Partitioning.FORWARD if same else Partitioning.REBALANCE
