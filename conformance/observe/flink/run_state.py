"""The state of one replay of a Flink log, which its parts share: survey, steps of the model, situations."""

from collections import deque
from collections.abc import Collection
from typing import Any, NamedTuple

from conformance.observe.flink.order import Order
from conformance.observe.flink.reading import MOST_LINES
from conformance.observe.flink.survey import Survey
from conformance.observe.memo import replayed
from conformance.observe.replay import CHARGED, Effects, Rejected, Replayed
from conformance.observe.situations import FLINK, Witnessed
from conformance.refusals.refused_answer import RefusedAnswer
from model.components import Wire, WireError

FIRST, LAST = 40, 16
"""Each part keeps FIRST steps, from the first one that names a checkpoint on, and its last LAST steps."""


class Taken(NamedTuple):
    """A step of the model."""

    line: int
    """The number of the log's line, from 1. An inferred event has the line from which it is inferred."""
    event: Wire
    effects: Effects
    bookmark: object
    """The bookmark of the state afterwards."""
    rules: tuple[str, ...]


class Settings(NamedTuple):
    """The options of the job's configuration that the log does not show, with Flink's defaults."""

    max_concurrent: int = 1
    """`execution.checkpointing.max-concurrent-checkpoints`"""
    retain: int = 1
    """`state.checkpoints.num-retained`"""
    most_lines: int = MOST_LINES
    """Maximum number of lines about the protocol: each takes about 1 kB of memory."""


class Run:
    """The state that the parts of a replay share."""

    def __init__(self, survey: Survey, settings: Settings, order: Order, *, remember: bool = True) -> None:
        """`remember`: whether steps of the model are cached (`conformance.observe.memo`)."""
        self.remember = remember
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
        """All parts, in the order in which they were made."""
        self.last_part: Part | None = None
        """The part that took the last step."""

    def forget(self, below: int) -> None:
        """Drop all data about checkpoints below that id."""
        self.broadcast = {one for one in self.broadcast if one >= below}
        self.completion_logged = {one for one in self.completion_logged if one >= below}
        self.snapshots = {one for one in self.snapshots if one[1] >= below}
        self.writing = {one for one in self.writing if one[1] >= below}
        self.written = {one for one in self.written if one[1] >= below}

    def drop(self, parts: "Collection[Part]") -> None:
        """Drop parts that take no further step."""
        self.parts = [one for one in self.parts if one not in parts]


class Part:
    """One component of the model, with its steps. It receives events in wire form."""

    __slots__ = ("_model", "_run", "component", "config", "first", "last", "name")

    def __init__(self, run: Run, component: str, name: str, config: Wire) -> None:
        self.component = component
        self.name = name
        self.config = config
        self.first: list[Taken] = []
        self.last: deque[Taken] = deque(maxlen=LAST)
        self._model = (replayed if run.remember else Replayed)(component, config)
        self._run = run
        run.parts.append(self)

    @property
    def state(self) -> Any:  # noqa: ANN401 - the type of the component's state
        """The state of the component."""
        return self._model.state

    @state.setter
    def state(self, state: Any) -> None:  # noqa: ANN401 - the type of the component's state
        self._model.state = state

    def bookmark(self) -> object:
        """A bookmark of the current state for `observe` and `describe`."""
        return self._model.bookmark()

    def observe(self, bookmark: object = None) -> dict[str, Any]:
        """The observable state in wire form: the current one, or that of a bookmark."""
        return self._model.observe(None if bookmark is None else self._model.state_at(bookmark))

    def describe(self, bookmark: object = None) -> str:
        """The observable state in one line: the current one, or that of a bookmark."""
        return self._model.describe(None if bookmark is None else self._model.state_at(bookmark))

    def blocks(self, channel: int) -> bool:
        """Whether a gate blocks the channel."""
        return self._model.blocks(channel)

    def step(self, event: Wire, rule: str) -> Effects:
        """Apply one event. Returns its effects. Raises Rejected with `rule` if the model refuses it."""
        run, model = self._run, self._model
        run.last_part = self
        try:
            effects, rules = model.answer(event)
        except WireError as guard:
            refused = RefusedAnswer(self.component, model.state, event, [])
            raise Rejected((rule,), f"{self.name}: {guard}; {self.describe()}", refused) from guard
        run.events += 1
        run.rules.update(rules)
        line = run.order.line
        taken = Taken(0 if line is None else line.number, event, effects, model.bookmark(), rules)
        if len(self.first) < FIRST and (self.first or _names_checkpoint(event, effects)):
            self.first.append(taken)
        self.last.append(taken)
        return effects

    def reject(self, kind: str, why: str, *further: str) -> Rejected:
        """Return the rejection that charges the rule of an effect of `kind`, with the current state."""
        self._run.last_part = self
        rule = CHARGED["effects"][self.component][kind]
        return Rejected((rule, *further), f"{why}; {self.name} is in the state {self.describe()}")


def _names_checkpoint(event: Wire, effects: Effects) -> bool:
    return any(type(one.get("checkpoint")) is int for one in (event, *effects))
