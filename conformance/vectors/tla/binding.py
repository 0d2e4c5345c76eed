"""How a component of the wire stands in its module of TLA+: its variable, its steps, events and effects."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from conformance.adapters.protocol import Wire
from conformance.drive.oracle import Edge
from conformance.vectors.tla.text import Word, plain
from spec.manifest import load_manifest

Shown = Callable[..., Mapping[str, str]]
"""Of an observed field its value in TLA+, as fields of the component; the whole of it stands under ``."""


class Binding(NamedTuple):
    """How a component stands in its module, under the configuration of one divergence."""

    component: str
    module: str
    state: str
    """The variable that holds the component, and the field of a step that does."""
    constants: Mapping[str, object]
    """The values in the configuration; a `Raw` is the name of an operator put in the place of another."""
    takes: Mapping[str, str]
    """By the event's kind, the step of the specification."""
    shows: Mapping[str, Shown]
    """By the observed field; a difference in any other is written beside the effects."""
    rules: tuple[str, ...] = ()
    """The definitions of the module that are checked: those that hold of every run that fits in here."""
    allows: str = "TRUE"
    """When `event` may come."""
    others: str = "TRUE"
    """What happens to the variables of the environment."""
    begins: str = "Init"
    carried: Mapping[str, str] = {}
    """Further variables that a step has as fields, with their first values."""
    prelude: str = ""
    """Definitions that the steps need."""
    extends: str = ""
    """A further module."""
    event: Callable[[Wire, Edge], Word] | None = None
    """An event as the module has it; None: its kind, then its fields."""
    effect: Callable[[Wire], Word] | None = None
    """An effect as the module has it; None: its kind, then its fields."""
    failure: Word | None = ("fail",)
    """The module's word for a failure, whose text nobody compares; None: a failure is as any other effect."""

    def event_word(self, event: Wire, edge: Edge) -> Word:
        """An event as `out` of the module has it."""
        return self.event(event, edge) if self.event else plain(self.component, event)

    def effect_word(self, effect: Wire) -> Word:
        """An effect as `out` of the module has it."""
        if self.failure and effect["kind"] == "fail":
            return self.failure
        return self.effect(effect) if self.effect else plain(self.component, effect)


def rules_of(model: str, *but: str) -> tuple[str, ...]:
    """What a model of the manifest checks, `but` those definitions that only its environment makes true."""
    checked = load_manifest()[model].configuration.checked
    return tuple(name for name in checked if name not in ("TypeOK", *but))


def highest(events: Sequence[Wire], *names: str) -> int:
    """The greatest of these fields of the events; 1 if there is none."""
    return max([1, *(int(event[name]) for event in events for name in names if event.get(name) is not None)])
