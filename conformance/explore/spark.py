"""Breadth-first search as Spark jobs, one for each level: the same states, level by level, as in one process.

The hash of a state determines its partition. In the first half of a job each task takes slices of
the newest level. The kernel computes their successors, without duplicates inside a slice, as one block of
bytes for each partition: for Spark a block is one row. In the second half each task receives the successors
that belong to one partition, removes the states that this partition has found before, and writes the rest as
its part of the next level.

In the first half a task holds one slice with its successors in memory. In the second half it holds the new
states of one partition in one level and at most BUFFERED further rows; it reads the known states from their
files in pieces. With more partitions a task needs less memory. Every executor must have access to the folder.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import numpy as np
import pyarrow as pa

from conformance.explore import states
from conformance.explore.stored_search import Kept, Level, Search, load, sweep
from model.checker.compiled.columns import ColumnKernel, Columns, columns_of
from model.checker.compiled.program import Program
from model.checker.compiled.retrace import DisagreementError, Words, broken_start, retraced
from model.checker.explore import TooManyStatesError, Violation
from model.checker.python_properties import InterpretedProperties

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = 8
SLICE = 1 << 16
"""Maximum number of states that are expanded at once."""
BUFFERED = 1 << 21
"""Rows that a task collects before it removes the known ones."""

_BLOCKS = pa.schema(
    {
        "partition": pa.int32(),
        "states": pa.binary(),
        "transitions": pa.int64(),
        "fired": pa.binary(),
        "broken": pa.binary(),
    }
)
_PARTS = pa.schema(
    {
        "partition": pa.int32(),
        "file": pa.string(),
        "states": pa.int64(),
        "transitions": pa.int64(),
        "fired": pa.binary(),
        "broken": pa.binary(),
    }
)
_FOUND = pa.schema({"state": pa.binary()})

Progress = Callable[[int, int, int], None]
"""Called after each level with the number of known states, those of this level, and the depth."""


class SparkResult(NamedTuple):
    """The result of a search."""

    states: int
    transitions: int
    depth: int
    """Number of events on the longest shortest run."""
    violation: Violation | None
    rules: frozenset[str]
    """Rules that fired in some step."""
    seconds: float
    """Search time of all levels, over all runs."""
    resumed: int
    """Number of levels that earlier runs had already stored."""


class SparkEngine:
    """The search of one closed model on Spark.

    `folder`: stores the levels, from which an interrupted search continues. If the program is labelled, two
    states that differ only in the effects of the step before them count as different, as in TLC's models that
    have a variable `out`.
    """

    def __init__(
        self, program: Program, spark: "SparkSession", folder: Path, partitions: int = PARTITIONS
    ) -> None:
        self.program = program
        self.spark = spark
        self.folder = folder.absolute()
        self.partitions = partitions
        self.kernel = columns_of(program)
        words = self.kernel.words + self.kernel.label_words
        self._width = words + (words > 1)
        searched = f"{partitions} {self.kernel.text.source}"
        self.identity = hashlib.sha256(searched.encode()).hexdigest()

    def explore(self, progress: Progress | None = None, *, limit: int = 1_000_000_000_000) -> SparkResult:
        """Search every reachable state, until a level has no new state or a property fails.

        Raises TooManyStatesError after the level that exceeds the limit. A call with a higher limit continues
        after this level. Raises AnotherSearchError if the folder holds another search. If a move leaves the
        declared bounds, Spark's error contains the kernel's OutsideError.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        search = load(self.folder, self.identity)
        sweep(self.folder, search)
        shown = broken_start(self.program)
        if search is None:
            search = self._begun()
        resumed = len(search.levels) - 1
        while shown is None and search.levels[-1].states:
            if search.states > limit:
                raise TooManyStatesError(
                    f"{self.program.closed.name}: more than {limit} states; use smaller bounds"
                )
            begun = time.perf_counter()
            level, transitions, fired, broken = self._next(search)
            if broken is not None:
                shown = retraced(
                    self.program, broken, [partial(self._before, one) for one in search.levels[:-1]]
                )
                return self._found(search, len(search.levels), shown, resumed)
            search = search._replace(
                levels=(*search.levels, level),
                transitions=search.transitions + transitions,
                fired=_either(search.fired, fired),
                seconds=search.seconds + time.perf_counter() - begun,
            )
            search.commit(self.folder)
            if progress is not None:
                progress(search.states, level.states, len(search.levels) - 1)
        depth = sum(1 for level in search.levels[1:] if level.states)
        return self._found(search, depth, shown, resumed)

    def _found(self, search: Search, depth: int, shown: Violation | None, resumed: int) -> SparkResult:
        fired = (rules for rules, seen in zip(self.kernel.text.rules, search.fired, strict=True) if seen)
        return SparkResult(
            search.states,
            search.transitions,
            depth,
            shown,
            frozenset().union(*fired),
            search.seconds,
            resumed,
        )

    def _begun(self) -> Search:
        """A new search whose only level has the start state."""
        unlabelled = tuple(np.zeros(1, np.uint64) for _ in range(self.kernel.label_words))
        rows = states.keyed((*self.kernel.start, *unlabelled))
        own = int(states.partition_of(rows, self.partitions)[0])
        states.write(rows, self.folder / "start.npy")
        search = Search(
            self.identity, (Level((Kept(own, "start.npy", 1),)),), 0, bytes(len(self.kernel.fired)), 0.0
        )
        search.commit(self.folder)
        return search

    def _next(self, search: Search) -> tuple[Level, int, bytes, Words | None]:
        """The next level, its number of transitions, the fired rules, and a state with a broken move."""
        known: list[list[str]] = [[] for _ in range(self.partitions)]
        for level in search.levels:
            for one in level.kept:
                known[one.partition].append(one.file)
        expand = partial(_expanded, self.kernel, self.program.without_terms(), self.folder, self.partitions)
        keep = partial(_kept, self.folder, known, len(search.levels), self._width)
        blocks = self._slices(search.levels[-1]).mapInArrow(expand, _ddl(_BLOCKS))
        parts = blocks.repartitionById(self.partitions, "partition").mapInArrow(keep, _ddl(_PARTS))
        kept, transitions, fired, broken = [], 0, b"", None
        for row in parts.toArrow().to_pylist():
            transitions += row["transitions"]
            fired = _either(fired, row["fired"])
            broken = broken or row["broken"]
            if row["states"]:
                kept.append(Kept(row["partition"], row["file"], row["states"]))
        source = None if broken is None else tuple(int(word) for word in np.frombuffer(broken, np.uint64))
        return Level(tuple(kept)), transitions, fired, source

    def _slices(self, level: Level) -> "DataFrame":
        """The states of a level in portions of SLICE, one for each task."""
        slices = [
            {"file": one.file, "first": first, "last": min(first + SLICE, one.states)}
            for one in level.kept
            for first in range(0, one.states, SLICE)
        ]
        frame = self.spark.createDataFrame(pa.Table.from_pylist(slices))
        sliced: DataFrame = frame.repartition(len(slices))
        return sliced

    def _before(self, level: Level, target: Words) -> Words:
        """A state of a level that leads to `target`, without the last effects."""
        find = partial(_leading, self.kernel, self.folder, target)
        found = self._slices(level).mapInArrow(find, _ddl(_FOUND)).toArrow()
        if not found.num_rows:
            raise DisagreementError(f"no state of a level leads to one of the next: {target}")
        return tuple(int(word) for word in np.frombuffer(found["state"][0].as_py(), np.uint64))


