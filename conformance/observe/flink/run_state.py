"""The state of one replay of a Flink log, which its parts share: survey, model steps, findings."""

from collections import deque
from collections.abc import Collection
from typing import Any, NamedTuple

from conformance.observe.flink.order import Order
from conformance.observe.flink.reading import MOST_LINES
from conformance.observe.flink.survey import Survey
from conformance.observe.replay import CHARGED, Effects, Instance, Rejected
from conformance.observe.situations import FLINK, Witnessed
from conformance.refusals.refused_answer import RefusedAnswer
from model.components import Wire, WireError

FIRST, LAST = 40, 16
"""The steps of each part that are kept: from the first that names a checkpoint on, and the last ones."""


class Taken(NamedTuple):
    """A step of the model."""

    line: int
    """Of the log, from 1; an inferred event has the line that shows it."""
    event: Wire
    effects: Effects
    state: Any
    """The state afterwards."""
    rules: tuple[str, ...]


class Settings(NamedTuple):
    """The job's configuration as far as the log does not show it, with Flink's defaults."""

    max_concurrent: int = 1
    """`execution.checkpointing.max-concurrent-checkpoints`"""
    retain: int = 1
    """`state.checkpoints.num-retained`"""
    most_lines: int = MOST_LINES
    """Maximum number of lines about the protocol: each takes about 1 kB of memory."""


class Run:
    """What the parts of a replay have in common."""

    def __init__(self, survey: Survey, settings: Settings, order: Order) -> None:
        self.survey = survey
        self.settings = settings
        self.order = order
        self.happened = order.happened
        self.tolerated = order.tolerated
        self.witnessed = Witnessed(FLINK)
        self.see = self.witnessed.see
        self.rules: set[str] = set()
        self.events = 0
        """The number of events that the model has replayed."""
        self.broadcast: set[int] = set()
        """The checkpoints whose barrier some task has sent."""
        self.snapshots: set[tuple[str, int]] = set()
        """Threads and the checkpoints whose synchronous part has ended."""
        self.writing: set[tuple[str, int]] = set()
        """Threads and the checkpoints whose asynchronous part has started."""
        self.written: set[tuple[str, int]] = set()
        """Threads and the checkpoints whose asynchronous part is logged as finished."""
        self.completion_logged: set[int] = set()
        """The checkpoints that the log has reported as completed."""
        self.job_over = False
        self.parts: list[Part] = []
        """Every part that was stepped, in the order of their first lines."""
        self.last_part: Part | None = None
        """The part that was stepped last."""

    def forget(self, below: int) -> None:
        """Drop what is known of checkpoints below that id."""
        self.broadcast = {one for one in self.broadcast if one >= below}
        self.completion_logged = {one for one in self.completion_logged if one >= below}
        self.snapshots = {one for one in self.snapshots if one[1] >= below}
        self.writing = {one for one in self.writing if one[1] >= below}
        self.written = {one for one in self.written if one[1] >= below}

    def drop(self, parts: "Collection[Part]") -> None:
        """Drop parts that take no further step."""
        self.parts = [one for one in self.parts if one not in parts]


class Part(Instance):
    """One component of the model, stepped with wire events."""

    __slots__ = ("_run", "config", "first", "last", "name")

    def __init__(self, run: Run, component: str, name: str, config: Wire) -> None:
        super().__init__(component, config)
        self.name = name
        self.config = config
        self.first: list[Taken] = []
        self.last: deque[Taken] = deque(maxlen=LAST)
        self._run = run
        run.parts.append(self)

    def step(self, event: Wire, rule: str) -> Effects:
        """The effects of one event. Raises Rejected, charged to `rule`, if the model refuses the event."""
        self._run.last_part = self
        try:
            self.state, effects, rules = self._apply(self.state, event)
        except WireError as guard:
            refused = RefusedAnswer(self.component, self.state, event, [])
            raise Rejected((rule,), f"{self.name}: {guard}; {self.describe()}", refused) from guard
        self._run.events += 1
        self._run.rules.update(rules)
        line = self._run.order.line
        taken = Taken(0 if line is None else line.number, event, effects, self.state, tuple(rules))
        names_checkpoint = any(type(one.get("checkpoint")) is int for one in (event, *effects))
        if len(self.first) < FIRST and (self.first or names_checkpoint):
            self.first.append(taken)
        self.last.append(taken)
        return effects

    def reject(self, kind: str, why: str, *further: str) -> Rejected:
        """The rejection for the rule of an effect of `kind`, with the state that the guard met."""
        self._run.last_part = self
        rule = CHARGED["effects"][self.component][kind]
        return Rejected((rule, *further), f"{why}; {self.name} is in the state {self.describe()}")
