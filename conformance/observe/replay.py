"""Replays one component of a run through the model, and compares the effects.

The log states the events of a component and its effects. The model receives the same events. The first event
that the model refuses, or answers with other effects, is rejected, and a rule is charged for it.
"""

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from conformance.adapters.protocol import canonical
from conformance.observe.lines.line import Line
from conformance.observe.record import Record, Seen
from conformance.refusals.refused_answer import RefusedAnswer
from model.components import COMPONENTS, Wire, WireError
from model.coordinator.shared_state import new_shared_state

Effects = list[dict[str, Any]]

CHARGED: Mapping[str, Any] = tomllib.loads(
    files("conformance.observe").joinpath("charged.toml").read_text(encoding="utf-8")
)
"""The rules that a rejection charges.

`effects`: by component and kind of effect, the rule of a missing or unexpected effect. `refusals`: by
component, the rule of an event that the model refuses. `due`: by kind of a line of a Flink log, the rule of
an expected line that does not come, or of a line that no earlier line explains.
"""


class Rejected(Exception):  # noqa: N818 - a finding about the trace, not a fault of ours
    """An event that the rules do not allow: the charged rules, and the condition that does not hold."""

    def __init__(self, rules: Sequence[str], why: str, refused: RefusedAnswer | None = None) -> None:
        super().__init__(why)
        self.rules = tuple(dict.fromkeys(rules))
        self.why = why
        self.refused = refused
        """The event with the logged effects, if the model refuses or contradicts them; else None."""


def unknown_effect(component: str, effect: dict[str, Any]) -> Rejected:
    """The rejection of an effect that no run can have."""
    why = (
        f"{component}: expected an effect that a run's trace can have, got {effect!r}; a newer log needs a "
        "newer barrierspec"
    )
    return Rejected((CHARGED["refusals"][component],), why)


class Instance:
    """One instance of a component of the model, with its current state."""

    __slots__ = ("_apply", "_observe", "component", "state")

    def __init__(self, component: str, config: Wire) -> None:
        model = COMPONENTS[component]
        self.component = component
        self.state: Any = model.new(config)
        self._apply = model.apply
        self._observe = model.observe

    def observe(self, state: object = None) -> dict[str, Any]:
        """The observable state in wire form: of `state` if it is given, else of the current one."""
        return self._observe(self.state if state is None else state)

    def describe(self, state: object = None) -> str:
        """The observable state in one line: of `state` if it is given, else of the current one."""
        return ", ".join(f"{name} {_plain(value)}" for name, value in self.observe(state).items())


class Replayed(Instance):
    """The model of one component, which replays the run's events. `record` receives each accepted step."""

    __slots__ = ("_record",)

    def __init__(self, component: str, config: Wire, record: Record | None = None) -> None:
        super().__init__(component, config)
        self._record = record

    def step(self, line: Line, event: Wire | None = None, effects: Effects | None = None) -> tuple[str, ...]:
        """Replay a line. Returns the rules that fired.

        `event` and `effects` replace those of the line. Raises Rejected if the model refuses the event or has
        other effects; the state then stays as it was.
        """
        event = line.event if event is None else event
        effects = line.effects if effects is None else effects
        refused = RefusedAnswer(self.component, self.state, event, effects)
        try:
            after, expected, rules = self._apply(self.state, event)
        except WireError as guard:
            why = f"{guard}; {self.component}: {self.describe()}"
            raise Rejected(self._rules_of_refusal(event), why, refused) from guard
        if not _same(expected, effects):
            raise Rejected(*self._difference(expected, effects, rules), refused)
        self.state = after
        if self._record is not None:
            self._record.seen.append(Seen(line, event, effects, rules, self.component, after))
        return rules

    def known(self, line: Line, handle: str | None = None) -> tuple[str, ...] | None:
        """Replay a line if its step is cached. Returns its rules, or None if the caller has to call `step`.

        This class has no cache. `handle`: the handle in the event, as a string.
        """
        del line, handle
        return None

    def answer(self, event: Wire) -> tuple[Effects, tuple[str, ...]]:
        """Apply an event whose effects the log does not state. Returns the model's effects and rules.

        Raises WireError if the model refuses the event.
        """
        self.state, effects, rules = self._apply(self.state, event)
        return effects, rules

    def bookmark(self) -> object:
        """A value for the current state, which `state_at` turns into this state at any later time."""
        return self.state

    def state_at(self, bookmark: object) -> Any:  # noqa: ANN401 - the type of the component's state
        """The state at that bookmark."""
        return bookmark

    def blocks(self, channel: int) -> bool:
        """Whether a gate blocks the channel."""
        return channel in self.observe()["blocked"]

    def _rules_of_refusal(self, event: Wire) -> tuple[str, ...]:
        if event.get("kind") == "restore":
            return ("ONCE-04",)
        if self.component == "sink" and event.get("kind") == "notify_complete":
            return ("SINK-03",)
        return (CHARGED["refusals"][self.component],)

    def _difference(
        self, expected: Effects, received: Effects, rules: tuple[str, ...]
    ) -> tuple[tuple[str, ...], str]:
        both = zip(expected, received, strict=False)
        shorter = min(len(expected), len(received))
        place = next((place for place, pair in enumerate(both) if not _same(*pair)), shorter)
        expected_effect, logged_effect = (
            [*effects, None][min(place, len(effects))] for effects in (expected, received)
        )
        first = [str(effect["kind"]) for effect in (logged_effect, expected_effect) if effect is not None]
        if len(expected) > len(received):
            first.reverse()  # an effect is missing: charge the rule of that effect
        of_effect = CHARGED["effects"][self.component]
        charged = [of_effect[kind] for kind in first if kind in of_effect]
        why = (
            f"effect {place + 1}: expected {_effect(expected_effect)}, the log has {_effect(logged_effect)}; "
            f"before it, {self.component}: {self.describe()}"
        )
        return (*charged[:1], *rules, *charged[1:]), why


class ReplayedCoordinator(Replayed):
    """A coordinator. It drops the handles when no checkpoint is pending and no shared file is known."""

    __slots__ = ()

    def step(self, line: Line, event: Wire | None = None, effects: Effects | None = None) -> tuple[str, ...]:
        """Replay a line, as in `Replayed`."""
        rules = super().step(line, event, effects)
        handles, inner = self.state.handles, self.state.coordinator
        if handles and not inner.pending and inner.shared == new_shared_state():
            self.state = self.state._replace(handles=())
        return rules


def _same(left: object, right: object) -> bool:
    """Whether two JSON values are equal. Unlike in Python, 1, 1.0 and true are three different values."""
    return left == right and canonical(left) == canonical(right)


def _effect(effect: Wire | None) -> str:
    if effect is None:
        return "nothing"
    fields = " ".join(f"{name}={_plain(value)}" for name, value in effect.items() if name != "kind")
    return f"{effect['kind']} {fields}".rstrip()


def _plain(value: object) -> str:
    if isinstance(value, list):
        return "[" + " ".join(_plain(one) for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_plain(one)}" for name, one in value.items()) + "}"
    return "none" if value is None else str(value)