# ------------------------------------------------------------ functions that Spark's tasks run


def _expanded(
    kernel: ColumnKernel, program: Program, folder: Path, partitions: int, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The successors of slices: per slice one block for each partition; the first block has the counts."""
    interpreted = InterpretedProperties(program)
    for rows in _read(folder, batches):
        kernel.fired[:] = 0
        words = states.unkeyed(rows)[: kernel.words]
        found = kernel.successors(words)
        breaking = found.sources[found.broken]
        row = int(breaking[0]) if len(breaking) else interpreted.first_broken(zip(*words, strict=True))
        broken = None if row < 0 else _state(words, row)
        after = states.distinct(states.keyed(found.columns))
        belongs = states.partition_of(after, partitions)
        counts = {"transitions": len(found.sources), "fired": kernel.fired.tobytes(), "broken": broken}
        for own in range(partitions):
            here = tuple(word[belongs == own] for word in after)
            yield _row(_BLOCKS, {"partition": own, "states": states.as_bytes(here), **counts})
            counts = {"transitions": 0, "fired": b"", "broken": None}


def _kept(
    folder: Path, known: list[list[str]], depth: int, width: int, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Write the new states of a task's partition to a file. Yields no row if the task received none."""
    gathering: _Gathering | None = None
    transitions, fired, broken = 0, b"", None
    for batch in batches:
        for row in batch.to_pylist():
            gathering = gathering or _Gathering(row["partition"], folder, known[row["partition"]])
            transitions += row["transitions"]
            fired = _either(fired, row["fired"])
            broken = broken or row["broken"]
            gathering.add(row["states"], width)
    if gathering is None:
        return
    new = gathering.new()
    name = f"{depth:04}-{gathering.partition:04}-{uuid4().hex[:8]}.npy"  # a repeated task writes another file
    count = 0 if new is None else len(new[0])
    if new is not None and count:
        states.write(new, folder / name)
    counts = {"transitions": transitions, "fired": fired, "broken": broken}
    yield _row(_PARTS, {"partition": gathering.partition, "file": name, "states": count, **counts})


class _Gathering:
    """Collects the new states of one partition, without its known ones."""

    def __init__(self, partition: int, folder: Path, known: list[str]) -> None:
        self.partition = partition
        self._known = [states.read(folder / file) for file in known]
        self._new: Columns | None = None
        self._waiting: list[Columns] = []
        self._rows = 0

    def add(self, block: bytes, width: int) -> None:
        """Add the states of a block."""
        rows = states.from_bytes(block, width)
        self._waiting.append(rows)
        self._rows += len(rows[0])
        if self._rows > BUFFERED:
            self._settle()

    def new(self) -> Columns | None:
        """All received states that were not known, in order; None if no block was received."""
        self._settle()
        return self._new

    def _settle(self) -> None:
        if not self._waiting:
            return
        rows = states.distinct(states.joined(self._waiting))
        self._waiting, self._rows = [], 0
        for known in (*self._known, *([] if self._new is None else [self._new])):
            rows = states.without(rows, known)
        self._new = rows if self._new is None else states.distinct(states.joined([self._new, rows]))


def _leading(
    kernel: ColumnKernel, folder: Path, target: Words, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The first state of each slice that leads to `target`; slices without one are skipped."""
    for rows in _read(folder, batches):
        words = states.unkeyed(rows)[: kernel.words]
        found = kernel.successors(words)
        hits = np.logical_and.reduce(
            [column == np.uint64(word) for column, word in zip(found.columns, target, strict=False)]
        )
        if hits.any():
            row = found.sources[np.argmax(hits)]
            yield _row(_FOUND, {"state": _state(words, int(row))})


def _read(folder: Path, batches: Iterable[pa.RecordBatch]) -> Iterator[Columns]:
    for batch in batches:
        for one in batch.to_pylist():
            yield states.read(folder / one["file"], one["first"], one["last"])


def _state(words: Columns, row: int) -> bytes:
    return np.array([word[row] for word in words], np.uint64).tobytes()


def _row(schema: pa.Schema, fields: dict[str, object]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([fields], schema=schema)


def _ddl(schema: pa.Schema) -> str:
    words = {pa.int32(): "int", pa.int64(): "long", pa.string(): "string", pa.binary(): "binary"}
    return ", ".join(f"{field.name} {words[field.type]}" for field in schema)


def _either(left: bytes, right: bytes) -> bytes:
    """The flags that are set in `left` or `right`. Both have the same length, or one is empty."""
    if not left or not right:
        return left or right
    either: bytes = (np.frombuffer(left, np.uint8) | np.frombuffer(right, np.uint8)).tobytes()
    return either
