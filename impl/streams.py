"""The declaration of streams: Flink's DataStream API where it fits. Every step returns a new value.

A stream is the output of one stage, or of several (`union`), with the part of the job that leads to it. A
sink ends it and returns the job.
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
"""By the name of the result's column."""


class End(NamedTuple):
    """A stage of a stream, and how its rows reach the next stage; None: the default."""

    stage: str
    partitioning: Partitioning | None = None
    key_selector: KeySelector | None = None
    chained: bool = False
    """Whether the next function runs in the subtasks of that stage."""


@dataclass(frozen=True)
class Stream:
    """A stream of rows."""

    job: "Job"
    ends: tuple[End, ...]

    def map(self, name: str, function: Callable[[Row], Row], parallelism: int | None = None) -> "Stream":
        """One row for each row. `parallelism`: None for that of the stage before."""
        require_no_hooks(name, function)
        return self.process(name, Rowwise(lambda rows: [function(row) for row in rows]), parallelism)

    def flat_map(
        self, name: str, function: Callable[[Row], Iterable[Row]], parallelism: int | None = None
    ) -> "Stream":
        """Any number of rows for each row."""
        require_no_hooks(name, function)
        flat = Rowwise(lambda rows: [made for row in rows for made in function(row)])
        return self.process(name, flat, parallelism)

    def filter(self, name: str, function: Callable[[Row], bool], parallelism: int | None = None) -> "Stream":
        """Only the rows for which `function` holds."""
        require_no_hooks(name, function)
        return self.process(name, Rowwise(lambda rows: [row for row in rows if function(row)]), parallelism)

    def map_batches(
        self,
        name: str,
        function: Callable[[pa.RecordBatch], pa.RecordBatch],
        parallelism: int | None = None,
    ) -> "Stream":
        """One batch of Arrow for each batch, for a stream that carries batches."""
        require_no_hooks(name, function)
        return self.process(name, Batchwise(function), parallelism)

    def process(
        self, name: str, function: ProcessFunction | BatchFunction, parallelism: int | None = None
    ) -> "Stream":
        """Run a function over each row, or each batch; the key that it is called with is None."""
        if parallelism is None:
            parallelism = max(self.job.stage(end.stage).parallelism for end in self.ends)
        return self._into(Stage(name, Role.PROCESS, function, parallelism))

    def key_by(self, key_selector: KeySelector | str, *columns: str) -> "KeyedStream":
        """Send every row to the subtask of its key: the result of a function, or columns by name.

        Keys are numbers, strings, bytes, None, dates and times, UUIDs, members of enums, and tuples,
        frozensets and frozen dataclasses of keys; `impl.state.backends.key_values` has the whole list. Any
        other value is refused with an `UnsupportedKeyError` when it first comes. `operator.itemgetter` and
        names select from whole batches at once.
        """
        return KeyedStream(self.job, self._each(Partitioning.HASH, _selector(key_selector, columns)))

    def forward(self) -> "Stream":
        """Send the rows of each subtask to the one of its index; both stages need the same parallelism."""
        return replace(self, ends=self._each(Partitioning.FORWARD))

    def rebalance(self) -> "Stream":
        """Send batches to all subtasks in turn."""
        return replace(self, ends=self._each(Partitioning.REBALANCE))

    def broadcast(self) -> "Stream":
        """Send every row to every subtask."""
        return replace(self, ends=self._each(Partitioning.BROADCAST))

    def chained(self) -> "Stream":
        """Run the next function in the subtasks of the one before it, which calls it with its rows.

        Flink does so by default where the parallelism is the same. Here a restore needs the functions that
        have state to stay in the chain, under their names.
        """
        return replace(self, ends=tuple(End(end.stage, chained=True) for end in self.ends))

    def chained_by(self, key_selector: KeySelector | str, *columns: str) -> "KeyedStream":
        """As `chained`, for a function with state by key: no row goes to another subtask.

        So each row must be in the subtask of its key, as behind a `key_by` of the same key; a row with
        another key raises a StateError. Flink's `reinterpretAsKeyedStream`.
        """
        selector = _selector(key_selector, columns)
        ends = (End(end.stage, key_selector=selector, chained=True) for end in self.ends)
        return KeyedStream(self.job, tuple(ends))

    def union(self, *others: "Stream") -> "Stream":
        """The rows of this stream and of `others`, in no order among them."""
        job, ends = self.job, self.ends
        for other in others:
            job, ends = job.together_with(other.job), (*ends, *other.ends)
        return Stream(job, ends)

    def connect(self, other: "Stream | KeyedStream") -> "ConnectedStreams":
        """Two streams for a function with two inputs."""
        return ConnectedStreams(self.job.together_with(other.job), self.ends, other.ends)

    def sink(self, name: str, sink: Output, parallelism: int = 1) -> "Job":
        """End in a transactional sink; returns the job. Jobs are combined with `together_with`."""
        return self._into(Stage(name, Role.SINK, sink, parallelism)).job

    def _each(self, partitioning: Partitioning, key_selector: KeySelector | None = None) -> tuple[End, ...]:
        return tuple(End(end.stage, partitioning, key_selector) for end in self.ends)

    def _into(self, stage: Stage) -> "Stream":
        return _connect(self.job, stage, self.ends)


