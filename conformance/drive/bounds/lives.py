"""Long lives: one instance takes a round of events over and over, with greater ids each time.

`conformance/lives.txt` has a round of each component. Every answer is compared with the model's. From WATCHED
checkpoints on, the answer time and the memory of the adapter's processes are measured: an implementation that
keeps data of every checkpoint uses more memory or gets slower. The protocol has no rule about memory or
time, so growth makes the verdict UNDETERMINED and is no divergence.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from conformance.adapters.protocol import (
    FAILURES,
    Adapter,
    Applied,
    Effects,
    Failure,
    Hung,
    Unsupported,
    Watched,
    Wire,
    canonical,
)
from conformance.divergence import Answer, Divergence
from conformance.drive.bounds import growth
from conformance.drive.bounds.failed_check import LIFE, FailedCheck
from conformance.drive.bounds.ids import fields_of
from conformance.drive.bounds.wide_gate_cases import SIZES, widened
from conformance.drive.lockstep import Played, agrees, answer_of, given
from conformance.drive.loop import drive
from conformance.drive.oracle import Oracle
from conformance.drive.plan import Plan
from conformance.generators import generate
from conformance.vectors.transcripts import event_of
from conformance.verdict import Verdict
from model.components import COMPONENTS

WATCHED = 20_000
"""Shorter lives are not measured: while a runtime warms up, its memory grows."""
GROWING_STATE = frozenset({"sink"})
"""Components whose observable state grows with each checkpoint: their lives are SHORT and not measured."""
SHORT = 2_000
"""The maximum number of checkpoints in a life of a component in GROWING_STATE."""
BATCH = 100
"""Minimum number of events in one request."""
SAMPLED = 10
"""The number of requests between two measurements of memory."""
SHOWN = 600
"""A divergence within this number of events is reported as a case; a later one as a sentence."""


class Round(NamedTuple):
    """The events of a life: `opening` once, then `events` again and again with greater ids."""

    opening: tuple[Wire, ...]
    events: tuple[Wire, ...]
    ids: int
    """The ids of a round exceed those of the round before by this number."""


class _Life(NamedTuple):
    """The life of one instance, with its number of checkpoints."""

    component: str
    config: Wire
    round: Round
    checkpoints: int


def play_lives(component: str, adapter: Adapter, plan: Plan, total: Played) -> tuple[FailedCheck, ...]:
    """Play one life in each mode, or one life if the component has no modes, and add them to `total`.

    Returns the first wrong answer after the first SHOWN events of a life, if it is not known. An earlier
    wrong answer is a divergence in `total`.

    Growth is measured again in a new process before it is added to `total`.
    """
    checkpoints = min(plan.life, SHORT) if component in GROWING_STATE else plan.life
    for config, round_ in _chosen(component, plan) if checkpoints else ():
        life = _Life(component, config, round_, checkpoints)
        found = _live(life, adapter, plan, total)
        if found and not isinstance(found, FailedCheck):
            adapter.bye()
            found = _live(life, adapter, plan, total)
        if isinstance(found, FailedCheck):
            if plan.is_known_check(found):
                continue
            return (found,)
        if found:
            mode = f", {config['mode']}" if "mode" in config else ""
            total.tried.grows += (f"grows over {checkpoints:,} checkpoints{mode}: {one}" for one in found)
        if not total.is_sound or total.ended_early:
            break
    return ()


def runs(component: str, plan: Plan) -> Iterator[tuple[Wire, list[Wire]]]:
    """The configuration and the events of each life, which has at most SHORT checkpoints."""
    for config, round_ in _chosen(component, plan) if plan.life else ():
        life = _Life(component, config, round_, min(plan.life, SHORT))
        yield config, [event for batch in _batches(life) for event in batch]


@cache
def rounds() -> Mapping[str, Round]:
    """The round of each component."""
    text = resources.files("conformance").joinpath("lives.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return {component: _read(component, events) for component, _, events in lines}


def _read(component: str, text: str) -> Round:
    opening, events = (
        [event_of(event) for event in part.strip().split("; ") if event] for part in text.split("|")
    )
    numbers = (event[name] for event in events for name in fields_of(component) if name in event)
    ids = max(numbers, default=1)  # a component without ids repeats its round as it is
    return Round(tuple(opening), tuple(events), ids)


def _chosen(component: str, plan: Plan) -> Iterator[tuple[Wire, Round]]:
    """For each mode, the configuration whose rounds have the most kinds of effects; the last one of several.

    A configuration that refuses an event of its rounds has no life, for example a gate of one channel.
    """
    best: dict[object, tuple[int, Wire, Round]] = {}
    for config in generate.fitting(component, plan.pinned):
        round_ = _for(config, rounds()[component])
        kinds = len(_kinds(_Life(component, config, round_, 3 * round_.ids)))
        if kinds and kinds >= best.get(config.get("mode"), (0,))[0]:
            best[config.get("mode")] = (kinds, config, round_)
    return ((config, round_) for _, config, round_ in best.values())


def _for(config: Wire, round_: Round) -> Round:
    """The round, widened for a gate of more than two channels.

    It is not widened for gates larger than SIZES, so no checkpoint completes at these.
    """
    channels = config.get("channels", 2)
    if channels <= 2 or channels > SIZES[-1]:
        return round_
    return round_._replace(events=tuple(widened(round_.events, 2, channels, first=False)))


def _kinds(life: _Life) -> set[str]:
    """The kinds of effects of a life; none if an event is refused or the task fails."""
    events = [event for batch in _batches(life) for event in batch]
    edges = Oracle(life.component, life.config).transcript(events)
    if any(edge.refused is not None or edge.fails for edge in edges):
        return set()
    return {effect["kind"] for edge in edges for effect in edge.effects}


def _batches(life: _Life) -> Iterator[list[Wire]]:
    """The events of a life, cut into requests."""
    fields = fields_of(life.component)
    batch = list(life.round.opening)
    for first in range(0, life.checkpoints, life.round.ids):
        for event in life.round.events:
            later = {name: event[name] + first for name in fields if event.get(name, -1) >= 0}
            batch.append({**event, **later})
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def again(evidence: FailedCheck, adapter: Adapter) -> FailedCheck | None:
    """The failure of a saved life if it is played again, or None if it does not fail any more."""
    component, config = evidence.component, evidence.config
    life = _Life(component, config, _for(config, rounds()[component]), evidence.checkpoints)
    total = Played()
    found = _live(life, adapter, Plan(0, 1), total)
    if isinstance(found, FailedCheck):
        return found
    early = total.divergence or total.unrepeatable
    if early is not None:
        return evidence._replace(what=f"at the beginning of a life: {dict(early.event)}")
    return total.evidence or (evidence._replace(what=total.stopped.describe()) if total.stopped else None)


def _live(life: _Life, adapter: Adapter, plan: Plan, total: Played) -> list[str] | FailedCheck:
    """Play one life and add it to `total`.

    Returns a sentence for each measure that grows, or the wrong answer after the first SHOWN events.
    """
    made = adapter.new(life.component, life.config)
    if isinstance(made, FAILURES):
        total.stopped = made
        return []
    model = COMPONENTS[life.component]
    state = model.new(life.config)
    watch = _Watch(adapter)
    sent: list[Wire] = []
    for batch in _batches(life):
        expected = []
        for event in batch:
            state, effects, _ = model.apply(state, event)
            expected.append(effects)
        answer = watch.apply(batch)
        sent += batch if watch.events <= SHOWN else ()
        wrong = _difference(batch, answer, expected, model.observe(state))
        if (wrong is not None or isinstance(answer, Hung)) and watch.events <= SHOWN:
            _play_again(life, sent, answer, adapter, plan, total)
            return []
        where = f"in a life of {life.checkpoints:,} checkpoints, after {watch.events:,} events"
        late = FailedCheck(LIFE, life.component, life.config, checkpoints=life.checkpoints)
        if isinstance(answer, Hung | Unsupported):
            total.stopped = answer
            if isinstance(answer, Hung):
                what = f"{where}: {answer.describe()}"
                total.evidence = late._replace(what=what, verdict=Verdict.UNDETERMINED)
            return []
        if wrong is not None:
            return late._replace(what=f"{where}: {wrong}")
        if not plan.may_go_on():
            total.ended_early = True
            break
    total.cases += 1
    total.steps += watch.events
    is_watched = life.checkpoints >= WATCHED and life.component not in GROWING_STATE
    total.tried.lived(life.checkpoints, watch.events, watch.measures if is_watched else ())
    if not is_watched or total.ended_early:
        return []
    return [one for one in (growth.slower(watch.seconds), growth.larger(watch.sizes)) if one is not None]


def _play_again(
    life: _Life, sent: Sequence[Wire], answer: Applied | Failure, adapter: Adapter, plan: Plan, total: Played
) -> None:
    """Play the beginning of a life as a case. If every answer is right this time, the last one is flaky."""
    oracle = Oracle(life.component, life.config)
    played = drive([given(oracle, sent, "life")], adapter, plan.limits._replace(crashes=None))
    if played.is_sound and not played.known:
        *before, last = oracle.transcript(sent)
        got = Answer(answer.effects[-1], answer.state) if isinstance(answer, Applied) else answer
        outcome = (answer_of(last), got, last.rules, tuple(map(answer_of, before)))
        played.unrepeatable = Divergence(life.component, life.config, tuple(sent), *outcome)
    total.add(played)


class _Watch:
    """Measures the time of each answer, and the memory of the adapter's processes."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._memory = adapter.memory if isinstance(adapter, Watched) else lambda: None
        self.events = 0
        self.seconds: list[float] = []
        """For each request, its seconds divided by its number of events."""
        self.sizes: list[float] = []
        """The bytes of memory that the processes used, measured once in SAMPLED requests."""

    def apply(self, batch: Sequence[Wire]) -> Applied | Failure:
        """The answer to a request."""
        begun = time.perf_counter()
        answer = self._adapter.apply(batch)
        self.seconds.append((time.perf_counter() - begun) / len(batch))
        self.events += len(batch)
        size = self._memory() if len(self.seconds) % SAMPLED == 1 else None
        self.sizes += () if size is None else (float(size),)
        return answer

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of what was measured; memory only if the adapter can read it."""
        return ("answer time", "memory") if self.sizes else ("answer time",)


def _difference(
    batch: Sequence[Wire], answer: Applied | Failure, expected: Sequence[Effects], observed: Wire
) -> str | None:
    """The difference of an answer from the expected one, or None."""
    if not isinstance(answer, Applied):
        return answer.describe()
    for event, received, effects in zip(batch, answer.effects, expected, strict=True):
        if canonical(received) != canonical(effects):
            return f"{dict(event)}: expected {list(effects)}, got {list(received)}"
    if agrees(answer.state, observed):
        return None
    return f"the state after {dict(batch[-1])}: expected {dict(observed)}, got {dict(answer.state)}"
