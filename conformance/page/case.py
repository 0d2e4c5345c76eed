"""A case for the page: each step with the expected and the actual answer.

`witness` sends the events to the implementation once more, one at a time, because a run in batches receives
only some of its states. The last step of a divergence is not sent again; it keeps the recorded answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from conformance.adapters.protocol import FAILURES, Adapter, Applied, Errored, Failure, Wire
from conformance.diagram.elements import Diagram
from conformance.divergence import Answer, Divergence
from conformance.drive.lockstep import drawn, replay
from conformance.drive.oracle import Edge, Oracle
from conformance.drive.plan import Plan
from conformance.generators import generate
from conformance.report.divergence.refusal import Refusal
from conformance.rules.coverage import rules_that_fire

SAMPLES, SAMPLE_LENGTH = 24, 16
"""Without a divergence, the page shows one sample. Of the first `SAMPLES` random cases, cut after
`SAMPLE_LENGTH` events, it is the case in which most rules fire."""


@dataclass(frozen=True)
class Step:
    """One event, with the expected and the actual answer."""

    component: str
    event: Wire
    expected: Answer
    got: Answer | Failure | None
    """None if it is not known. If a field is missing, nothing is known about that field."""
    rules: tuple[str, ...]
    """The rules that fired in the model."""
    place: str = ""
    """The file and line of the event, if it was read from a file: `1-count-0.jsonl:12`."""
    task: str = ""
    """The task of the event, in a run of several tasks."""


@dataclass(frozen=True)
class Case:
    """A sequence of steps with its picture and its texts."""

    title: str
    under: str
    """The subject of the case: implementation, component and configuration, or the log."""
    steps: tuple[Step, ...]
    diagram: Diagram
    rule: str | None = None
    """The rule that is charged at the last step."""
    is_wrong: bool = False
    """Whether the answers of the two sides differ at the last step."""
    sentences: str = ""
    """The difference, in plain words."""
    refusal: Refusal | None = None
    waiting: tuple[str, ...] = ()
    """Other events of the logs that wait for their cause when the last step is replayed."""
    commands: tuple[tuple[str, str], ...] = ()
    """A command and its purpose."""
    is_recorded: bool = False
    """Whether the steps come from a log, which has effects and no state."""
    note: str = ""

    @property
    def left(self) -> str:
        """The name of the side that gives the expected answers."""
        return "model"

    @property
    def right(self) -> str:
        """The name of the side whose answers are checked."""
        return "log" if self.is_recorded else "implementation"


def witness(adapter: Adapter, component: str, config: Wire, events: Sequence[Wire]) -> tuple[Step, ...]:
    """The steps of a case. Sends each event to the implementation, until it fails to answer one."""
    oracle = Oracle(component, config)
    edges = oracle.transcript(events)
    made = adapter.new(component, config)
    lost: Failure | None = made if isinstance(made, FAILURES) else None
    steps = []
    for event, edge in zip(events, edges, strict=True):
        got: Answer | Failure | None = None
        if lost is None:
            answer = adapter.apply([event])
            got = _taken(answer, edge)
            lost = got if isinstance(got, FAILURES) else None
        expected = Answer(edge.effects, edge.after.observed, edge.refused)
        steps.append(Step(component, event, expected, got, edge.rules))
    return tuple(steps)


def steps_of(divergence: Divergence, adapter: Adapter) -> tuple[Step, ...]:
    """The steps of a divergence. The last step has the recorded answer."""
    seen = witness(adapter, divergence.component, divergence.config, divergence.events[:-1])
    last = Step(divergence.component, divergence.event, divergence.expected, divergence.got, divergence.rules)
    return (*seen, last)


def sample(
    component: str, adapter: Adapter, plan: Plan, pinned: Wire, *, injects: bool = False
) -> tuple[Wire, tuple[Step, ...]] | None:
    """The configuration and the steps of the sample (see `SAMPLES`).

    None if the component has no case, or if the case stops early or diverges when it is played.
    """
    known = set(rules_that_fire(component))
    found: list[tuple[int, int, Wire, list[Wire]]] = []
    for config, rng in islice(generate.cases(component, plan.seed, pinned), SAMPLES):
        oracle = Oracle(component, config)
        choose = generate.chooser(component, config, rng, injects=injects)
        events, fired = drawn(oracle, choose, SAMPLE_LENGTH)
        found.append((len(fired & known), -len(found), config, events))
    if not found:
        return None
    _, _, config, events = max(found, key=lambda one: one[:2])
    if not events:
        return None
    played = replay(Oracle(component, config), adapter, events)
    if played.stopped is not None or played.divergence is not None:  # a known divergence: no sample
        return None
    return config, witness(adapter, component, config, events)


def _taken(answer: Applied | Failure, edge: Edge) -> Answer | Failure:
    if isinstance(answer, Applied):
        return Answer(answer.effects[0], answer.state)
    if isinstance(answer, Errored) and edge.refused is not None:
        return Answer((), {}, answer.what)
    return answer
