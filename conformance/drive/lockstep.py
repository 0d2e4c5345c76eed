"""Lock-step: the model and an implementation take the same events, and every answer is compared.

Effects are compared exactly and in order, the state field by field. A field that the implementation leaves
out is not compared, and the result names it. A case ends if the task fails; then neither the text of the
failure nor the state is compared. In a batch the effects of each event and the state after the last one are
compared. If a batch differs, the case is repeated event by event, so that the divergence names the first step
that differs.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, cast

from conformance.adapters.protocol import (
    FAILURES,
    Adapter,
    Applied,
    Effects,
    Errored,
    Failure,
    Hung,
    Overlapping,
    Unsupported,
    Wire,
    canonical,
)
from conformance.divergence import Answer, Divergence
from conformance.drive.bounds.failed_check import NEW, FailedCheck
from conformance.drive.bounds.tested_scope import TestedScope
from conformance.drive.crashes import Crashes
from conformance.drive.oracle import Edge, Expects, Oracle
from conformance.generators.chooser import Chooser
from conformance.verdict import Verdict


@dataclass
class Played:
    """The result of one case or of many: counts, fired rules, and the divergence if there is one."""

    steps: int = 0
    cases: int = 0
    fired: Counter[str] = field(default_factory=Counter)
    unseen: set[str] = field(default_factory=set)
    """State fields that the implementation left out at some point."""
    divergence: Divergence | None = None
    stopped: Failure | None = None
    """The failure that ended a case without a verdict: `unsupported`, a hang, or an instance not made."""
    hung: Divergence | None = None
    """The case whose last event got no answer in time; `stopped` then has the same failure."""
    unrepeatable: Divergence | None = None
    """A divergence or hang that did not occur again when the same events were sent again."""
    evidence: FailedCheck | None = None
    """The check that `stopped` the last case, if no case shows it: an instance not made, a late hang."""
    tried: TestedScope = field(default_factory=TestedScope)
    """The options, ids, times and lengths that the cases reached."""
    origins: Counter[str] = field(default_factory=Counter)
    """The number of cases by their source."""
    skipped: list[str] = field(default_factory=list)
    """The reasons why cases were skipped, without duplicates."""
    stops: int = 0
    """The number of cases that were stopped."""
    known: int = 0
    """The number of cases that have ended at a known divergence."""
    ended_early: bool = False
    """Whether the budget ended before all cases were played."""

    @property
    def is_sound(self) -> bool:
        """Whether no case diverged, was stopped, or gave a flaky answer."""
        return self.divergence is None and self.stopped is None and self.unrepeatable is None

    def add(self, other: "Played") -> None:
        """Add the counts of another case to these, and take over its outcome."""
        self.steps += other.steps
        self.cases += other.cases
        self.fired.update(other.fired)
        self.unseen |= other.unseen
        self.divergence = self.divergence or other.divergence
        self.stopped = self.stopped or other.stopped
        self.hung = self.hung or other.hung
        self.unrepeatable = self.unrepeatable or other.unrepeatable
        self.evidence = self.evidence or other.evidence
        self.tried.add(other.tried)
        self.origins.update(other.origins)
        self.skipped += (why for why in other.skipped if why not in self.skipped)
        self.stops += other.stops
        self.known += other.known
        self.ended_early |= other.ended_early


class Case(NamedTuple):
    """One instance, from `new` to its last event."""

    oracle: Expects
    choose: Chooser
    """Gives the next event for the observable state of the model; None ends the case."""
    length: int
    """The case ends after this many events."""
    origin: str = ""
    """The source that the case comes from: `pinned`, `rule`, `random`, `tour`, `directed`, `bound`, ..."""
    is_exact: bool = False
    """Whether all fields of the state, and the text of a failure, are compared, also optional ones."""
    bound: str = ""
    """The bound that the case tests: an implementation that does not support it has a smaller bound."""
    plays_on: bool = False
    """Whether events after a `fail` are sent too. The implementation must refuse each of them."""


def given(
    oracle: Expects, events: Iterable[Wire], origin: str = "", *, is_exact: bool = False, bound: str = ""
) -> Case:
    """The case of these events."""
    known = list(events)
    position = iter(known)
    return Case(oracle, lambda _: next(position, None), len(known), origin, is_exact, bound)


def play(case: Case, adapter: Adapter, batch: int = 1, crashes: Crashes | None = None) -> Played:
    """Play one case in batches of at most `batch` events; a difference in a batch is replayed one by one.

    The case ends before an event at which `crashes` expects a known crash. It also ends at the first event
    that diverges, is not answered, or fails the task; with `plays_on`, it continues after a failed task.
    """
    instance = Instance(case.oracle, adapter, batch, is_exact=case.is_exact)
    while len(instance.events) < case.length and (
        instance.goes_on or (case.plays_on and instance.found is None)
    ):
        event = case.choose(instance.node.observed)
        if event is None or (crashes is not None and instance.is_cut_before(event, crashes)):
            break
        instance.take(event)
    played = instance.end()
    played.origins[case.origin] = played.cases
    found = played.divergence or played.hung
    if crashes is not None:
        crashes.send(case.oracle, instance.events if found is None else found.events)
    if batch > 1 and found is not None:
        again = replay(case.oracle, adapter, found.events)
        played.divergence, played.hung, played.stopped = again.divergence, again.hung, again.stopped
        if again.divergence is None and again.hung is None:
            played.unrepeatable = found
    return played


def replay(oracle: Expects, adapter: Adapter, events: Iterable[Wire], batch: int = 1) -> Played:
    """Play the case of these events, also of those after a `fail`."""
    return play(given(oracle, events)._replace(plays_on=True), adapter, batch)


def drawn(oracle: Oracle, choose: Chooser, length: int) -> tuple[list[Wire], set[str]]:
    """The events of a case, drawn with the model alone, and the rules that fire."""
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


def answer_of(edge: Edge) -> Answer:
    """The permitted answer as a value."""
    return Answer(edge.effects, edge.after.observed, edge.refused)


@cache
def _overlaps(adapter: type[Adapter]) -> bool:
    """Whether adapters of this class are `Overlapping`; cached, because `issubclass` is slow."""
    return issubclass(adapter, Overlapping)


class Instance:
    """One instance of the implementation and the model: every event goes to both.

    An adapter that is `Overlapping` answers one batch while the next one is drawn.
    """

    def __init__(self, oracle: Expects, adapter: Adapter, batch: int = 1, *, is_exact: bool = False) -> None:
        self.node = oracle.start
        """The state of the model."""
        self.events: list[Wire] = []
        self._oracle = oracle
        self._adapter = adapter
        self._batch = batch
        self._is_exact = is_exact
        self._played = Played(cases=1)
        self._edges: list[Edge] = []
        self._overlapping = cast(Overlapping, adapter) if _overlaps(type(adapter)) else None
        self._sent = 0
        self._answered = 0
        made = adapter.new(oracle.component, oracle.config)
        if isinstance(made, FAILURES):
            self._played.stopped = made
            if not isinstance(made, Unsupported):
                unmade = FailedCheck(NEW, oracle.component, oracle.config, what=made.describe())
                self._played.evidence = unmade._replace(verdict=Verdict.UNDETERMINED)
        self.goes_on = self._played.stopped is None
        """Whether the instance exists, has answered as expected, and its task has not failed."""

    @property
    def found(self) -> Divergence | Failure | None:
        """The divergence, or the failure to answer; None if all answers were as expected."""
        return self._played.divergence or self._played.stopped

    def is_cut_before(self, event: Wire, crashes: Crashes) -> bool:
        """Whether to end the case before the event, because a known crash is expected. Counts such cases."""
        edge = self._oracle.step(self.node, event)
        is_cut = crashes.are_expected(self._oracle.config, event, self.node, edge)
        self._played.tried.cut += is_cut
        return is_cut

    def take(self, event: Wire) -> None:
        """Give one event to the model, and to the implementation as soon as the batch is full."""
        edge = self._oracle.step(self.node, event)
        self.node = edge.after
        if edge.refused is not None:  # an error ends a batch, so this event is sent alone
            self._flush()
        self.events.append(event)
        self._edges.append(edge)
        if edge.refused is not None or edge.fails or len(self.events) - self._sent == self._batch:
            self._flush()
        self.goes_on = not edge.fails and self.found is None

    def end(self) -> Played:
        """Send the remaining events, and return the outcome."""
        self._flush()
        self.settle()
        played = self._played
        if played.stopped is None or self.events:
            played.steps = len(self.events)
            played.tried.take(self._oracle.component, self._oracle.config, self.events)
            for edge in self._edges:
                played.fired.update(edge.rules)
        return played

    def settle(self) -> None:
        """Wait for the answer to the sent events, and compare it."""
        if self._overlapping is not None and self._answered < self._sent:
            self._compare(self._overlapping.collect())

    def _flush(self) -> None:
        self.settle()
        if self.found is not None or self._sent == len(self.events):
            return
        batch = self.events[self._sent :]
        self._sent = len(self.events)
        if self._overlapping is not None:
            self._overlapping.submit(batch)
        else:
            self._compare(self._adapter.apply(batch))

    def _compare(self, answer: Applied | Failure) -> None:
        first, edges = self._answered, self._edges[self._answered : self._sent]
        self._answered = self._sent
        last = edges[-1]
        if type(answer) is Applied and last.refused is None and canonical(answer.state) == last.after.spelled:
            expected = b"[" + b",".join([edge.spelled for edge in edges]) + b"]"
            if canonical(answer.effects) == expected:  # the whole batch at once
                return
        self._judge(first, edges, answer)

    def _judge(self, first: int, edges: Sequence[Edge], answer: Applied | Failure) -> None:
        """Find out where a batch differs, and how; its first event has the position `first`."""
        if isinstance(answer, Hung | Unsupported):
            self._played.stopped = answer
        if isinstance(answer, Unsupported):
            return
        if isinstance(answer, Errored) and edges[-1].refused is not None:
            return
        at = len(edges) - 1
        if isinstance(answer, Applied):
            if edges[-1].refused is None:
                differs = self._first_difference(answer, edges)
                if differs is None:
                    return
                at = differs
        elif isinstance(answer, Errored) and answer.at is not None:
            at = answer.at
        got = Answer(answer.effects[at], answer.state) if isinstance(answer, Applied) else answer
        edge = edges[at]
        events = tuple(self.events[: first + at + 1])
        *before, expected = (answer_of(edge) for edge in self._edges[: first + at + 1])
        oracle = self._oracle
        found = Divergence(oracle.component, oracle.config, events, expected, got, edge.rules, tuple(before))
        if isinstance(got, Hung):
            self._played.hung = found
        else:
            self._played.divergence = found

    def _first_difference(self, answer: Applied, edges: Sequence[Edge]) -> int | None:
        """The position of the first event whose effects differ, or of the last one if the state differs."""
        last = len(edges) - 1
        if self._is_exact:
            return last
        pairs = enumerate(zip(answer.effects, edges, strict=True))
        at = next((at for at, (received, edge) in pairs if not _same(received, edge)), None)
        if at is None and edges[-1].fails:
            return None
        expected = edges[-1].after.observed
        self._played.unseen.update(name for name in expected if name not in answer.state)
        if at is None and agrees(answer.state, expected):
            return None
        return last if at is None else at


def _same(received: Effects, edge: Edge) -> bool:
    """Whether the effects are the expected ones; the text of a failure is not compared."""
    if edge.fails:
        return [_without_text(effect) for effect in received] == [
            _without_text(effect) for effect in edge.effects
        ]
    return canonical(received) == edge.spelled


def _without_text(effect: Wire) -> bytes:
    return canonical({"kind": "fail"} if effect.get("kind") == "fail" else effect)


def agrees(received: Wire, expected: Wire) -> bool:
    """Whether every known field of the answer has the expected value. Unknown fields are ignored."""
    return all(
        canonical(received[name]) == canonical(expected[name]) for name in expected if name in received
    )
