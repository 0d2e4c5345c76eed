"""Exploration at machine speed: the kernel of a closed model, compiled by numba and searched in full.

    program = program_of(world, bounds, of_component(world.component))
    found = Compiled(program, cores=2).explore()

Every state is kept whole (`model.engines.searching`), so the counts are exact and the same as the Python
explorer's, and the shortest run to a violation has the same length. A labelled search counts states
with what was said in the step before them as well, as TLC counts the models that have a variable `out`; what
may happen next does not depend on that, so each state is expanded once.
"""

from collections.abc import Callable
from functools import cached_property, partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from model.engines.asking import Asking
from model.engines.explore import TooManyStatesError, Violation
from model.engines.kernel_text import OUTSIDE, KernelText, branching
from model.engines.kernels import scalar_module
from model.engines.program import Node, Program
from model.engines.retrace import DisagreementError, Words, broken_start, retraced
from model.engines.scalar_text import scalar_text
from model.engines.shapes import OutsideError

BOX = 1 << 16
"""At most so many states go from one partition to another in one round."""
SLOTS = 1 << 18
"""Of a table at first, if nothing is known about the number of states."""
FULL = 0.6
"""A table that is fuller than this is replaced by one of twice the size."""

Progress = Callable[[int, int], None]
"""Told after a round how many states are known, and the depth."""


class Found(NamedTuple):
    """What a search came to."""

    states: int
    labelled: int
    """States with what was said before them; 0 if that was not asked."""
    transitions: int
    depth: int
    """Number of events on the longest shortest run, of a labelled search to a state with what was said."""
    violation: Violation | None
    rules: frozenset[str]
    """Rules that fired in some step."""
    compile_seconds: float
    """Until the first state was expanded: compiled, or found in the cache."""
    search_seconds: float
    bytes: int
    """Of the tables and orders at the end."""


class Compiled:
    """The compiled kernel of a program."""

    def __init__(self, program: Program, *, cores: int = 1) -> None:
        self.program = program
        self.cores = cores
        self.labelled = program.said is not None
        self.branching = branching(program)

    @cached_property
    def text(self) -> KernelText:
        """What is compiled."""
        return scalar_text(self.program)

    @cached_property
    def _module(self) -> Any:  # noqa: ANN401 - generated
        return scalar_module(self.text.source, cores=self.cores)

    def explore(
        self, *, limit: int = 1_000_000_000, expected: int = 0, progress: Progress | None = None
    ) -> Found:
        """Every reachable state, until nothing new appears or a property fails.

        `expected`: about so many states, to begin with tables that need not grow. Raises TooManyStatesError
        beyond the limit, OutsideError where a move leaves the declared bounds.
        """
        begun = perf_counter()
        search = _Search(self, self._module, expected)
        search.warm_up()
        compiled = perf_counter()
        shown = broken_start(self.program)
        if shown is None:
            shown = search.run(limit, progress)
        fired = np.flatnonzero(search.fired.max(axis=0))
        rules = (rule for number in fired for rule in self.text.rules[number])
        return Found(
            search.states,
            search.labelled,
            int(search.moves.sum()),
            search.depth,
            shown,
            frozenset(rules),
            compiled - begun,
            perf_counter() - compiled,
            search.bytes,
        )


