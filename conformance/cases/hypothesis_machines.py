"""Hypothesis state machines in lock-step: one machine a component, failing runs shrunk by Hypothesis.

The events are those of the component's random walk, with numbers that Hypothesis draws: it varies them, keeps
those that reach new code, and shrinks. The seed alone decides a run; there is no example database. Where only
some rules are selected, an example is drawn beside the model alone until one of them fires.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from conformance.adapters.protocol import FAILURES, Adapter, Failure, Unsupported, Wire
from conformance.cases.hypothesis_draws import DrawnRandom, one_of, plain_event
from conformance.cases.walks import Oracles
from conformance.drive.bounds.ids import IdMap, mapped_as_drawn
from conformance.drive.lockstep import Divergence, Played, compare
from conformance.drive.oracle import Edge, Node, Oracle
from conformance.generators import generate
from conformance.generators.chooser import Chooser

STEPS = 40
"""Events of one example at most."""
PLAIN = 8
"""One event in so many is a plain word of the vocabulary."""


class DivergenceFound(AssertionError):  # noqa: N818 - a finding of a test, not an error of this program
    """A machine's step differed from the model."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(f"{divergence.rule or 'no rule'} at {dict(divergence.event)}")
        self.divergence = divergence


class NotDetermined(Exception):  # noqa: N818 - neither a divergence nor a fault: a part could not run
    """A machine's case could not be played to its end."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.describe())
        self.failure = failure


@dataclass
class _Bench:
    """What all examples of a run share."""

    component: str
    adapter: Adapter
    oracles: Oracles
    configs: list[Wire]
    played: Played
    may_go_on: Callable[[], bool]
    is_known: Callable[[Divergence], bool]
    asked: frozenset[str] = frozenset()
    """Only examples that exercise one of these rules are played; empty: all."""
    ended_early: bool = False
    injects: bool = False
    """A gate's task is triggered itself, too."""
    maps: tuple[IdMap, ...] = ()
    """Each example has one of these maps of ids; empty: ids are as they are drawn."""
    mapped: Oracles = field(default_factory=lambda: Oracles("gate"))
    """The oracles of mapped events."""


class LockStepMachine(RuleBasedStateMachine):
    """One example: a fresh instance beside the model; each run has a subclass with its own `bench`."""

    bench: _Bench

    def __init__(self) -> None:
        super().__init__()
        self.oracle: Oracle
        self.events: list[Wire] = []
        self.waiting: list[tuple[Wire, Edge]] = []
        """What the implementation has not been given yet."""
        self.is_played = False
        """The implementation takes part; from the beginning, unless only some rules are asked for."""
        self.drawn_in: tuple[Oracle, Node] | None = None
        """Where ids are mapped: the state that events are drawn in, whose ids are small."""
        self.drawn = DrawnRandom()
        self.walk: Chooser
        """The component's source of events, whose random numbers are drawn."""
        self.over = False
        """It has come to a divergence that is known, and nothing more can be said."""

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Choose a configuration and make the instance; once the budget has ended, do nothing any more."""
        bench = self.bench
        self.oracle = bench.oracles.of(one_of(data, bench.configs))
        self.node = self.oracle.start
        self.ids = one_of(data, list(bench.maps)) if bench.maps else None
        if self.ids is not None:
            self.drawn_in = (self.oracle, self.node)
            self.oracle = bench.mapped.of(self.oracle.config)
            self.node = self.oracle.start
        if bench.ended_early or not bench.may_go_on():
            bench.ended_early = True
            return
        if not bench.asked:
            self._play()
        self.drawn.data = data
        config = self.oracle.config if self.drawn_in is None else self.drawn_in[0].config
        self.walk = generate.chooser(bench.component, config, self.drawn, injects=bench.injects)

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """One event of the component's walk; one in PLAIN is a plain word of the vocabulary."""
        if self.bench.ended_early or self.over:
            return
        self.drawn.data = data
        chosen = None
        if data.draw(st.integers(1, PLAIN), "plain") < PLAIN:
            chosen = self.walk(self.seen)
        self.take(chosen or self._plain(data))

    def _plain(self, data: st.DataObject) -> Wire:
        bench = self.bench
        return plain_event(data, bench.component, self.oracle.config, self.seen, injects=bench.injects)

    def take(self, event: Wire) -> None:
        """Give one event to both sides; raises DivergenceFound.

        Where rules are asked for, the implementation gets what came so far when the first of them fires.
        Where ids are mapped the event has small ones, and both sides get the mapped ones.
        """
        if self.bench.ended_early or self.over:
            return
        if self.ids is None or self.drawn_in is None:
            self._both(event)
            return
        small, node = self.drawn_in
        self.drawn_in = (small, small.step(node, event).after)
        for one in mapped_as_drawn(self.bench.component, event, self.ids):
            self._both(one)

    @property
    def seen(self) -> Wire:
        """The observable state that events are drawn in."""
        return (self.node if self.drawn_in is None else self.drawn_in[1]).observed

    def _both(self, event: Wire) -> None:
        bench = self.bench
        edge = self.oracle.step(self.node, event)
        self.node = edge.after
        self.waiting.append((event, edge))
        if not self.is_played and bench.asked.intersection(edge.rules):
            self._play()
        if self.is_played:
            for waited in self.waiting:
                self._give(*waited)
            self.waiting.clear()

    def _play(self) -> None:
        bench = self.bench
        made = bench.adapter.new(bench.component, self.oracle.config)
        if isinstance(made, FAILURES):
            raise NotDetermined(made)
        bench.played.cases += 1
        self.is_played = True

    def _give(self, event: Wire, edge: Edge) -> None:
        bench = self.bench
        if self.over:
            return
        self.events.append(event)
        answer = bench.adapter.apply([event])
        bench.played.steps += 1
        bench.played.tried.take(bench.component, self.oracle.config, self.events[-1:])
        bench.played.tried.longest = max(bench.played.tried.longest, len(self.events))
        bench.played.fired.update(edge.rules)
        judged = compare(self.oracle, self.events, edge, answer)
        bench.played.unseen |= judged.unseen
        if judged.stopped is not None:
            raise NotDetermined(judged.stopped)
        if judged.divergence is not None:
            self.over = bench.is_known(judged.divergence)
            if not self.over:
                raise DivergenceFound(judged.divergence)


