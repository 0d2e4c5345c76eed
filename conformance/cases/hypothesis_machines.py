"""Hypothesis state machines as a source of cases, one for each component. Hypothesis shrinks failing runs.

The events are those of the component's random walk, with random numbers that Hypothesis draws, varies and
shrinks. The seed alone decides a run; there is no example database. With selected rules, Hypothesis runs only
the model while it draws an example, until one of the rules fires.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from conformance.adapters.protocol import FAILURES, Adapter, Failure, Hung, Unsupported, Wire
from conformance.cases.hypothesis_draws import DrawnRandom, one_of, plain_event, without_local_constants
from conformance.divergence import Divergence
from conformance.drive.bounds.values import ValueMap
from conformance.drive.crashes import Crashes
from conformance.drive.lockstep import Instance, Played
from conformance.drive.loop import Limits
from conformance.drive.oracle import Node, Oracle, Oracles
from conformance.generators import generate
from conformance.generators.chooser import Chooser

STEPS = 40
"""Maximum number of events in one example."""
PLAIN = 8
"""One in this number of events is drawn from the vocabulary alone."""


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


class Source(NamedTuple):
    """The seed and the other settings that determine the examples of a machine."""

    seed: int
    examples: int
    limits: Limits = Limits()
    """The budget is checked before each example. Each event is sent in a separate request."""
    pinned: Mapping[str, object] = MappingProxyType({})
    """Only configurations that have these values."""
    selected: frozenset[str] = frozenset()
    """Only examples that exercise one of these rules are played; empty: all."""
    injects: bool = False
    """Whether a gate gets the event `inject`, too."""
    maps: tuple[ValueMap, ...] = ()
    """Each example has its values mapped by one of these; empty: the drawn values are sent."""
    steps: int = STEPS
    """The number of events of one example at most."""


@dataclass
class _Setting:
    """The data that all examples of a run share."""

    component: str
    adapter: Adapter
    configs: list[Wire]
    source: Source
    total: Played
    oracles: Oracles
    mapped: Oracles
    """The oracles of mapped events."""
    cut_before: Crashes | None
    """The known crashes at the beginning: Hypothesis needs the same example to end at the same event."""


class LockStepMachine(RuleBasedStateMachine):
    """One example: a new instance, and the model. Each run makes a subclass with a `setting`."""

    setting: _Setting

    def __init__(self) -> None:
        super().__init__()
        self.oracle: Oracle
        self.drawn: list[Wire] = []
        """The events that were drawn and not yet sent to the implementation."""
        self.instance: Instance | None = None
        self.drawn_in: tuple[Oracle, Node] | None = None
        """If values are mapped: the oracle and the state with small values, for which events are drawn."""
        self.random = DrawnRandom()
        self.walk: Chooser
        """The component's source of events, whose random numbers are drawn."""
        self.is_over = False
        """Whether no further event is sent: after the budget, a hang or a known divergence."""

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Choose a configuration and make the instance. Does nothing if the budget has ended."""
        setting, source = self.setting, self.setting.source
        self.oracle = setting.oracles.of(one_of(data, setting.configs))
        self.node = self.oracle.start
        self.values = one_of(data, list(source.maps)) if source.maps else None
        if self.values is not None:
            self.drawn_in = (self.oracle, self.node)
            self.oracle = setting.mapped.of(self.values.config(setting.component, self.oracle.config))
            self.node = self.oracle.start
        total = setting.total
        total.ended_early = total.ended_early or not source.limits.may_go_on()
        self.is_over = total.ended_early or total.hung is not None
        if self.is_over:
            return
        if not source.selected:
            self._play()
        self.random.data = data
        self.walk = generate.chooser(setting.component, self.config, self.random, injects=source.injects)
        for one in self.values.opening(setting.component, self.config) if self.values is not None else ():
            self._both(one)

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """Take one event of the component's walk; one in PLAIN events is any event of the vocabulary."""
        if self.is_over:
            return
        self.random.data = data
        chosen = self.walk(self.seen) if data.draw(st.integers(1, PLAIN), "plain") < PLAIN else None
        self.take(chosen or self._plain(data))

    def _plain(self, data: st.DataObject) -> Wire:
        setting = self.setting
        injects = setting.source.injects
        return plain_event(data, setting.component, self.config, self.seen, injects=injects)

    def take(self, event: Wire) -> None:
        """Give one event to both sides. Raises DivergenceFound, or NotDetermined if there is no answer.

        With selected rules the implementation gets all events so far when the first of these rules fires.
        If values are mapped, `event` has small values, and both sides get the event with mapped values.
        """
        if self.is_over:
            return
        if self.values is None or self.drawn_in is None:
            self._both(event)
            return
        small, node = self.drawn_in
        self.drawn_in = (small, small.step(node, event).after)
        for one in self.values.event(self.setting.component, small.config, event):
            self._both(one)

    @property
    def config(self) -> Wire:
        """The configuration that events are drawn for."""
        return (self.oracle if self.drawn_in is None else self.drawn_in[0]).config

    @property
    def seen(self) -> Wire:
        """The observable state that events are drawn in."""
        return (self.node if self.drawn_in is None else self.drawn_in[1]).observed

    def teardown(self) -> None:
        """Count the played example."""
        if self.instance is not None:
            played, self.instance = self.instance.end(), None
            played.divergence = None  # `_judge` has raised it, and each failure but a hang
            played.stopped = played.stopped if played.hung is not None else None
            played.origins["hypothesis"] = played.cases
            self.setting.total.add(played)

    def _both(self, event: Wire) -> None:
        edge = self.oracle.step(self.node, event)
        self.node = edge.after
        self.drawn.append(event)
        if self.instance is None and self.setting.source.selected.intersection(edge.rules):
            self._play()
        while self.instance is not None and self.drawn and not self.is_over:
            event, cut = self.drawn.pop(0), self.setting.cut_before
            if cut is not None and self.instance.is_cut_before(event, cut):
                self.is_over = True
                break
            self.instance.take(event)
            self.instance.settle()
            self._judge(self.instance.found)

    def _play(self) -> None:
        instance = Instance(self.oracle, self.setting.adapter)
        if isinstance(instance.found, FAILURES):
            raise NotDetermined(instance.found)
        self.instance = instance

    def _judge(self, found: Divergence | Failure | None) -> None:
        if isinstance(found, Hung):  # the examples that follow end at once
            self.is_over = True
        elif isinstance(found, FAILURES):
            raise NotDetermined(found)
        if isinstance(found, Divergence):
            limits = self.setting.source.limits
            self.is_over = limits.is_known(found)
            if self.is_over and limits.crashes is not None:
                limits.crashes.meet(found)
            if not self.is_over:
                raise DivergenceFound(found)


