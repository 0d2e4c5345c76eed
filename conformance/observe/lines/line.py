"""One line of an event log, in two forms: parsed, or known by its shape and parsed when a field is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

KnownEffect = tuple[str, int | None, Any, Mapping[str, Any]]
"""An effect: its kind, its checkpoint relative to the line's base, its absolute checkpoint, and its fields.

The absolute checkpoint is valid only if the relative one is None. In a shape, the fields for ids hold marks
(`shape.MARK`) instead of numbers, so a caller reads only the other fields.
"""
NO_CHECKPOINT = -1
"""Stands for the checkpoint of an effect without one."""


@dataclass(frozen=True, slots=True, eq=False)  # reading its fields is faster than those of a named tuple
class Shape:
    """The common part of lines with the same text, except that all ids are greater by the same number."""

    number: int
    """Identifies the shape."""
    component: str
    kind: str
    event: Mapping[str, Any]
    """The event without the fields that hold ids."""
    has_checkpoint: bool
    """Whether the event's checkpoint is the base of the line. If not, it is in `event`, or there is none."""
    completed: int | None
    """The event's field `completed` relative to the base; None if it is in `event`, or there is none."""
    known_effects: tuple[KnownEffect, ...]
    kinds: tuple[str, ...]
    """The kinds of the effects."""
    has_state: bool
    """Whether the event has a field `state`. Its value is no part of the shape."""
    has_ids: bool
    """Whether some checkpoint is relative to the base."""
    has_transactions: bool
    """Whether some transaction is relative to the line's first transaction."""
    has_number: bool
    """Whether a field other than `channel` has a number that is not relative, a list or an object, or an
    effect has a `state`. A coordinator's field `ms` does not count."""


class Line:
    """An event of `component` with its effects. If `component` is None, an event of the runtime."""

    __slots__ = ("attempt", "component", "effects", "event", "fields", "number")

    shape: Shape | None = None
    """Set if the line is known by its shape."""

    number: int
    """The number of the line, from 1."""
    attempt: int
    component: str | None
    event: dict[str, Any]
    effects: list[dict[str, Any]]
    fields: dict[str, Any]
    """The whole object, with all recorded fields."""

    def __init__(
        self,
        number: int,
        attempt: int,
        component: str | None,
        event: dict[str, Any],
        effects: list[dict[str, Any]],
        fields: dict[str, Any],
    ) -> None:
        self.number = number
        self.attempt = attempt
        self.component = component
        self.event = event
        self.effects = effects
        self.fields = fields

    @property
    def kind(self) -> str:
        """The kind of the event, of a component or of the runtime."""
        return str((self.event if self.component else self.fields)["kind"])

    @property
    def checkpoint(self) -> Any:  # noqa: ANN401 - what the log has
        """The checkpoint of the event; None if it names none."""
        return self.event.get("checkpoint")

    @property
    def completed(self) -> Any:  # noqa: ANN401 - what the log has
        """The field `completed` of the event; -1 without one."""
        return self.event.get("completed", NO_CHECKPOINT)

    @property
    def further(self) -> Mapping[str, Any]:
        """The recorded fields, without those that every line has."""
        return self.fields

    @property
    def given(self) -> Mapping[str, Any]:
        """The event. If the line is known by its shape, the fields that hold ids are missing."""
        return self.event

    @property
    def base(self) -> int:
        """The checkpoint id that is added to relative ids of the effects; 0 for a parsed line."""
        return 0

    @property
    def transaction(self) -> int:
        """The transaction that is added to relative transactions of the effects; 0 for a parsed line."""
        return 0

    @property
    def known_effects(self) -> Sequence[KnownEffect]:
        """The effects."""
        return [
            (effect["kind"], None, effect.get("checkpoint", NO_CHECKPOINT), effect) for effect in self.effects
        ]

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of the effects."""
        return [effect["kind"] for effect in self.effects]


class ShapedLine(Line):
    """A line of a known shape. Its fields are parsed again each time that they are read.

    `Shapes` sets the attributes: a call of a constructor would take a tenth of the time of a whole line.
    """

    __slots__ = ("base", "further", "kind", "shape", "state", "text", "transaction")

    shape: Shape
    kind: str
    base: int
    """The first id in the line; 0 if it has none."""
    transaction: int
    """The first transaction in the line; 0 if it has none."""
    state: object
    """The `state` of the event; None if it has none."""
    further: Mapping[str, Any]

    text: bytes

    @property
    def fields(self) -> dict[str, Any]:  # type: ignore[override]
        """The whole object."""
        found: dict[str, Any] = orjson.loads(self.text)
        return found

    @property
    def event(self) -> dict[str, Any]:  # type: ignore[override]
        """The event."""
        found: dict[str, Any] = self.fields["event"]
        return found

    @property
    def effects(self) -> list[dict[str, Any]]:  # type: ignore[override]
        """The effects."""
        found: list[dict[str, Any]] = self.fields["effects"]
        return found

    @property
    def checkpoint(self) -> Any:  # noqa: ANN401 - what the log has
        """The checkpoint of the event; None if it names none."""
        return self.base if self.shape.has_checkpoint else self.shape.event.get("checkpoint")

    @property
    def completed(self) -> Any:  # noqa: ANN401 - what the log has
        """The field `completed` of the event; -1 without one."""
        relative = self.shape.completed
        return self.shape.event.get("completed", NO_CHECKPOINT) if relative is None else self.base + relative

    @property
    def given(self) -> Mapping[str, Any]:
        """The event without the fields that hold ids."""
        return self.shape.event

    @property
    def known_effects(self) -> Sequence[KnownEffect]:
        """The effects."""
        return self.shape.known_effects

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of the effects."""
        return self.shape.kinds
