"""What was read of a closed model: its shapes, and all of its moves as decision trees.

`model.checker.compiled.moves` makes a program, `model.checker.compiled.kernel_text` writes kernels of it,
and `symmetry` and `renaming` prove that some of its states need not be told apart.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import z3

from model.checker.bounds import Symmetry
from model.checker.closed_model import ClosedModel, Environment
from model.checker.compiled.packing import Layout
from model.checker.shapes import Field, Value
from model.checker.trees import Tree
from model.events import Effects, Event
from model.properties import Property


class Node(NamedTuple):
    """A node of the state graph."""

    state: Any
    environment: Environment


class Target(NamedTuple):
    """A record that a move leads to."""

    skeleton: Any
    fields: tuple[Field, ...]
    values: tuple[Value, ...]
    """Of its fields, in terms of the fields before it and of the event."""
    checked: tuple[int, ...]
    """The positions of fields that might leave their bounds."""


class Move(NamedTuple):
    """One path of an offer."""

    after: Target
    """State and environment."""
    said: Target | None
    """What is said, if that was asked."""
    rules: tuple[str, ...]
    broken: tuple[Tree, ...]
    """Trees of truths: where one is true, the move breaks a property."""


class Outside(NamedTuple):
    """A path that leaves the declared bounds whatever it does."""

    reason: str


class Offer(NamedTuple):
    """Events of one action that are offered under one condition."""

    action: str
    event: Event
    """With symbols for what varies."""
    ranges: tuple[Field, ...]
    """The symbols of the event, each with all values of its interval."""
    offered: Tree
    """A tree of truths over the state."""
    moves: Tree
    """Its leaves: a Move, an Outside, or None where the environment does not allow the event."""


class Program(NamedTuple):
    """All moves of a closed model."""

    closed: ClosedModel
    properties: tuple[Property, ...]
    interpreted: tuple[Property, ...]
    """Those of them that cannot be followed: they are to be evaluated on each state and step."""
    layout: Layout
    said: Layout | None
    """Of what is said, if that was asked."""
    offers: tuple[tuple[Offer, ...], ...]
    """By shape."""
    paths: int
    assumed: tuple[tuple[z3.BoolRef, ...], ...]
    """By shape: the state properties, which the moves are read upon."""
    symmetry: Symmetry | None = None
    """What is divided out (`model.checker.compiled.symmetry`)."""
    ids: tuple[str, ...] = ()
    """The names of fields whose values are known by their order alone (`model.checker.compiled.renaming`)."""

    def places_of_ids(self) -> tuple[int, ...]:
        """The positions of the fields that are known by their order, in the one shape."""
        shape = self.layout.shapes[0]
        return tuple(place for place in shape.varying if shape.fields[place].name in self.ids)

    def without_terms(self) -> "Program":
        """The same without its moves and what they are read upon: terms of z3 stay in their process."""
        return self._replace(offers=(), assumed=())

    @property
    def is_reduced(self) -> bool:
        """Some states stand for others too."""
        return self.symmetry is not None or bool(self.ids)

    @property
    def said_words(self) -> int:
        """How many words tell what is said; 0 if that was not asked."""
        return self.said.words if self.said is not None else 0


Words = Callable[[Event, Effects], Any]
"""What is said in a step, of what it was told and what it answered."""


def all_words(event: Event, effects: Effects) -> Any:  # noqa: ANN401 - a record of records
    """The event and all effects, as most models in TLA+ have them in `out`."""
    return (event, *effects)
