"""Explores a composition with a compiled search, which reads the results of moves from tables.

found = MemoisedSearch(closed model, of_component(closed model.component), cores=2).explore()

A composition has about as many shapes as states, so that no kernel can be generated before the search. But
each of its moves reads few parts of the state, and these parts have few combinations of values
(`model.checker.memoised.moves`). So the compiled search (`model.checker.compiled.level_search`) reads the
results of moves, the *answers*, from tables. If an answer is missing, the Python model computes it, and the
search continues. If a part gets more values than its bits can number, the search restarts with more bits and
keeps all answers. To avoid most restarts, a first search visits some thousands of states with many spare
bits. If a collection gets more members than it has parts for, the search discards all answers and restarts
with parts for twice as many members.
"""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from model.checker.closed_model import ClosedModel
from model.checker.compiled.kernels import answering_module
from model.checker.compiled.level_search import Ints, LevelSearch, Measures, Progress
from model.checker.compiled.program import Node
from model.checker.compiled.retrace import (
    DisagreementError,
    Words,
    broken_at_start,
    broken_move,
    moves_of,
    replayed,
)
from model.checker.explore import TooManyStatesError, Violation
from model.checker.memoised.bit_layout import Places, places_of
from model.checker.memoised.moves import MemoisedMoves
from model.checker.memoised.state_parts import INITIAL_MEMBERS, CapacityError, Parts
from model.checker.memoised.successors import CROWDED, UNANSWERED
from model.events import Event
from model.properties import Property

BRANCHING = 1 << 10
"""Maximum number of moves of a state."""
AHEAD = 1 << 10
"""Maximum number of states that the model completes at a time."""
SCOUTED = 20_000
"""Number of states that the first search visits, with many spare bits for new values."""
CONFIRMED = 500
"""Number of states whose answers the model confirms at the end. They are spread evenly over all states."""


class MemoisedResult(NamedTuple):
    """The result of a search."""

    states: int
    transitions: int
    depth: int
    """The length in events of the shortest run to the state that is farthest from the start."""
    violation: Violation | None
    rules: frozenset[str]
    """Rules that fired in some step."""
    answers: int
    """Number of computed answers.

    It restarts from 0 if a collection gets more members than it has parts for.
    """
    begun: int
    """Number of starts of the search, including the restarts."""
    confirmed: int
    """Number of states whose answers were confirmed."""
    compile_seconds: float
    model_seconds: float
    """Time in which the Python model computes and stores answers."""
    search_seconds: float
    """All other time after compilation, including restarted searches."""
    bytes: int
    """Size in bytes of the hash tables and the lists of states at the end."""


class Spare(NamedTuple):
    """The spare space in packed states for new values and members."""

    bits: int
    """Number of bits of a part beyond those that its values need."""
    single: int
    """Number of bits of a part with one value."""
    members: int
    """Number of members of a collection for which there is space, beyond the largest number seen so far."""

    def places(self, parts: Parts) -> Places:
        """The bit layout of a packed state with this spare space."""
        return places_of(parts.counts(self.members), self.bits, self.single)


SCOUTING, SEARCHING = Spare(3, 2, 1_000), Spare(1, 0, 1)


class MemoisedSearch:
    """The search of one closed model that has portions."""

    def __init__(self, closed: ClosedModel, properties: tuple[Property, ...] = (), *, cores: int = 1) -> None:
        self.closed = closed
        self.properties = properties
        self.cores = cores
        self.capacity: dict[str, int] = {}
        self.memo = MemoisedMoves(closed, properties)
        self.model_seconds = 0.0

    def explore(
        self, *, limit: int = 1_000_000_000, expected: int = 0, progress: Progress | None = None
    ) -> MemoisedResult:
        """Visits every reachable state. Ends early if a property fails.

        `expected`: the approximate number of states, which sizes the first tables. Raises TooManyStatesError
        if there are more states than `limit`, ReadSetError or ContradictionError if an answer depends on more
        than its read set.
        """
        begun = perf_counter()
        module = answering_module(cores=self.cores)
        _MemoisedSearch(self, module, 0, SEARCHING).warm_up()
        compiled = perf_counter()
        search, shown, times = self._searched(module, limit, expected, progress)
        searched = perf_counter()
        confirmed = 0 if shown is not None else search.confirm()
        ended = perf_counter()
        in_model = self.model_seconds + ended - searched
        return MemoisedResult(
            states=search.states,
            transitions=int(search.moves.sum()),
            depth=search.depth,
            violation=shown,
            rules=frozenset(self.memo.rules),
            answers=self.memo.computed,
            begun=times,
            confirmed=confirmed,
            compile_seconds=compiled - begun,
            model_seconds=in_model,
            search_seconds=ended - compiled - in_model,
            bytes=search.bytes,
        )

    def _searched(
        self,
        module: Any,  # noqa: ANN401 - generated
        limit: int,
        expected: int,
        progress: Progress | None,
    ) -> tuple["_MemoisedSearch", Violation | None, int]:
        """The last search, which had enough space, its violation, and the number of searches begun."""
        shown = broken_at_start(self.closed, self.properties)
        scouts, times = True, 0
        while True:
            times += 1
            search = _MemoisedSearch(self, module, expected, SCOUTING if scouts else SEARCHING)
            search.begin()
            try:
                shown = shown or search.run(min(limit, SCOUTED) if scouts else limit, progress)
                return search, shown, times
            except TooManyStatesError:
                if not scouts or limit <= SCOUTED:
                    raise
                scouts = False
            except CapacityError as longer:
                self.add_parts(*longer.args)
                scouts = True
            except _OutgrownError:
                pass

    def add_parts(self, path: str) -> None:
        """Doubles the number of parts for the members of a growing collection; all answers are discarded."""
        self.capacity[path] = 2 * self.capacity.get(path, INITIAL_MEMBERS)
        self.memo = MemoisedMoves(self.closed, self.properties, self.capacity)


