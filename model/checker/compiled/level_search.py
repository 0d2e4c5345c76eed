"""Breadth-first search level by level over packed states, around the functions that numba has compiled.

Arrays grow as they have to, and levels are kept, so that a run can be found backwards. What a kernel is made
of is not known here: whoever has one says what a flag means that it raises.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from model.checker.compiled.retrace import DisagreementError, Words
from model.checker.explore import TooManyStatesError, Violation

BOX = 1 << 16
"""At most so many states go from one partition to another in one round."""
SLOTS = 1 << 18
"""Of a table at first, if nothing is known about the number of states."""
FULL = 0.6
"""A table that is fuller than this is replaced by one of twice the size."""

Ints = np.ndarray[Any, np.dtype[np.int64]]
Rows = np.ndarray[Any, np.dtype[np.uint64]]
Progress = Callable[[int, int], None]
"""Told after a round how many states are known, and the depth."""


class Measures(NamedTuple):
    """What arrays a search needs."""

    name: str
    """Of the model, for messages."""
    start: Words
    """The first state."""
    said_words: int
    """How many words tell what is said; 0 if that is not counted."""
    branching: int
    """A state has at most so many moves."""
    rules: int
    """The kernel tells of so many sets of rules that they have fired."""
    cores: int


class LevelSearch(ABC):
    """The arrays of one search, and its levels."""

    def __init__(self, module: Any, measures: Measures, expected: int) -> None:  # noqa: ANN401 - generated
        self.module = module
        self.measures = measures
        cores, words = measures.cores, len(measures.start)
        width = words + measures.said_words
        slots = SLOTS
        while slots * FULL * cores < expected + cores * cores * BOX:
            slots *= 2
        self.box = max(BOX, 4 * measures.branching)
        self.labels = measures.said_words > 0
        self.tables = np.zeros((cores, slots, words), np.uint64)
        self.orders = np.zeros((cores, 2 * cores * self.box, words), np.uint64)
        self.tails = np.zeros(cores, np.int64)
        self.heads = np.zeros(cores, np.int64)
        self.boxes = np.zeros((cores, cores, self.box, width), np.uint64)
        self.filled = np.zeros((cores, cores), np.int64)
        self.buffers = np.zeros((cores, max(1, measures.branching), width), np.uint64)
        self.recent = np.zeros((cores, module.RECENT, width), np.uint64)
        self.fired = np.zeros((cores, max(1, measures.rules)), np.uint8)
        self.moves = np.zeros(cores, np.int64)
        self.flagged = np.zeros((cores, 2), np.int64)
        self.looked = np.zeros((cores, 8), np.uint64)
        self.said = np.zeros((cores, slots if self.labels else 2, width), np.uint64)
        self.said_counts = np.zeros(cores, np.int64)
        self.levels: list[Ints] = [np.zeros(cores, np.int64)]
        """Where each level begins in each order."""
        self.depth = 0

    @property
    def states(self) -> int:
        """How many are known."""
        return int(self.tails.sum())

    @property
    def labelled(self) -> int:
        """With the start, before which nothing was said."""
        return 1 + int(self.said_counts.sum()) if self.labels else 0

    @property
    def bytes(self) -> int:
        """Of tables and orders."""
        return int(self.tables.nbytes + self.orders.nbytes + self.said.nbytes * self.labels)

    @property
    def read_beside(self) -> tuple[Any, ...]:
        """The arrays that the kernel reads beside a state."""
        return ()

    @abstractmethod
    def looked_over(self, ends: Ints) -> Violation | None:
        """What is wrong with the states of a level themselves, before they are expanded."""

    @abstractmethod
    def flag(self, own: int) -> Violation | None:
        """What the flag of a partition means; None if the search goes on."""

    def warm_up(self) -> None:
        """Call everything on nothing, so that it is compiled or loaded."""
        self.expand(self.heads)
        self.insert()
        self.module.rehash(np.zeros_like(self.tables[:, :2]), np.zeros_like(self.tables[:, :4]))
        self.begin()

    def begin(self) -> None:
        """Put the start into the order and the table of its partition."""
        start = self.measures.start
        self.filled[:] = 0
        self.boxes[0, 0, 0, : len(start)] = start
        self.filled[0, 0] = 1
        self.module.insert_some(self.tables, self.orders, self.tails, self.boxes, self.filled, self.looked)
        self.filled[:] = 0

    def run(self, limit: int, progress: Progress | None) -> Violation | None:
        """Level by level, until one finds nothing or has a broken move."""
        while True:
            ends = self.tails.copy()
            self.levels.append(ends)
            labelled = self.labelled
            shown = self.looked_over(ends)
            if shown is not None:
                return shown
            while (self.heads < ends).any():
                self.make_room()
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
        """Expand states of a level until boxes are full or a flag is raised."""
        self.module.expand_some(
            self.orders,
            self.heads,
            ends,
            self.boxes,
            self.filled,
            self.buffers,
            self.recent,
            self.fired,
            self.moves,
            self.flagged,
            self.read_beside,
        )

    def insert(self) -> None:
        """What is new in the boxes is kept."""
        self.module.insert_some(self.tables, self.orders, self.tails, self.boxes, self.filled, self.looked)
        if self.labels:
            self.module.count_some(self.said, self.said_counts, self.boxes, self.filled, self.looked)

    def make_room(self) -> None:
        """Room for all that one round may find."""
        more = self.measures.cores * self.box
        if int(self.tails.max()) + more > FULL * self.tables.shape[1]:
            self.tables = self.larger(self.tables)
        if self.labels and int(self.said_counts.max()) + more > FULL * self.said.shape[1]:
            self.said = self.larger(self.said)
        if int(self.tails.max()) + more > self.orders.shape[1]:
            cores, places, words = self.orders.shape
            orders = np.zeros((cores, 2 * places, words), np.uint64)
            orders[:, :places] = self.orders
            self.orders = orders

    def larger(self, tables: Rows) -> Rows:
        """The same in tables of twice the size."""
        cores, slots, words = tables.shape
        larger = np.zeros((cores, 2 * slots, words), np.uint64)
        self.module.rehash(tables, larger)
        return larger

    def flagged_state(self, own: int) -> Words:
        """The state that raised the flag of a partition."""
        return tuple(int(word) for word in self.orders[own, self.flagged[own, 1]])

    def before(self) -> list[Callable[[Words], Words]]:
        """For each level from the first to the one before the newest: a state of it that leads to one."""
        return [partial(self.predecessor, level) for level in range(len(self.levels) - 2)]

    def predecessor(self, level: int, target: Words) -> Words:
        """A state of a level that leads to a state."""
        wanted = np.array(target, np.uint64)
        for own, order in enumerate(self.orders):
            first, last = int(self.levels[level][own]), int(self.levels[level + 1][own])
            found = self.module.leads_to(
                order, first, last, wanted, self.buffers[own], self.fired[own], self.read_beside
            )
            if found >= 0:
                return tuple(int(word) for word in order[found])
        raise DisagreementError(f"no state of level {level} leads to one of the next: {target}")
