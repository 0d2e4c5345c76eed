"""One component of a run, replayed through the model: the same event, and what was answered.

The log says what a component was given and what it said. The model is given the same; if it refuses the
event, or says something else, the first difference is the rejection, and a rule is charged for it.
"""

from collections.abc import Sequence
from typing import Any

from conformance.adapters.protocol import canonical
from conformance.observe.eventlog import Line
from conformance.observe.record import Record, Seen
from conformance.refusals.asked import Asked
from model.components import COMPONENTS, Wire, WireError

Effects = list[dict[str, Any]]

RULE_OF_EFFECT: dict[str, dict[str, str]] = {
    "gate": {"block": "ALIGN-02", "resume": "ALIGN-06", "trigger": "ALIGN-05", "abort": "ALIGN-18"},
    "subtask": {
        "broadcast_barrier": "TASK-01",
        "snapshot": "TASK-01",
        "broadcast_cancel": "TASK-03",
        "acknowledge": "TASK-07",
        "decline": "TASK-08",
        "cancel_async": "TASK-05",
        "notify_complete": "TASK-06",
        "notify_abort": "TASK-05",
    },
    "coordinator": {
        "trigger_task": "COORD-04",
        "rejected": "COORD-01",
        "acknowledged": "COORD-05",
        "complete": "COORD-07",
        "abort": "COORD-09",
        "discard": "SUB-09",
        "notify_complete": "COORD-08",
        "notify_abort": "COORD-09",
        "notify_subsumed": "COORD-08",
        "restored": "ONCE-04",
    },
    "store": {"discard": "SUB-09", "subsumed": "SUB-09", "latest": "SUB-06"},
    "sink": {
        "write": "SINK-01",
        "begin": "SINK-01",
        "pre_commit": "SINK-02",
        "commit": "SINK-03",
        "abort_transaction": "SINK-06",
    },
}
"""The rule that an effect stands under: charged first where it is said and not expected, or missing."""

_RULE_OF_REFUSAL = {
    "gate": "ALIGN-13",
    "subtask": "TASK-02",
    "coordinator": "COORD-12",
    "store": "SUB-06",
    "sink": "SINK-02",
}


class Rejected(Exception):  # noqa: N818 - a finding about the trace, not a fault of ours
    """An event that no rule allows: the rules charged, and the guard that refused it in plain words."""

    def __init__(self, rules: Sequence[str], why: str, asked: Asked | None = None) -> None:
        super().__init__(why)
        self.rules = tuple(dict.fromkeys(rules))
        self.why = why
        self.asked = asked
        """What was asked of the model, where the model itself refused it."""


def unknown_effect(component: str, effect: dict[str, Any]) -> Rejected:
    """The rejection of an effect of which nobody has said what it means for a run."""
    why = (
        f"{component}: expected an effect that a run's trace can have, came {effect!r}; a newer log takes a "
        "newer barrierspec"
    )
    return Rejected((_RULE_OF_REFUSAL[component],), why)


class Replayed:
    """The model of one component instance, beside the run's."""

    __slots__ = ("_apply", "_observe", "_record", "component", "state")

    def __init__(self, component: str, config: Wire, record: Record | None = None) -> None:
        """`record` gets every step that agrees."""
        self.component = component
        self._record = record
        model = COMPONENTS[component]
        self.state = model.new(config)
        self._apply = model.apply
        self._observe = model.observe

    def step(self, line: Line, event: Wire | None = None, effects: Effects | None = None) -> tuple[str, ...]:
        """Replay a line: the rules that fired. `event` and `effects` stand in for the line's own.

        Raises Rejected, and the state is as before.
        """
        given = line.event if event is None else event
        said = line.effects if effects is None else effects
        try:
            after, expected, rules = self._apply(self.state, given)
        except WireError as refused:
            asked = Asked(self.component, self.state, given, said)
            raise Rejected(self._refusal_rules(given), f"{refused}; {self.describe()}", asked) from refused
        if not _same(expected, said):
            asked = Asked(self.component, self.state, given, said)
            raise Rejected(*self._difference(expected, said, rules), asked)
        self.state = after
        if self._record is not None:
            self._record.seen.append(Seen(line, given, said, rules, self.component, after))
        return rules

    def observe(self) -> dict[str, Any]:
        """The observable state in wire form."""
        return self._observe(self.state)

    def describe(self) -> str:
        """The component and its observable state in one line."""
        state = ", ".join(f"{name} {_plain(value)}" for name, value in self.observe().items())
        return f"{self.component}: {state}"

    def _refusal_rules(self, event: Wire) -> tuple[str, ...]:
        if event.get("kind") == "restore":
            return ("ONCE-04",)
        if self.component == "sink" and event.get("kind") == "notify_complete":
            return ("SINK-03",)
        return (_RULE_OF_REFUSAL[self.component],)

    def _difference(
        self, expected: Effects, said: Effects, rules: tuple[str, ...]
    ) -> tuple[tuple[str, ...], str]:
        place = next(
            (
                position
                for position, (left, right) in enumerate(zip(expected, said, strict=False))
                if not _same(left, right)
            ),
            min(len(expected), len(said)),
        )
        wanted = expected[place] if place < len(expected) else None
        got = said[place] if place < len(said) else None
        of_effect = RULE_OF_EFFECT[self.component]
        first = [str(effect["kind"]) for effect in (got, wanted) if effect is not None]
        if len(expected) > len(said):
            first.reverse()  # something is missing: charge what should be there
        charged = [of_effect[kind] for kind in first if kind in of_effect]
        why = (
            f"effect {place + 1}: expected {_effect(wanted)}, the log has {_effect(got)}; "
            f"before it, {self.describe()}"
        )
        return (*charged[:1], *rules, *charged[1:]), why


def _same(left: object, right: object) -> bool:
    """As JSON values, of which 1, 1.0 and true are three."""
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
