"""Breadth-first search level by level over packed states. It calls the functions that numba has compiled.

The search grows its arrays as needed, and keeps the levels, so that it can trace a run backwards. This module
does not depend on how a kernel is generated. A kernel reports a violation, or a reason to stop, by a flag. A
flag is a number, whose meaning the subclass with the kernel defines.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from model.checker.compiled.retrace import DisagreementError, Words
from model.checker.explore import TooManyStatesError, Violation

BOX = 1 << 16
"""Smallest capacity of a box, in states.

A box holds the states that one partition sends to another in one round. A round is one call of `expand`, then
one of `insert`.
"""
SLOTS = 1 << 18
"""Smallest initial number of slots of a table."""
FULL = 0.6
"""The load factor above which a table of twice the size replaces a table."""

Ints = np.ndarray[Any, np.dtype[np.int64]]
Rows = np.ndarray[Any, np.dtype[np.uint64]]
Progress = Callable[[int, int], None]
"""A function that is called after each round, with the number of known states and the depth."""


class Measures(NamedTuple):
    """The sizes of the arrays of a search."""

    name: str
    """The name of the model, for messages."""
    start: Words
    """The packed initial state."""
    label_words: int
    """Number of words of a label; 0 if there are no labels.

    A label holds the event and the effects of the step that led to a state. TLC counts two states as
    different also if only their labels differ.
    """
    branching: int
    """Maximum number of successors of a state."""
    rules: int
    """Number of sets of rules that fire together in some move. The kernel numbers these sets."""
    cores: int
    """Number of partitions, one for each core."""


class LevelSearch(ABC):
    """The arrays of one search, and its levels."""

    def __init__(self, module: Any, measures: Measures, expected: int) -> None:  # noqa: ANN401 - generated
        self.module = module
        self.measures = measures
        cores, words = measures.cores, len(measures.start)
        width = words + measures.label_words
        slots = SLOTS
        while slots * FULL * cores < expected + cores * cores * BOX:
            slots *= 2
        self.box = max(BOX, 4 * measures.branching)
        self.labels = measures.label_words > 0
        # The first index of each array is the partition. tables: hash tables of the known states
        self.tables = np.zeros((cores, slots, words), np.uint64)
        self.orders = np.zeros((cores, 2 * cores * self.box, words), np.uint64)  # states as they were found
        self.tails = np.zeros(cores, np.int64)  # number of states in orders
        self.heads = np.zeros(cores, np.int64)  # number of expanded states in orders
        self.boxes = np.zeros((cores, cores, self.box, width), np.uint64)  # successors, by sender, receiver
        self.filled = np.zeros((cores, cores), np.int64)  # number of states in a box
        self.buffers = np.zeros((cores, max(1, measures.branching), width), np.uint64)  # a state's successors
        self.recent = np.zeros((cores, module.RECENT, width), np.uint64)  # recent successors, not sent again
        self.fired = np.zeros((cores, max(1, measures.rules)), np.uint8)  # 1: the set of rules has fired
        self.moves = np.zeros(cores, np.int64)  # number of transitions
        self.flagged = np.zeros((cores, 2), np.int64)  # flags, and position of their state
        self.looked = np.zeros((cores, 8), np.uint64)  # a sink for prefetched words; never read
        self.label_tables = np.zeros((cores, slots if self.labels else 2, width), np.uint64)
        self.label_counts = np.zeros(cores, np.int64)
        self.levels: list[Ints] = [np.zeros(cores, np.int64)]
        """For each level and partition: the position in `orders` at which the level begins."""
        self.depth = 0

    @property
    def states(self) -> int:
        """Number of known states."""
        return int(self.tails.sum())

    @property
    def labelled(self) -> int:
        """Number of labelled states, including the start, which has no label."""
        return 1 + int(self.label_counts.sum()) if self.labels else 0

    @property
    def bytes(self) -> int:
        """Size in bytes of the tables and the lists of states."""
        return int(self.tables.nbytes + self.orders.nbytes + self.label_tables.nbytes * self.labels)

    @property
    def read_beside(self) -> tuple[Any, ...]:
        """Further arrays that the kernel reads together with a state."""
        return ()

    @abstractmethod
    def check_level(self, ends: Ints) -> Violation | None:
        """A violation that the states of a level show before they are expanded; else None."""

    @abstractmethod
    def flag(self, own: int) -> Violation | None:
        """The violation that the flag of a partition reports. None: the search continues."""

    def warm_up(self) -> None:
        """Calls each function on empty input, so that numba compiles it or loads its compiled code."""
        self.expand(self.heads)
        self.insert()
        self.module.rehash(np.zeros_like(self.tables[:, :2]), np.zeros_like(self.tables[:, :4]))
        self.begin()

    def begin(self) -> None:
        """Adds the initial state to partition 0."""
        start = self.measures.start
        self.filled[:] = 0
        self.boxes[0, 0, 0, : len(start)] = start
        self.filled[0, 0] = 1
        self.module.insert_some(self.tables, self.orders, self.tails, self.boxes, self.filled, self.looked)
        self.filled[:] = 0

    def run(self, limit: int, progress: Progress | None) -> Violation | None:
        """Searches level by level, until a level is empty or one of its states or steps violates a property.

        Raises TooManyStatesError if there are more than `limit` states.
        """
        while True:
            ends = self.tails.copy()
            self.levels.append(ends)
            labelled = self.labelled
            shown = self.check_level(ends)
            if shown is not None:
                return shown
            while (self.heads < ends).any():
                self.grow()
                self.expand(ends)
                for own in np.flatnonzero(self.flagged[:, 0]).tolist():
                    shown = self.flag(own)
                    if shown is not None:
                        return shown
                self.flagged[:] = 0
                self.insert()
                if progress is not None:
                    progress(self.states, self.depth)
                if self.states > limit:
                    name = self.measures.name
                    raise TooManyStatesError(f"{name}: more than {limit} states; use smaller bounds")
            self.depth += bool(self.states > ends.sum() or self.labelled > labelled)
            if self.states == ends.sum():
                return None

    def expand(self, ends: Ints) -> None:
        """Expands states of a level until it ends, a box is full, or a flag is raised."""
        self.module.expand_some(
            self.orders,
            self.heads,
            ends,
            (self.boxes, self.filled),
            (self.buffers, self.recent),
            (self.fired, self.moves, self.flagged),
            self.read_beside,
        )

    def insert(self) -> None:
        """Adds the new states in the boxes to the tables and to `orders`."""
        self.module.insert_some(self.tables, self.orders, self.tails, self.boxes, self.filled, self.looked)
        if self.labels:
            self.module.count_some(self.label_tables, self.label_counts, self.boxes, self.filled, self.looked)

    def grow(self) -> None:
        """Grows the arrays so that they hold all states that one round can find."""
        more = self.measures.cores * self.box
        if int(self.tails.max()) + more > FULL * self.tables.shape[1]:
            self.tables = self.larger(self.tables)
        if self.labels and int(self.label_counts.max()) + more > FULL * self.label_tables.shape[1]:
            self.label_tables = self.larger(self.label_tables)
        if int(self.tails.max()) + more > self.orders.shape[1]:
            cores, places, words = self.orders.shape
            orders = np.zeros((cores, 2 * places, words), np.uint64)
            orders[:, :places] = self.orders
            self.orders = orders

    def larger(self, tables: Rows) -> Rows:
        """Tables of twice the size with the same states."""
        cores, slots, words = tables.shape
        larger = np.zeros((cores, 2 * slots, words), np.uint64)
        self.module.rehash(tables, larger)
        return larger

    def flagged_state(self, own: int) -> Words:
        """The state that raised the flag of a partition."""
        return tuple(int(word) for word in self.orders[own, self.flagged[own, 1]])

    def before(self) -> list[Callable[[Words], Words]]:
        """One function for each level except the newest, oldest first.

        The function of a level maps a state of the next level to a predecessor in this level.
        """
        return [partial(self.predecessor, level) for level in range(len(self.levels) - 2)]

    def predecessor(self, level: int, target: Words) -> Words:
        """A state of a level that leads to `target`. Raises DisagreementError if there is none."""
        goal = np.array(target, np.uint64)
        for own, order in enumerate(self.orders):
            first, last = int(self.levels[level][own]), int(self.levels[level + 1][own])
            found = self.module.leads_to(
                order, first, last, goal, self.buffers[own], self.fired[own], self.read_beside
            )
            if found >= 0:
                return tuple(int(word) for word in order[found])
        raise DisagreementError(f"no state of level {level} leads to this state of the next level: {target}")