class _Search:
    """The arrays of one search."""

    def __init__(self, kernel: Compiled, module: Any, expected: int) -> None:  # noqa: ANN401 - generated
        self.kernel = kernel
        self.module = module
        program, cores = kernel.program, kernel.cores
        words = program.layout.words
        width = words + program.said_words
        slots = SLOTS
        while slots * FULL * cores < expected + cores * cores * BOX:
            slots *= 2
        self.box = max(BOX, 4 * kernel.branching)
        self.tables = np.zeros((cores, slots, words), np.uint64)
        self.orders = np.zeros((cores, 2 * cores * self.box, words), np.uint64)
        self.tails = np.zeros(cores, np.int64)
        self.heads = np.zeros(cores, np.int64)
        self.boxes = np.zeros((cores, cores, self.box, width), np.uint64)
        self.filled = np.zeros((cores, cores), np.int64)
        self.buffers = np.zeros((cores, max(1, kernel.branching), width), np.uint64)
        self.recent = np.zeros((cores, module.RECENT, width), np.uint64)
        self.fired = np.zeros((cores, max(1, len(kernel.text.rules))), np.uint8)
        self.moves = np.zeros(cores, np.int64)
        self.flagged = np.zeros((cores, 2), np.int64)
        self.looked = np.zeros((cores, 8), np.uint64)
        self.said = np.zeros((cores, slots if kernel.labelled else 2, width), np.uint64)
        self.said_counts = np.zeros(cores, np.int64)
        self.levels: list[np.ndarray[Any, np.dtype[np.int64]]] = [np.zeros(cores, np.int64)]
        """Where each level begins in each order."""
        self.depth = 0
        self.asking = Asking(program)

    @property
    def states(self) -> int:
        return int(self.tails.sum())

    @property
    def labelled(self) -> int:
        """With the start, before which nothing was said."""
        return 1 + int(self.said_counts.sum()) if self.kernel.labelled else 0

    @property
    def bytes(self) -> int:
        return int(self.tables.nbytes + self.orders.nbytes + self.said.nbytes * self.kernel.labelled)

    def warm_up(self) -> None:
        """Call everything on nothing, so that it is compiled or loaded."""
        self.expand(self.heads)
        self.insert()
        self.module.rehash(np.zeros_like(self.tables[:, :2]), np.zeros_like(self.tables[:, :4]))
        self.begin()

    def begin(self) -> None:
        """Put the start into the order and the table of its partition."""
        world = self.kernel.program.world
        start = self.kernel.program.layout.pack(Node(world.state, world.environment))
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
            for own, order in enumerate(self.orders):
                broken = self.asking.first_broken(order[self.heads[own] : ends[own]])
                if broken >= 0:
                    return self.shown(tuple(int(word) for word in order[self.heads[own] + broken]))
            while (self.heads < ends).any():
                self.make_room()
                self.expand(ends)
                flagged = np.flatnonzero(self.flagged[:, 0])
                if len(flagged):
                    return self.flag(int(flagged[0]))
                self.insert()
                if progress is not None:
                    progress(self.states, self.depth)
                if self.states > limit:
                    name = self.kernel.program.world.name
                    raise TooManyStatesError(f"{name}: more than {limit} states; use smaller bounds")
            self.depth += bool(self.states > ends.sum() or self.labelled > labelled)
            if self.states == ends.sum():
                return None

    def expand(self, ends: np.ndarray[Any, np.dtype[np.int64]]) -> None:
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
        )

    def insert(self) -> None:
        self.module.insert_some(self.tables, self.orders, self.tails, self.boxes, self.filled, self.looked)
        if self.kernel.labelled:
            self.module.count_some(self.said, self.said_counts, self.boxes, self.filled, self.looked)

    def make_room(self) -> None:
        """Room for all that one round may find."""
        more = self.kernel.cores * self.box
        if int(self.tails.max()) + more > FULL * self.tables.shape[1]:
            self.tables = self.larger(self.tables)
        if self.kernel.labelled and int(self.said_counts.max()) + more > FULL * self.said.shape[1]:
            self.said = self.larger(self.said)
        if int(self.tails.max()) + more > self.orders.shape[1]:
            cores, places, words = self.orders.shape
            orders = np.zeros((cores, 2 * places, words), np.uint64)
            orders[:, :places] = self.orders
            self.orders = orders

    def larger(self, tables: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
        cores, slots, words = tables.shape
        larger = np.zeros((cores, 2 * slots, words), np.uint64)
        self.module.rehash(tables, larger)
        return larger

    def flag(self, own: int) -> Violation:
        """What the flag of a partition means."""
        flags, head = (int(number) for number in self.flagged[own])
        source = tuple(int(word) for word in self.orders[own, head])
        if flags & OUTSIDE:
            node = self.kernel.program.layout.unpack(source)
            raise OutsideError(f"a move from {node} leaves the declared bounds; widen them")
        return self.shown(source)

    def shown(self, source: Words) -> Violation:
        """The run to a state of the last level that is known whole, and its broken move."""
        self.depth += 1
        before = [partial(self.predecessor, level) for level in range(len(self.levels) - 2)]
        return retraced(self.kernel.program, source, before)

    def predecessor(self, level: int, target: Words) -> Words:
        """A state of a level that leads to a state."""
        wanted = np.array(target, np.uint64)
        for own, order in enumerate(self.orders):
            first, last = int(self.levels[level][own]), int(self.levels[level + 1][own])
            found = self.module.leads_to(order, first, last, wanted, self.buffers[own], self.fired[own])
            if found >= 0:
                return tuple(int(word) for word in order[found])
        raise DisagreementError(f"no state of level {level} leads to one of the next: {target}")