@dataclass(frozen=True)
class KeyedStream:
    """A stream of rows for the subtasks of their keys."""

    job: "Job"
    ends: tuple[End, ...]

    def process(
        self,
        name: str,
        function: ProcessFunction | BatchFunction | KeyedBatchFunction,
        parallelism: int | None = None,
    ) -> Stream:
        """Run a function over each row, or each batch, and the state of its key.

        `parallelism`: None for 1, or for that of its stage if the function is chained.
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
        """Aggregate the rows of each key. `emit`: when results are emitted."""
        require_no_hooks(name, function)
        return self.process(name, Aggregating(function, emit), parallelism)

    def aggregate_columns(self, name: str, aggregates: Aggregates, parallelism: int | None = None) -> Stream:
        """Aggregate columns of a stream of batches; the changed keys are emitted before each barrier.

        `aggregates`: by the name of the result's column, such as {"rows": count(), "sum": sum_of("value")}.
        Raises `ConfigError` unless the stream is keyed by columns.
        """
        selected = [end.key_selector for end in self.ends]
        keys = {None if one is None else columns_of(one) for one in selected}
        key = keys.pop()
        if key is None or keys or not aggregates:
            raise ConfigError(
                f"{name!r} aggregates columns: it takes at least one, and a stream keyed by columns, "
                "such as key_by('word')"
            )
        return self.process(name, AggregatingColumns(key, aggregates), parallelism)

    def connect(self, other: "Stream | KeyedStream") -> "ConnectedStreams":
        """Two streams for a function with two inputs; of two keyed ones equal keys share their state."""
        return ConnectedStreams(self.job.together_with(other.job), self.ends, other.ends)


@dataclass(frozen=True)
class ConnectedStreams:
    """Two streams for one function."""

    job: "Job"
    first: tuple[End, ...]
    second: tuple[End, ...]

    def process(self, name: str, function: CoProcessFunction, parallelism: int = 1) -> Stream:
        """Run a function whose `process_element1` and `process_element2` take the rows of the two."""
        return _connect(self.job, Stage(name, Role.PROCESS, function, parallelism), self.first, self.second)


def _selector(key_selector: KeySelector | str, columns: tuple[str, ...]) -> KeySelector:
    return KeyColumns((key_selector, *columns)) if isinstance(key_selector, str) else key_selector


def _connect(job: "Job", stage: Stage, *inputs: tuple[End, ...]) -> Stream:
    """Connect streams to a new stage, or chain it to the stage before."""
    if any(end.chained for ends in inputs for end in ends):
        return _chain(job, stage, [end for ends in inputs for end in ends])
    edges = [
        Edge(end.stage, stage.name, end.partitioning or _default(job, end, stage), end.key_selector, number)
        for number, ends in enumerate(inputs)
        for end in ends
    ]
    return Stream(job.with_stage(stage, edges), (End(stage.name),))


def _chain(job: "Job", stage: Stage, ends: Sequence[End]) -> Stream:
    """Chain a function to the stage before. Raises ConfigError if it cannot run in those subtasks."""
    before = job.stage(ends[0].stage)
    if len(ends) > 1 or {before.role, stage.role} != {Role.PROCESS}:
        raise ConfigError(
            f"{stage.name!r} cannot be chained: it must be a function of one input behind another function; "
            "use forward() in place of chained()"
        )
    if stage.parallelism != before.parallelism:
        raise ConfigError(
            f"{stage.name!r} has parallelism {stage.parallelism} and is chained to {before.name!r} of "
            f"parallelism {before.parallelism}; leave it out"
        )
    if any(stage.logic is there for there in (before.logic, *(link.function for link in before.chained))):
        raise ConfigError(
            f"the function of {stage.name!r} is the object of another function in its subtasks as well, and "
            "they would share what it holds; make an object for each"
        )
    link = Chained(stage.name, stage.logic, ends[0].key_selector)
    return Stream(job.with_chained(before, link), (End(before.name),))


def _default(job: "Job", end: End, stage: Stage) -> Partitioning:
    """Forward if the parallelisms are equal, as in Flink, else rebalance."""
    same = job.stage(end.stage).parallelism == stage.parallelism
    return Partitioning.FORWARD if same else Partitioning.REBALANCE