class _OutgrownError(Exception):
    """A part has more values than its bits in a packed state can hold."""


class _MemoisedSearch(LevelSearch):
    """One search. Its bit layout fits the values that the parts have at its start."""

    def __init__(self, memoised: MemoisedSearch, module: Any, expected: int, spare: Spare) -> None:  # noqa: ANN401 - generated
        self.memoised = memoised
        self.memo = memo = memoised.memo
        self.places: Places = spare.places(memo.parts)
        self._rows = self.places.as_array()
        self._trees = (np.array(memo.mover_trees, np.int64), np.array(memo.property_trees, np.int64))
        start = self.places.pack(memo.parts.start)
        measures = Measures(memoised.closed.name, start, 0, BRANCHING, 0, memoised.cores)
        super().__init__(module, measures, expected)

    @property
    def read_beside(self) -> tuple[Any, ...]:
        return (self._rows, *self.memo.answers.arrays, *self._trees)

    def warm_up(self) -> None:
        """Calls each function on empty input, so that numba compiles it or loads its compiled code."""
        super().warm_up()
        self.module.look_over_some(self.orders, self.heads, self.heads, self.flagged, self.read_beside)
        self.missing(0, 0, 0)

    def check_level(self, ends: Ints) -> Violation | None:
        """Checks the state properties of a level."""
        heads = self.heads.copy()
        while (heads < ends).any():
            self.module.look_over_some(self.orders, heads, ends, self.flagged, self.read_beside)
            for own in np.flatnonzero(self.flagged[:, 0]).tolist():
                if self.flagged[own, 0] != UNANSWERED:
                    return self.shown(self.predecessor(len(self.levels) - 3, self.flagged_state(own)), 1)
                self.complete(self.flagged_state(own))
            self.flagged[:] = 0
        return None

    def flag(self, own: int) -> Violation | None:
        """Completes missing answers, or reports a move that breaks a property."""
        flag, source = int(self.flagged[own, 0]), self.flagged_state(own)
        if flag == UNANSWERED:
            self.complete_ahead(own)
            return None
        if flag == CROWDED:
            raise TooManyStatesError(f"{self.measures.name}: a state has more than {BRANCHING} moves")
        self.depth += 1
        return self.shown(source, 0)

    def complete_ahead(self, own: int) -> None:
        """Computes missing answers of the state that raised the flag and of later states in its level."""
        for words in self.missing(own, int(self.flagged[own, 1]), int(self.levels[-1][own])):
            self.complete(words)

    def missing(self, own: int, first: int, last: int) -> list[Words]:
        """States with missing answers, in a partition's list of states from `first` up to `last`."""
        order, found = self.orders[own], np.zeros(AHEAD, np.int64)
        count = self.module.unanswered(
            order, first, last, found, self.buffers[own], self.fired[own], self.read_beside
        )
        return [tuple(order[position].tolist()) for position in found[:count].tolist()]

    def complete(self, words: Words) -> None:
        """Computes all missing answers of a state."""
        begun = perf_counter()
        parts = self.memo.parts
        grown = parts.grown
        self.memo.complete(self.places.unpack(words))
        fits = parts.grown == grown or self.places.has_capacity(parts.counts())
        self.memoised.model_seconds += perf_counter() - begun
        if not fits:
            raise _OutgrownError

    def shown(self, source: Words, back: int) -> Violation:
        """The violation by a move from `source`, with its run.

        `back`: the levels from it to the newest level.
        """
        closed, properties = self.memoised.closed, self.memoised.properties
        before = self.before()
        states = [source]
        for predecessor in reversed(before[: len(before) - back]):
            states.append(predecessor(states[-1]))
        node = Node(closed.state, closed.environment)
        run: list[Event] = []
        for words in reversed(states[:-1]):
            event, node = self.move_to(node, words)
            run.append(event)
        run.append(broken_move(closed, properties, node))
        return replayed(closed, properties, tuple(run))

    def move_to(self, node: Node, target: Words) -> tuple[Event, Node]:
        """The model's first move from `node` to the state `target`.

        Raises DisagreementError if it has none.
        """
        for event, _, reached in moves_of(self.memoised.closed, node):
            if self.places.pack(self.memo.parts.numbers(reached)) == target:
                return event, reached
        raise DisagreementError(f"the tables have a move from {node} that the model does not have")

    def confirm(self) -> int:
        """Confirms the answers of some states, spread evenly over all. Returns the number of these states."""
        confirmed = 0
        for order, tail in zip(self.orders, self.tails.tolist(), strict=True):
            for position in np.linspace(0, tail - 1, min(tail, CONFIRMED // self.measures.cores), dtype=int):
                self.memo.confirm(self.places.unpack(order[position].tolist()))
                confirmed += 1
        return confirmed
