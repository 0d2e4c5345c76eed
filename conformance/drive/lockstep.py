"""Lock-step: the model and an implementation take the same events, and every answer is compared.

Effects are compared exactly and in order, the state field by field; a field that the implementation
leaves out is not compared, and the result says which. Where the task fails the case ends: the text of the
failure is not compared, nor is what is left of the state. In a batch the effects of each event and the state
after the last one are compared; where a batch differs, the case is repeated event by event, so that the
divergence names the first step that differs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from conformance.adapters.protocol import (
    FAILURES,
    Adapter,
    Applied,
    Crashed,
    Effects,
    Errored,
    Failure,
    Hung,
    Malformed,
    Overlapping,
    Unsupported,
    Wire,
)
from conformance.drive.bounds.tried import Tried
from conformance.drive.oracle import Edge, Oracle, canonical
from conformance.generators.chooser import Chooser


class Answer(NamedTuple):
    """Effects of one event and the state after it, or why the event was refused (`refused`)."""

    effects: Effects
    state: Wire
    refused: str | None = None


@dataclass(frozen=True)
class Divergence:
    """The first step at which an implementation departs from the model."""

    component: str
    config: Wire
    events: tuple[Wire, ...]
    """All events up to and with the one that shows it."""
    expected: Answer
    got: Answer | Failure
    rules: tuple[str, ...]
    """The rules that fired in the model at this step; the first is the primary one."""

    @property
    def step(self) -> int:
        """The number of the step, from 1."""
        return len(self.events)

    @property
    def event(self) -> Wire:
        """The event that shows it."""
        return self.events[-1]

    @property
    def rule(self) -> str | None:
        """The primary rule; None where no rule fires, and where nothing was answered that could break one."""
        return self.rules[0] if self.rules and self.lost is None else None

    @property
    def lost(self) -> str | None:
        """`crashed` or `malformed` where the implementation did not answer; else None."""
        return _LOST.get(type(self.got))

    @property
    def charge(self) -> str | None:
        """What is charged: the primary rule, or how the answer was lost; None where no rule fires."""
        return self.lost or self.rule


_LOST: Mapping[type, str] = {Crashed: "crashed", Malformed: "malformed"}
"""Answers that are none. They break no rule: nothing was answered that could break one."""


@dataclass
class Played:
    """What came of one case or of many: counts, fired rules, and the divergence if there is one."""

    steps: int = 0
    cases: int = 0
    fired: Counter[str] = field(default_factory=Counter)
    unseen: set[str] = field(default_factory=set)
    """State fields that the implementation left out at some point."""
    divergence: Divergence | None = None
    stopped: Failure | None = None
    """The case ended early, and no verdict about it is possible: a skip, a hang, an instance not made."""
    unrepeatable: Divergence | None = None
    """It differed once, and not when the same events were given again."""
    tried: Tried = field(default_factory=Tried)
    """How far the cases reached."""

    def add(self, other: "Played") -> None:
        """Take the counts of another case, and its outcome."""
        self.steps += other.steps
        self.cases += other.cases
        self.fired.update(other.fired)
        self.unseen |= other.unseen
        self.divergence = self.divergence or other.divergence
        self.stopped = self.stopped or other.stopped
        self.unrepeatable = self.unrepeatable or other.unrepeatable
        self.tried.add(other.tried)


def walk(oracle: Oracle, adapter: Adapter, choose: Chooser, length: int, batch: int = 1) -> Played:
    """One case of at most `length` events that `choose` draws, in batches of at most `batch`."""
    played = Played(cases=1)
    made = adapter.new(oracle.component, oracle.config)
    if isinstance(made, FAILURES):
        played.stopped = made
        return played
    link = _Link(played, oracle, adapter)
    node = oracle.start
    for _ in range(length):
        event = choose(node.observed)
        if event is None:
            break
        edge = oracle.step(node, event)
        node = edge.after
        if edge.refused is not None:  # it goes alone: an error ends a batch
            link.flush()
        link.events.append(event)
        link.edges.append(edge)
        if edge.refused is not None or edge.fails or link.waiting() == batch:
            link.flush()
        if edge.fails or played.divergence is not None or played.stopped is not None:
            break
    link.flush()
    link.settle()
    played.steps = len(link.events)
    played.tried.take(oracle.component, oracle.config, link.events)
    for edge in link.edges:
        played.fired.update(edge.rules)
    if batch > 1 and played.divergence is not None:
        return _step_by_step(oracle, adapter, played)
    return played


def drawn(oracle: Oracle, choose: Chooser, length: int) -> tuple[list[Wire], set[str]]:
    """What `walk` would send, beside the model alone: the events, and the rules that fire."""
    events: list[Wire] = []
    fired: set[str] = set()
    node = oracle.start
    while len(events) < length:
        event = choose(node.observed)
        if event is None:
            break
        edge = oracle.step(node, event)
        events.append(event)
        fired.update(edge.rules)
        node = edge.after
        if edge.fails:
            break
    return events, fired


def replay(oracle: Oracle, adapter: Adapter, events: Iterable[Wire], batch: int = 1) -> Played:
    """One case of given events, by default one at a time; ends at the first that differs."""
    known = list(events)
    position = iter(known)
    return walk(oracle, adapter, lambda _: next(position, None), len(known), batch)


def compare(oracle: Oracle, events: Sequence[Wire], edge: Edge, answer: Applied | Failure) -> Played:
    """The answer to one event, the last of `events`, against what is expected of it."""
    played = Played()
    _judge(played, oracle, list(events), len(events) - 1, [edge], answer)
    return played


class _Link:
    """The case under way: what was drawn, how much of it was sent, and how much was answered."""

    def __init__(self, played: Played, oracle: Oracle, adapter: Adapter) -> None:
        self.events: list[Wire] = []
        self.edges: list[Edge] = []
        self._played = played
        self._oracle = oracle
        self._adapter = adapter
        self._overlapping = adapter if isinstance(adapter, Overlapping) else None
        self._sent = 0
        self._answered = 0

    def waiting(self) -> int:
        """How many events were drawn and not sent."""
        return len(self.events) - self._sent

    def flush(self) -> None:
        """Send what waits; an adapter that can works on it while the next batch is drawn."""
        self.settle()
        if self._played.divergence is not None or self._played.stopped is not None or not self.waiting():
            return
        batch = self.events[self._sent :]
        self._sent = len(self.events)
        if self._overlapping is not None:
            self._overlapping.submit(batch)
        else:
            self._take(self._adapter.apply(batch))

    def settle(self) -> None:
        """Wait for the answer to what was sent."""
        if self._overlapping is not None and self._answered < self._sent:
            self._take(self._overlapping.collect())

    def _take(self, answer: Applied | Failure) -> None:
        """Judge the answer if it is not just what is expected."""
        first, edges = self._answered, self.edges[self._answered : self._sent]
        self._answered = self._sent
        last = edges[-1]
        if type(answer) is Applied and last.refused is None and canonical(answer.state) == last.after.spelled:
            expected = b"[" + b",".join([edge.spelled for edge in edges]) + b"]"
            if canonical(answer.effects) == expected:  # the whole batch at once
                return
        _judge(self._played, self._oracle, self.events, first, edges, answer)


def _judge(
    played: Played,
    oracle: Oracle,
    events: list[Wire],
    first: int,
    edges: list[Edge],
    answer: Applied | Failure,
) -> None:
    """Find out where a batch differs, and how."""
    if isinstance(answer, Hung | Unsupported):
        played.stopped = answer
        return
    at = len(edges) - 1
    got: Answer | Failure
    if isinstance(answer, Applied):
        if edges[-1].refused is None:
            at = next(
                (
                    position
                    for position, (came, edge) in enumerate(zip(answer.effects, edges, strict=True))
                    if not _same(came, edge)
                ),
                at,
            )
            same = _same(answer.effects[at], edges[at])
            if same and edges[-1].fails:
                return
            missing = [name for name in edges[-1].after.observed if name not in answer.state]
            played.unseen.update(missing)
            if same and _agrees(answer.state, edges[-1].after.observed):
                return
        got = Answer(answer.effects[at], answer.state)
    elif isinstance(answer, Errored) and edges[-1].refused is not None:
        return
    else:
        at = answer.at if isinstance(answer, Errored) and answer.at is not None else at
        got = answer
    edge = edges[at]
    expected = Answer(edge.effects, edge.after.observed, edge.refused)
    played.divergence = Divergence(
        oracle.component, oracle.config, tuple(events[: first + at + 1]), expected, got, edge.rules
    )


def _same(came: Effects, edge: Edge) -> bool:
    """The effects are those expected; the text of a failure is everybody's own."""
    if edge.fails:
        return [_wordless(effect) for effect in came] == [_wordless(effect) for effect in edge.effects]
    return canonical(came) == edge.spelled


def _wordless(effect: Wire) -> bytes:
    return canonical({"kind": "fail"} if effect.get("kind") == "fail" else effect)


def _agrees(came: Wire, expected: Wire) -> bool:
    """Every field that came and is known has the expected value; fields of later versions may be there."""
    return all(canonical(came[name]) == canonical(expected[name]) for name in expected if name in came)


def _step_by_step(oracle: Oracle, adapter: Adapter, played: Played) -> Played:
    """Repeat a case that differed in a batch event by event."""
    assert played.divergence is not None
    again = replay(oracle, adapter, played.divergence.events)
    if again.divergence is None:
        played.unrepeatable, played.divergence = played.divergence, None
        played.stopped = again.stopped
    else:
        played.divergence = again.divergence
    return played
