"""What the parts of one replay share: the survey, what happened, what was witnessed, the model's steps."""

from collections import deque
from typing import Any, NamedTuple

from conformance.observe.flink.order import Order
from conformance.observe.flink.reading import MOST_LINES
from conformance.observe.flink.situations import Witnessed
from conformance.observe.flink.survey import Survey
from conformance.observe.replay import RULE_OF_EFFECT, Rejected
from conformance.refusals.asked import Asked
from model.components import COMPONENTS, Wire, WireError

Effects = list[dict[str, Any]]
FIRST, LAST = 40, 16
"""So many steps of each part are kept from the first that names a checkpoint on, and so many of the last."""


class Taken(NamedTuple):
    """A step that the model has taken."""

    line: int
    """Of the log, from 1; what is inferred stands at the line that shows it."""
    event: Wire
    effects: Effects
    state: Any
    """As it stands afterwards."""
    rules: tuple[str, ...]


class Settings(NamedTuple):
    """What the log does not tell of the job's configuration, with Flink's defaults."""

    max_concurrent: int = 1
    """`execution.checkpointing.max-concurrent-checkpoints`"""
    retain: int = 1
    """`state.checkpoints.num-retained`"""
    most_lines: int = MOST_LINES
    """Lines of the protocol at most: each takes about 1 kB of memory."""


class Run:
    """What the parts of a replay have in common."""

    def __init__(self, survey: Survey, settings: Settings, order: Order) -> None:
        self.survey = survey
        self.settings = settings
        self.order = order
        self.happened = order.happened
        self.tolerated = order.tolerated
        self.witnessed = Witnessed()
        self.see = self.witnessed.see
        self.rules: set[str] = set()
        self.events = 0
        """How many events the model has replayed."""
        self.broadcast: set[int] = set()
        """Checkpoints whose barrier some task has sent."""
        self.snapshots: set[tuple[str, int]] = set()
        """Executions (by thread) and checkpoints whose synchronous part is done."""
        self.writing: set[tuple[str, int]] = set()
        """Executions (by thread) and checkpoints whose asynchronous part has started."""
        self.told_completed: set[int] = set()
        """Checkpoints of which the log has said that they completed."""
        self.job_over = False
        self.parts: list[Part] = []
        """Every part that was stepped, in the order of their beginnings."""
        self.asked: Part | None = None
        """The part that was asked last."""

    def tolerate(self, reordering: str) -> None:
        """Two threads told something the other way round: one of `REORDERINGS`."""
        self.tolerated[reordering] += 1


class Part:
    """One component of the model, stepped with wire events."""

    __slots__ = ("_apply", "_observe", "_run", "component", "config", "first", "last", "name", "state")

    def __init__(self, run: Run, component: str, name: str, config: Wire) -> None:
        model = COMPONENTS[component]
        self.component = component
        self.name = name
        self.config = config
        self.first: list[Taken] = []
        self.last: deque[Taken] = deque(maxlen=LAST)
        self.state: Any = model.new(config)
        self._apply = model.apply
        self._observe = model.observe
        self._run = run
        run.parts.append(self)

    def step(self, event: Wire, refused: str) -> Effects:
        """The effects of one event. Raises Rejected, charged to the rule `refused`, if it is none."""
        self._run.asked = self
        try:
            self.state, effects, rules = self._apply(self.state, event)
        except WireError as guard:
            asked = Asked(self.component, self.state, event, [])
            raise Rejected((refused,), f"{self.name}: {guard}; {self.describe()}", asked) from guard
        self._run.events += 1
        self._run.rules.update(rules)
        line = self._run.order.line
        taken = Taken(0 if line is None else line.number, event, effects, self.state, tuple(rules))
        if len(self.first) < FIRST and (self.first or _names_checkpoint(event, effects)):
            self.first.append(taken)
        self.last.append(taken)
        return effects

    def reject(self, kind: str, why: str, *further: str) -> Rejected:
        """The rejection charged to the rule of an effect of `kind`, with the state as the guard saw it."""
        self._run.asked = self
        rule = RULE_OF_EFFECT[self.component][kind]
        return Rejected((rule, *further), f"{why}; {self.name} stands at {self.describe()}")

    def seen(self, state: object = None) -> dict[str, Any]:
        """The observable state; of an earlier `state` if one is given."""
        return self._observe(self.state if state is None else state)

    def describe(self, state: object = None) -> str:
        """The observable state in one line; of an earlier `state` if one is given."""
        seen = self.seen(state)
        return ", ".join(f"{name} {_plain(value)}" for name, value in seen.items())


def _names_checkpoint(event: Wire, effects: Effects) -> bool:
    return any(type(word.get("checkpoint")) is int for word in (event, *effects))


def _plain(value: object) -> str:
    if isinstance(value, list):
        return "[" + " ".join(_plain(one) for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_plain(one)}" for name, one in value.items()) + "}"
    return "none" if value is None else str(value)