class Run(NamedTuple):
    """What the examples of one machine came to."""

    played: Played
    skipped: list[str]
    ended_early: bool = False
    """The budget ended before the examples did."""


def run_machine(
    component: str,
    adapter: Adapter,
    seed: int,
    examples: int,
    *,
    steps: int = STEPS,
    pinned: Mapping[str, object] | None = None,
    may_go_on: Callable[[], bool] = lambda: True,
    is_known: Callable[[Divergence], bool] = lambda _: False,
    asked: Collection[str] = (),
    injects: bool = False,
    maps: tuple[IdMap, ...] = (),
) -> Run:
    """So many examples; the divergence, if there is one, is as Hypothesis shrank it.

    `may_go_on` is asked before each example; one that comes to a divergence that `is_known` ends there. With
    `asked`, only examples that exercise one of these rules are played. `maps`: each example has its ids
    mapped by one of them. Without `injects` no gate's task is triggered itself.
    """
    configs = generate.fitting(component, pinned or {})
    if not configs:
        return Run(Played(), [generate.why_not(component, pinned or {})])
    played = Played()
    kind: type[LockStepMachine] = type(f"{component.capitalize()}Machine", (LockStepMachine,), {})
    bench = kind.bench = _Bench(
        component,
        adapter,
        Oracles(component),
        configs,
        played,
        may_go_on,
        is_known,
        frozenset(asked),
        injects=injects,
        maps=maps,
        mapped=Oracles(component),
    )
    seeded = hypothesis.seed(seed)(kind)
    try:
        run_state_machine_as_test(
            seeded,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                database=None,
                deadline=None,
                verbosity=Verbosity.quiet,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
                report_multiple_bugs=False,
                print_blob=False,
            ),
        )
    except DivergenceFound as found:
        played.divergence = found.divergence
    except NotDetermined as ended:
        if isinstance(ended.failure, Unsupported):
            return Run(played, [ended.failure.why])
        played.stopped = ended.failure
    except Flaky as flaky:
        cause = _found_in(flaky)
        if cause is None:
            raise
        played.unrepeatable = cause
    return Run(played, [], bench.ended_early)


def _found_in(flaky: BaseException) -> Divergence | None:
    """The divergence that Hypothesis saw once and not again."""
    seen: list[BaseException] = [flaky]
    while seen:
        error = seen.pop()
        if isinstance(error, DivergenceFound):
            return error.divergence
        seen += list(getattr(error, "exceptions", ()))
        seen += [linked for linked in (error.__cause__, error.__context__) if linked is not None]
    return None
