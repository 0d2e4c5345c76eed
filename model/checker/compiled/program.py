"""A program: the shapes of a closed model, and all of its moves as decision trees.

`model.checker.compiled.moves` makes a program, and `model.checker.compiled.kernel_text` writes its kernels.
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
    """The node after a move, or the label of a move: its shape, and the values of its fields."""

    skeleton: Any
    fields: tuple[Field, ...]
    values: tuple[Value, ...]
    """The values of its fields, as terms over the fields before the move and over the event."""
    checked: tuple[int, ...]
    """The positions of the fields for which z3 has not proved that they stay within their bounds."""


class Move(NamedTuple):
    """The end of one path of a step, for the events of an `Offer`."""

    after: Target
    """The state and the environment after the move."""
    label: Target | None
    """The label of the move. None if the program has no labels."""
    rules: tuple[str, ...]
    broken: tuple[Tree, ...]
    """Decision trees with boolean leaves.

    If the selected leaf of a tree is true, the move breaks a property.
    """


class Outside(NamedTuple):
    """The end of a path on which a field always leaves its declared bounds."""

    reason: str


class Offer(NamedTuple):
    """Events of one action that are offered under the same condition."""

    action: str
    event: Event
    """One event, with symbols for the values that vary."""
    ranges: tuple[Field, ...]
    """The symbols of the event. Each takes all values of its interval."""
    offered: Tree
    """A decision tree over the state, with boolean leaves: whether the component offers the events."""
    moves: Tree
    """A decision tree. Its leaves are Move, Outside, or None if the environment does not permit the event."""


class Program(NamedTuple):
    """All moves of a closed model."""

    closed: ClosedModel
    properties: tuple[Property, ...]
    interpreted: tuple[Property, ...]
    """The properties that cannot run on symbols. `model.checker.python_properties` evaluates them."""
    layout: Layout
    label: Layout | None
    """The layout of the labels. None if the program has no labels."""
    offers: tuple[tuple[Offer, ...], ...]
    """By shape: the events that the component may offer, with their moves."""
    paths: int
    assumed: tuple[tuple[z3.BoolRef, ...], ...]
    """By shape: the state properties that the moves assume."""
    symmetry: Symmetry | None = None
    """The symmetry by which one state represents others (`model.checker.compiled.symmetry`), or None."""
    ids: tuple[str, ...] = ()
    """Names of the fields whose values matter only by their order (`model.checker.compiled.renaming`)."""

    def places_of_ids(self) -> tuple[int, ...]:
        """The positions of the fields that are ids, in the only shape of the program."""
        shape = self.layout.shapes[0]
        return tuple(place for place in shape.varying if shape.fields[place].name in self.ids)

    def without_terms(self) -> "Program":
        """The program without moves and assumptions. It can be sent to another process; z3's terms cannot."""
        return self._replace(offers=(), assumed=())

    @property
    def is_reduced(self) -> bool:
        """Whether one state may represent several, by symmetry or by renaming of ids."""
        return self.symmetry is not None or bool(self.ids)

    @property
    def label_words(self) -> int:
        """Number of 64-bit words of a packed label; 0 if the program has no labels."""
        return self.label.words if self.label is not None else 0


Words = Callable[[Event, Effects], Any]
"""A function from the event and the effects of a step to the label of the step."""


def all_words(event: Event, effects: Effects) -> Any:  # noqa: ANN401 - a record of records
    """A label with the event and all effects, like the variable `out` of most TLA+ models."""
    return (event, *effects)
