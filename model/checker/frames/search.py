"""A closed model without a kernel, explored at machine speed: what its moves come to is looked up in tables.

    found = Framed(closed model, of_component(closed model.component), cores=2).explore()

A composition has about as many shapes as states, and no kernel can be written of it beforehand. But each of
its moves looks at few parts of the state, and there are few ways in which these stand
(`model.checker.frames.frames`). The search is that of the compiled kernels; where it meets a state about
which something is not known, the Python model is asked, and the search goes on. Where a part has more
values than there are bits for its number, states are packed anew: the search begins again, and all answers
are kept. So the first thousands of states are searched with bits to spare. Where a collection has more
members than there are parts for, nothing is kept: there are twice as many from then on.
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
from model.checker.frames.frames import Frames
from model.checker.frames.lookup import CROWDED, UNANSWERED
from model.checker.frames.parts import ROOM, NoRoomError, Parts
from model.checker.frames.places import Places, places_of
from model.events import Event
from model.properties import Property

BRANCHING = 1 << 10
"""A state has at most so many moves."""
AHEAD = 1 << 10
"""The model is asked about at most so many states at a time."""
SCOUTED = 20_000
"""So many states are searched at first, with much room for what was not met yet."""
CONFIRMED = 500
"""So many states, spread over all, are asked of the model once more as a whole."""


class Found(NamedTuple):
    """What a search came to."""

    states: int
    transitions: int
    depth: int
    """Number of events on the longest shortest run."""
    violation: Violation | None
    rules: frozenset[str]
    """Rules that fired in some step."""
    answers: int
    """How many the model was asked for, since a collection last outgrew its parts."""
    begun: int
    """How often the search began."""
    confirmed: int
    """States that the model was asked about as a whole."""
    compile_seconds: float
    ask_seconds: float
    """In the Python model, with what it takes to keep its answers."""
    search_seconds: float
    """All the rest, searches that were begun in vain among it."""
    bytes: int
    """Of tables and orders at the end."""


class Spare(NamedTuple):
    """How much room there is in packed states for what was not met yet."""

    bits: int
    """Beyond what the values of a part need."""
    single: int
    """Bits of a part with one value."""
    members: int
    """Of a collection, beyond the most that were met."""

    def places(self, parts: Parts) -> Places:
        """Where the numbers of parts stand."""
        return places_of(parts.counts(self.members), self.bits, self.single)


SCOUTING, SEARCHING = Spare(3, 2, 1_000), Spare(1, 0, 1)


class Framed:
    """The search of one closed model that has portions."""

    def __init__(self, closed: ClosedModel, properties: tuple[Property, ...] = (), *, cores: int = 1) -> None:
        self.closed = closed
        self.properties = properties
        self.cores = cores
        self.room: dict[str, int] = {}
        self.frames = Frames(closed, properties)
        self.ask_seconds = 0.0

    def explore(
        self, *, limit: int = 1_000_000_000, expected: int = 0, progress: Progress | None = None
    ) -> Found:
        """Every reachable state, until nothing new appears or a property fails.

        `expected`: about so many states, to begin with tables that need not grow. Raises TooManyStatesError
        beyond the limit, FrameError or ContradictionError where the model does not answer by what it reads.
        """
        begun = perf_counter()
        module = answering_module(cores=self.cores)
        _Search(self, module, 0, SEARCHING).warm_up()
        compiled = perf_counter()
        search, shown, times = self._searched(module, limit, expected, progress)
        searched = perf_counter()
        confirmed = 0 if shown is not None else search.confirm()
        ended = perf_counter()
        asked = self.ask_seconds + ended - searched
        return Found(
            states=search.states,
            transitions=int(search.moves.sum()),
            depth=search.depth,
            violation=shown,
            rules=frozenset(self.frames.rules),
            answers=self.frames.asked,
            begun=times,
            confirmed=confirmed,
            compile_seconds=compiled - begun,
            ask_seconds=asked,
            search_seconds=ended - compiled - asked,
            bytes=search.bytes,
        )

    def _searched(
        self,
        module: Any,  # noqa: ANN401 - generated
        limit: int,
        expected: int,
        progress: Progress | None,
    ) -> tuple["_Search", Violation | None, int]:
        """The search that had room for everything, what it has shown, and how many were begun."""
        shown = broken_at_start(self.closed, self.properties)
        scouts, times = True, 0
        while True:
            times += 1
            search = _Search(self, module, expected, SCOUTING if scouts else SEARCHING)
            search.begin()
            try:
                shown = shown or search.run(min(limit, SCOUTED) if scouts else limit, progress)
                return search, shown, times
            except TooManyStatesError:
                if not scouts or limit <= SCOUTED:
                    raise
                scouts = False
            except NoRoomError as longer:
                self.make_room(*longer.args)
                scouts = True
            except _OutgrownError:
                pass

    def make_room(self, path: str) -> None:
        """Parts for twice as many members of a collection that grows; nothing is known of them any more."""
        self.room[path] = 2 * self.room.get(path, ROOM)
        self.frames = Frames(self.closed, self.properties, self.room)


class _OutgrownError(Exception):
    """A part has more values than a packed state has room for."""


class _Search(LevelSearch):
    """One search, with places for as many values as the parts had when it began."""

    def __init__(self, framed: Framed, module: Any, expected: int, spare: Spare) -> None:  # noqa: ANN401 - generated
        self.framed = framed
        self.frames = frames = framed.frames
        self.places: Places = spare.places(frames.parts)
        self._rows = self.places.as_array()
        self._trees = (np.array(frames.mover_trees, np.int64), np.array(frames.property_trees, np.int64))
        start = self.places.pack(frames.parts.start)
        measures = Measures(framed.closed.name, start, 0, BRANCHING, 0, framed.cores)
        super().__init__(module, measures, expected)

    @property
    def read_beside(self) -> tuple[Any, ...]:
        return (self._rows, *self.frames.answers.arrays, *self._trees)

    def warm_up(self) -> None:
        """Call everything on nothing, so that it is compiled or loaded."""
        super().warm_up()
        self.module.look_over_some(self.orders, self.heads, self.heads, self.flagged, self.read_beside)
        self.missing(0, 0, 0)

    def looked_over(self, ends: Ints) -> Violation | None:
        """Ask the state properties of a level."""
        heads = self.heads.copy()
        while (heads < ends).any():
            self.module.look_over_some(self.orders, heads, ends, self.flagged, self.read_beside)
            for own in np.flatnonzero(self.flagged[:, 0]).tolist():
                if self.flagged[own, 0] != UNANSWERED:
                    return self.shown(self.predecessor(len(self.levels) - 3, self.flagged_state(own)), 1)
                self.ask(self.flagged_state(own))
            self.flagged[:] = 0
        return None

    def flag(self, own: int) -> Violation | None:
        """The model has to be asked, or a move breaks a property."""
        flag, source = int(self.flagged[own, 0]), self.flagged_state(own)
        if flag == UNANSWERED:
            self.ask_ahead(own)
            return None
        if flag == CROWDED:
            raise TooManyStatesError(f"{self.measures.name}: a state has more than {BRANCHING} moves")
        self.depth += 1
        return self.shown(source, 0)

    def ask_ahead(self, own: int) -> None:
        """What is not known of the state that raised the flag, and of those behind it in its level."""
        for words in self.missing(own, int(self.flagged[own, 1]), int(self.levels[-1][own])):
            self.ask(words)

    def missing(self, own: int, first: int, last: int) -> list[Words]:
        """States of a partition of which something is not known."""
        order, found = self.orders[own], np.zeros(AHEAD, np.int64)
        count = self.module.unanswered(
            order, first, last, found, self.buffers[own], self.fired[own], self.read_beside
        )
        return [tuple(order[position].tolist()) for position in found[:count].tolist()]

    def ask(self, words: Words) -> None:
        """Whatever is not known of a state."""
        begun = perf_counter()
        parts = self.frames.parts
        grown = parts.grown
        self.frames.complete(self.places.unpack(words))
        fits = parts.grown == grown or self.places.has_room(parts.counts())
        self.framed.ask_seconds += perf_counter() - begun
        if not fits:
            raise _OutgrownError

    def shown(self, source: Words, back: int) -> Violation:
        """The run to a state, so many levels before the newest, and its broken move."""
        closed, properties = self.framed.closed, self.framed.properties
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

    def move_to(self, node: Node, wanted: Words) -> tuple[Event, Node]:
        """The model's first move to a state."""
        for event, _, reached in moves_of(self.framed.closed, node):
            if self.places.pack(self.frames.parts.numbers(reached)) == wanted:
                return event, reached
        raise DisagreementError(f"the tables lead from {node} to a state that no event leads to")

    def confirm(self) -> int:
        """Ask the model about whole states, spread over all; how many they were."""
        confirmed = 0
        for order, tail in zip(self.orders, self.tails.tolist(), strict=True):
            for position in np.linspace(0, tail - 1, min(tail, CONFIRMED // self.measures.cores), dtype=int):
                self.frames.confirm(self.places.unpack(order[position].tolist()))
                confirmed += 1
        return confirmed
