"""Finds the behaviours that a change adds, removes and alters. Both sides answer the same runs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from itertools import groupby
from typing import NamedTuple

from conformance.adapters.protocol import Adapter, Applied, Crashed, Failure, Hung, Made, Malformed, Wire
from conformance.change.repository import ChangeError
from conformance.divergence import Answer, Divergence
from conformance.drive.lockstep import given, play
from conformance.drive.oracle import GOES_ON, Edge, Node
from conformance.drive.shrinking.shrink import fewer_channels, fewest_events
from conformance.vectors.vector import Vector


class Kind(Enum):
    """The kind of a change of behaviour."""

    GAINED = "gained"
    """The new side accepts an event that the old side refuses."""
    LOST = "lost"
    """The new side refuses an event that the old side accepts."""
    CHANGED = "changed"
    """Both sides accept the event, and answer differently."""


class Meaning(Enum):
    """The consequence of all differences for a user of the old side."""

    COMPATIBLE = "compatible"
    WEAKENING = "weakening"
    """The new side accepts more events than the old side, and nothing else differs."""
    STRENGTHENING = "strengthening"
    """The new side accepts fewer events than the old side, and nothing else differs."""
    INCOMPATIBLE = "incompatible"
    """Some answers differ, or the new side accepts more events in some cases and fewer in others."""


class Change(NamedTuple):
    """One way in which the sides differ, with the shortest run that shows it."""

    kind: Kind
    component: str
    config: Wire
    events: tuple[Wire, ...]
    old: Answer
    new: Answer
    runs: int
    """The number of runs that differ in this way."""
    rules: tuple[str, ...] = ()
    """The rules that fire at the first difference, in the model that made the run."""
    model: Answer | None = None
    """The answer of the model. Only for a comparison of two implementations."""
    right: str = ""
    """The side that answers like the model: `old`, `new`, `old and new`, or `neither`."""


def meaning_of(changes: Iterable[Change]) -> Meaning:
    """The meaning of all changes together."""
    kinds = {change.kind for change in changes}
    if not kinds:
        return Meaning.COMPATIBLE
    if kinds == {Kind.GAINED}:
        return Meaning.WEAKENING
    return Meaning.STRENGTHENING if kinds == {Kind.LOST} else Meaning.INCOMPATIBLE


Apart = Callable[[str, Wire, Sequence[Wire]], Divergence | None]
"""Plays a component, a configuration and events on both sides. Returns the first difference, or None.

In the returned `Divergence`, `expected` is the new answer and `got` the old answer. `rules` has one text,
which all differences of the same kind share.
"""


def changes(old: Adapter, new: Adapter, vectors: Iterable[Vector]) -> Iterator[Change]:
    """Yields one change for each way in which two models differ.

    Raises ChangeError if a side crashes, hangs or sends an invalid frame, because then its behaviour is
    unknown.
    """
    return ways_to_differ(partial(_apart, old, new), vectors)


def ways_to_differ(apart: Apart, vectors: Iterable[Vector]) -> Iterator[Change]:
    """Yields one change for each text in `rules` of the differences, in the order of first occurrence."""
    first: dict[str, Divergence] = {}
    runs: dict[str, int] = {}
    rules: dict[str, set[str]] = {}
    for vector in vectors:
        found = apart(vector.component, vector.config, vector.events)
        if found is not None:
            description = found.rules[0]
            runs[description] = runs.get(description, 0) + 1
            parts = vector.steps[len(found.events) - 1] if found.events else None
            rules.setdefault(description, set()).update(parts.rules if parts is not None else ())
            if description not in first or len(found.events) < len(first[description].events):
                first[description] = found
    for description, found in first.items():
        play = partial(apart, found.component)
        shortest = fewest_events(found, partial(play, found.config))
        fewer = fewer_channels(shortest, play)
        if fewer is not None:
            shortest = fewest_events(fewer, partial(play, fewer.config))
        before, after = shortest.got, shortest.expected
        assert isinstance(before, Answer)
        kind = _kind(before, after)
        both = (found.component, shortest.config, shortest.events, before, after)
        yield Change(kind, *both, runs[description], tuple(sorted(rules[description])))


class _Side:
    """One side as an oracle: it replaces the model as the source of the expected answers."""

    def __init__(self, adapter: Adapter, component: str, config: Wire) -> None:
        self.component, self.config = component, config
        self.made = _answer(adapter.new(component, config))
        self.start = Node(None, {})
        self._adapter = adapter

    def step(self, node: Node, event: Wire) -> Edge:
        """The answer to the event. `node` must be the current state: there is one instance."""
        answer = _answer(self._adapter.apply([event]))
        after = node if answer.refused is not None else Node(None, answer.state)
        edge = Edge(b"", answer.effects, (), after, answer.refused)
        edge.fails = edge.fails and self.component not in GOES_ON
        return edge


def _apart(
    old: Adapter, new: Adapter, component: str, config: Wire, events: Sequence[Wire]
) -> Divergence | None:
    """The first difference of two models. All fields of the state and the texts of failures are compared."""
    side = _Side(new, component, config)
    exists = side.made.refused is None
    played = play(given(side, events if exists else (), is_exact=True), old)
    if played.stopped is not None:
        before, after = _answer(played.stopped), side.made
        return difference(component, config, tuple(events[: played.steps]), before, after) if exists else None
    if not exists:
        return difference(component, config, (), Answer([], {}), side.made)
    found = played.divergence
    if found is None:
        return None
    before = found.got if isinstance(found.got, Answer) else _answer(found.got)
    return difference(component, config, found.events, before, found.expected)


def _require_answer(came: Applied | Made | Failure) -> None:
    if isinstance(came, Crashed | Hung | Malformed):
        raise ChangeError(f"a version gave no answer: {came.describe()}; {came.stderr.strip()[-400:]}")


def _answer(came: Applied | Made | Failure) -> Answer:
    if isinstance(came, Applied):
        return Answer(came.effects[0], came.state)
    _require_answer(came)
    return Answer([], {}) if isinstance(came, Made) else Answer([], {}, came.describe())


def difference(
    component: str, config: Wire, events: tuple[Wire, ...], before: Answer, after: Answer
) -> Divergence:
    """The difference of two answers to the last event. `rules` has a text with kind, event and effects."""
    event = events[-1]["kind"] if events else "new"
    answers = [
        "refused"
        if one.refused is not None
        else [kind for kind, _ in groupby(str(effect["kind"]) for effect in one.effects)]
        for one in (before, after)
    ]
    description = f"{component} {_kind(before, after).value} {event} {answers}"
    return Divergence(component, config, events, after, before, (description,))


def _kind(before: Answer, after: Answer) -> Kind:
    if before.refused is not None:
        return Kind.GAINED
    return Kind.CHANGED if after.refused is None else Kind.LOST