def run_machine(component: str, adapter: Adapter, source: Source, total: Played | None = None) -> Played:
    """Play the examples, and return `total` with their outcomes. Hypothesis shrinks a divergence."""
    total = Played() if total is None else total
    configs = generate.fitting(component, source.pinned)
    if not configs:
        total.skipped.append(generate.why_not(component, source.pinned))
        return total
    kind: type[LockStepMachine] = type(f"{component.capitalize()}Machine", (LockStepMachine,), {})
    crashes = source.limits.crashes and source.limits.crashes.copy()
    kind.setting = _Setting(
        component, adapter, configs, source, total, Oracles(component), Oracles(component), crashes
    )
    try:
        with without_local_constants():
            run_state_machine_as_test(
                hypothesis.seed(source.seed)(kind),
                settings=settings(
                    max_examples=source.examples,
                    stateful_step_count=source.steps,
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
        total.divergence = found.divergence
    except NotDetermined as ended:
        if isinstance(ended.failure, Unsupported):
            total.skipped.append(ended.failure.why)
        else:
            total.stopped = ended.failure
    except Flaky as flaky:
        cause = _found_in(flaky)
        if cause is None:
            raise
        total.unrepeatable = cause
    finally:
        del kind.setting  # a class is in a cycle, and its oracles hold large graphs
    return total


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
