"""The kernel of a closed model on numpy arrays. A row is a packed state, and a column is one of its words.

kernel = columns_of(program)          # `model.checker.compiled.moves.program_of` frontier = kernel.start
# a tuple of arrays of uint64, one for each word found = kernel.successors(frontier)   # one row for each
transition found.columns                         # the successors, one array for each word; a state can repeat
found.sources                         # int64: for each transition, the row of the frontier found.broken
# bool: the transition breaks a property

A kernel is pickled as its text, so that it can be sent to other processes. The program is needed to find
which property is broken (`model.checker.compiled.retrace`), and to unpack a state (`program.layout.unpack`).
No kernel checks the properties in `program.interpreted`; `model.checker.python_properties` evaluates them on
the states of each frontier. `explore_columns` searches on one machine. It sorts each level and merges it with
the known states, because numpy's `unique` is slow on large columns of 64-bit words.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from model.checker.compiled.columns_text import columns_text
from model.checker.compiled.kernel_text import EVERY_ID, KernelText
from model.checker.compiled.kernels import columns_module
from model.checker.compiled.program import Node, Program
from model.checker.compiled.retrace import Words, broken_start, retraced
from model.checker.explore import Violation
from model.checker.python_properties import InterpretedProperties

Column = np.ndarray[Any, np.dtype[np.uint64]]
Columns = tuple[Column, ...]


class Successors(NamedTuple):
    """The transitions from the states of some rows, in no particular order."""

    columns: Columns
    """The states after the transitions. If the kernel is labelled, the columns of the labels follow."""
    sources: np.ndarray[Any, np.dtype[np.int64]]
    broken: np.ndarray[Any, np.dtype[np.bool_]]


class ColumnKernel:
    """The kernel of one closed model. It computes the successors of many states at once."""

    def __init__(self, text: KernelText, start: Sequence[int], label_words: int) -> None:
        self.text = text
        self.words = len(start)
        self.label_words = label_words
        """Number of columns of a label (the last event and its effects). 0: the kernel has no labels."""
        self.start: Columns = tuple(np.array([word], np.uint64) for word in start)
        self.fired = np.zeros(len(text.rules), np.uint8)
        """For each set of rules in `text.rules`, 1 if it has fired in this process, else 0."""

    def __reduce__(self) -> tuple[Any, ...]:
        start = [int(column[0]) for column in self.start]
        return ColumnKernel, (self.text, start, self.label_words)

    @cached_property
    def _module(self) -> Any:  # noqa: ANN401 - generated
        return columns_module(self.text.source)

    def successors(self, columns: Columns, up_to: int = EVERY_ID) -> Successors:
        """Every transition from every row. `up_to`: the highest id of an event.

        Raises OutsideError if a transition leaves the declared bounds.
        """
        found = self._module.successors(columns, self.fired, up_to)
        if not found:
            nothing = tuple(np.zeros(0, np.uint64) for _ in range(self.words + self.label_words))
            return Successors(nothing, np.zeros(0, np.int64), np.zeros(0, np.bool_))
        sources, broken, *words = zip(*found, strict=True)
        sizes = [len(part) for part in sources]
        return Successors(
            tuple(_whole(column, sizes) for column in words), np.concatenate(sources), _whole(broken, sizes)
        )


def _whole(parts: Iterable[Any], sizes: Iterable[int]) -> np.ndarray[Any, Any]:
    """One column, joined from its parts. A part is an array, or one value for as many rows as in `sizes`."""
    return np.concatenate([np.broadcast_to(part, size) for part, size in zip(parts, sizes, strict=True)])


def columns_of(program: Program) -> ColumnKernel:
    """The kernel of a program. Its first frontier, `start`, holds only the packed initial state."""
    start = program.layout.pack(Node(program.closed.state, program.closed.environment))
    return ColumnKernel(columns_text(program), start, program.label_words)


class Counted(NamedTuple):
    """The result of a search over columns."""

    states: int
    labelled: int
    """Number of different pairs of a state and its label; 0 if the kernel is not labelled."""
    transitions: int
    depth: int
    """The number of the last level with a new state or, if the kernel is labelled, with a new pair."""
    violation: Violation | None
    """The shortest run that breaks a property; the search ends there. None: no property is broken."""


def explore_columns(program: Program, up_to: int = EVERY_ID) -> Counted:
    """Visits every reachable state, level by level.

    `up_to`: the highest id of an event. The result is that of a closed model with this number of ids.
    """
    kernel, interpreted = columns_of(program), InterpretedProperties(program)
    shown = broken_start(program)
    known = frontier = kernel.start
    levels: list[Columns] = []
    labelled: Columns = tuple(
        np.zeros(1, np.uint64) for _ in range(kernel.words + kernel.label_words)
    )  # the initial state has no label
    transitions = depth = 0
    while shown is None and len(frontier[0]):
        levels.append(frontier)
        found = kernel.successors(frontier, up_to)
        transitions += len(found.sources)
        rows = found.sources[found.broken]
        row = int(rows[0]) if len(rows) else interpreted.first_broken(zip(*frontier, strict=True))
        if row >= 0:
            before = [partial(_predecessor, kernel, level, up_to) for level in levels[:-1]]
            shown = retraced(program, _state(frontier, row), before)
        frontier = without(distinct(found.columns[: kernel.words]), known)
        known = merged(known, frontier)
        new_labelled = without(distinct(found.columns), labelled) if kernel.label_words else frontier
        labelled = merged(labelled, new_labelled)
        depth += bool(len(new_labelled[0]) or shown)
    return Counted(len(known[0]), len(labelled[0]) if kernel.label_words else 0, transitions, depth, shown)


def _state(columns: Columns, row: int) -> Words:
    return tuple(int(column[row]) for column in columns)


def _predecessor(kernel: ColumnKernel, level: Columns, up_to: int, target: Words) -> Words:
    """A state of the level that leads to `target`, a state of the next level."""
    found = kernel.successors(level, up_to)
    columns = zip(found.columns[: kernel.words], target, strict=True)
    leading = np.logical_and.reduce([column == np.uint64(word) for column, word in columns])
    return _state(level, int(found.sources[np.argmax(leading)]))


def distinct(columns: Columns) -> Columns:
    """The sorted rows, without repetitions."""
    columns = _ordered(columns)
    keep = np.ones(len(columns[0]), np.bool_)
    keep[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return tuple(column[keep] for column in columns)


def merged(left: Columns, right: Columns) -> Columns:
    """The sorted rows of both. Requires that no row is in both."""
    return _ordered(tuple(np.concatenate(both) for both in zip(left, right, strict=True)))


def without(columns: Columns, known: Columns) -> Columns:
    """The rows of `columns` that are not in `known`.

    Requires that `columns` is sorted without repetitions.
    """
    if len(columns) == 1:
        place = np.searchsorted(known[0], columns[0])
        found = known[0][np.minimum(place, len(known[0]) - 1)] == columns[0]
        return (columns[0][~found],)
    both = tuple(np.concatenate(pair) for pair in zip(known, columns, strict=True))
    order = np.lexsort(both[::-1])  # a stable sort, so a known row comes before an equal new one
    same = np.logical_and.reduce([column[order][1:] == column[order][:-1] for column in both])
    new = np.ones(len(order), np.bool_)
    new[order[1:][same]] = False
    return tuple(column[new[len(known[0]) :]] for column in columns)


def _ordered(columns: Columns) -> Columns:
    if len(columns) == 1:
        return (np.sort(columns[0], kind="stable"),)
    order = np.lexsort(columns[::-1])
    return tuple(column[order] for column in columns)
