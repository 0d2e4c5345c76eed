"""A program: the shapes of a closed model, and all of its moves as decision trees.

`model.checker.compiled.moves` makes a program, `model.checker.compiled.kernel_text` writes kernels of it, and
`symmetry` and `renaming` prove that some of its states are equivalent.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import z3

from model.checker.bounds import Symmetry
from model.checker.closed_model import ClosedModel, Environment
from model.checker.compiled.packing import Layout
from model.checker.decision_trees import Tree
from model.checker.shapes import Field, Value
from model.events import Effects, Event
from model.properties import Property


class Node(NamedTuple):
    """A node of the state graph."""

    state: Any
    environment: Environment


class Target(NamedTuple):
    """The state with the environment, or the label, after a move: its shape, and the values of its fields."""

    skeleton: Any
    fields: tuple[Field, ...]
    values: tuple[Value, ...]
    """The values of its fields, as terms over the fields before the move and over the event."""
    checked: tuple[int, ...]
    """The positions of fields that might leave their bounds."""


class Move(NamedTuple):
    """One path of the step that an `Offer` takes."""

    after: Target
    """The state and the environment after the move."""
    label: Target | None
    """The label of the move, if labels are requested."""
    rules: tuple[str, ...]
    broken: tuple[Tree, ...]
    """Decision trees with boolean leaves: if one is true, the move breaks a property."""


class Outside(NamedTuple):
    """A path that leaves the declared bounds in every case."""

    reason: str


class Offer(NamedTuple):
    """Events of one action that are offered under one condition."""

    action: str
    event: Event
    """One event, with symbols for the values that vary."""
    ranges: tuple[Field, ...]
    """The symbols of the event, each with all values of its interval."""
    offered: Tree
    """A decision tree over the state, with boolean leaves."""
    moves: Tree
    """A tree whose leaves are Move, Outside, or None if the environment does not permit the event."""


class Program(NamedTuple):
    """All moves of a closed model."""

    closed: ClosedModel
    properties: tuple[Property, ...]
    interpreted: tuple[Property, ...]
    """The properties that cannot run on symbols. `model.checker.python_properties` evaluates them."""
    layout: Layout
    label: Layout | None
    """The layout of labels, if labels are requested."""
    offers: tuple[tuple[Offer, ...], ...]
    """By shape."""
    paths: int
    assumed: tuple[tuple[z3.BoolRef, ...], ...]
    """By shape: the state properties that the moves assume."""
    symmetry: Symmetry | None = None
    """The symmetry by which states are reduced (`model.checker.compiled.symmetry`)."""
    ids: tuple[str, ...] = ()
    """Names of the fields whose values matter only by their order (`model.checker.compiled.renaming`)."""

    def places_of_ids(self) -> tuple[int, ...]:
        """The positions of the fields that are ids, in the only shape of the program."""
        shape = self.layout.shapes[0]
        return tuple(place for place in shape.varying if shape.fields[place].name in self.ids)

    def without_terms(self) -> "Program":
        """The program without moves and assumptions, for another process: z3's terms cannot be sent there."""
        return self._replace(offers=(), assumed=())

    @property
    def is_reduced(self) -> bool:
        """Whether some states represent others, by symmetry or by renaming of ids."""
        return self.symmetry is not None or bool(self.ids)

    @property
    def label_words(self) -> int:
        """Number of machine words of a packed label; 0 if labels are not requested."""
        return self.label.words if self.label is not None else 0


Words = Callable[[Event, Effects], Any]
"""The label of a step, from its event and its effects."""


def all_words(event: Event, effects: Effects) -> Any:  # noqa: ANN401 - a record of records
    """The event and all effects, like the variable `out` of most TLA+ models."""
    return (event, *effects)
