"""The translation of a component of the adapter protocol into its TLA+ module.

A divergence that `conformance.vectors.tla.module` writes for TLC uses one `Binding`: the module and its
constants, the action of each event, and how events, effects and state fields are written in TLA+.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from conformance.adapters.protocol import Wire
from conformance.drive.oracle import Edge
from conformance.vectors.tla.text import Word, plain
from spec.manifest import load_manifest

Shown = Callable[..., Mapping[str, str]]
"""Translates an observed value into fields of the TLA+ record; the key "" is the whole record."""


class Binding(NamedTuple):
    """The translation for the configuration of one divergence. All expressions are text in TLA+."""

    component: str
    module: str
    state: str
    """The variable that holds the component; a step's result has it in a field of the same name."""
    constants: Mapping[str, object]
    """The constants of the model; a `Raw` is the name of an operator that replaces another one."""
    steps: Mapping[str, str]
    """By the kind of `event`: the expression of the step that the specification takes."""
    fields: Mapping[str, Shown]
    """By observed field: its translation. A difference in another field is written next to the effects."""
    rules: tuple[str, ...] = ()
    """The invariants and properties of the module that TLC checks on the replay."""
    guard: str = "TRUE"
    """The condition under which `event` is allowed."""
    environment: str = "TRUE"
    """The next values of the environment's variables."""
    initial: str = "Init"
    """The initial state."""
    extra_variables: Mapping[str, str] = {}
    """Further variables that a step's result has as fields, with their initial values."""
    prelude: str = ""
    """Definitions that the expressions use."""
    extends: str = ""
    """A further module that the replay extends; empty if there is none."""
    event: Callable[[Wire, Edge], Word] | None = None
    """The translation of an event into a tuple; None: its kind, then its fields."""
    effect: Callable[[Wire], Word] | None = None
    """The translation of an effect into a tuple; None: its kind, then its fields."""
    failure: Word | None = ("fail",)
    """The tuple of a failure, without its text; None: a failure is translated like any other effect."""

    def event_word(self, event: Wire, edge: Edge) -> Word:
        """The event as a tuple of the module's variable `out`."""
        return self.event(event, edge) if self.event else plain(self.component, event)

    def effect_word(self, effect: Wire) -> Word:
        """The effect as a tuple of the module's variable `out`."""
        if self.failure and effect["kind"] == "fail":
            return self.failure
        return self.effect(effect) if self.effect else plain(self.component, effect)


def rules_of(model: str, *but: str) -> tuple[str, ...]:
    """The statements that a model of the manifest checks, without `but` and those of the environment."""
    checked = load_manifest()[model].configuration.checked
    return tuple(name for name in checked if name not in ("TypeOK", "AllEffects", "Frame", *but))


def highest(events: Sequence[Wire], *names: str) -> int:
    """The greatest value of these fields in the events, at least 1."""
    return max([1, *(int(event[name]) for event in events for name in names if event.get(name) is not None)])
