"""Symmetry of channels: states that differ only in which channel is which are searched as one.

A symmetry is declared (`model.closed.bounds.Symmetry`) and used only once it is proved: z3 is asked for a
state and an event in which a kernel's moves, after two neighbouring channels have changed places, are not
the moves before with these two changed: whether the event is offered, whether it is allowed, where it leads
and whether it breaks a property. Neighbours generate every permutation, so if there is no such state, the
whole group may be divided out. Effects may name channels in another order: what is said takes no part, and a
program that tells it is refused.
"""

from collections.abc import Callable, Mapping
from typing import Any

import z3

from model.closed.bounds import Symmetry
from model.engines.following import satisfiable, solver_with
from model.engines.packing import Shape
from model.engines.program import Move, Node, Offer, Program
from model.engines.renaming import ranked
from model.engines.shapes import Field
from model.engines.symbolic import bool_term, int_term
from model.engines.trees import Branch, Tree, holds

Swap = Mapping[str, str]
"""Paths of fields that change places; both directions."""


class NotSymmetricError(ValueError):
    """A reduction would not be sound: the moves of a model depend on which channel is which."""


def reduced(program: Program, symmetry: Symmetry) -> Program:
    """The program with the symmetry divided out. Raises NotSymmetricError if z3 does not prove it."""
    if program.said is not None or program.interpreted or len(program.layout.shapes) != 1:
        raise NotSymmetricError(
            f"{program.world.name}: a symmetry needs states of one shape, no words of what is said and no "
            f"property that is asked in Python; there are {len(program.layout.shapes)} shapes, "
            f"{program.said_words} words and {len(program.interpreted)} such properties"
        )
    shape = program.layout.shapes[0]
    for first in range(symmetry.size - 1):
        _prove(program, symmetry, shape, first)
    return program._replace(symmetry=symmetry)


def canonical(program: Program, node: Node) -> tuple[int, ...]:
    """The words of the state that stands for a node and all its permutations."""
    if program.ids:
        node = ranked(program, node)
    symmetry = program.symmetry
    if symmetry is None:
        return program.layout.pack(node)
    columns = sorted(
        zip(*(_elements(node, name) for name in symmetry.names), strict=True),
        key=lambda column: tuple(int(value) for value in reversed(column)),
    )
    for name, elements in zip(symmetry.names, zip(*columns, strict=True), strict=True):
        node = _with_elements(node, name, elements)
    return program.layout.pack(node)


def _elements(node: Node, name: str) -> tuple[Any, ...]:
    return node.environment if name == "environment" else tuple(getattr(node.state, name))


def _with_elements(node: Node, name: str, elements: tuple[Any, ...]) -> Node:
    if name == "environment":
        return node._replace(environment=elements)
    return node._replace(state=node.state._replace(**{name: elements}))


def element_path(name: str, place: int) -> str:
    """The path of one element of a symmetric field."""
    return f"node.environment.{place}" if name == "environment" else f"node.state.{name}.{place}"


def _prove(program: Program, symmetry: Symmetry, shape: Shape, first: int) -> None:
    """Ask z3 whether channels `first` and the one behind it can be told apart."""
    paths = [field.path for field in shape.fields]
    swap = {
        element_path(name, place): element_path(name, other)
        for name in symmetry.names
        for place, other in ((first, first + 1), (first + 1, first))
    }
    for path, other in swap.items():
        if shape.fixed.get(paths.index(path)) != shape.fixed.get(paths.index(other)):
            raise NotSymmetricError(f"{path} and {other} are not alike: one of them never varies")
    symbols = {field.path: _symbol(field) for field in shape.fields}
    pairs = [(symbols[path], symbols[other]) for path, other in swap.items()]
    assumed = z3.And(*program.assumed[0])
    if satisfiable(solver_with(*_within(shape.fields), assumed), z3.Not(z3.substitute(assumed, *pairs))):
        raise NotSymmetricError(f"the state properties tell channels {first} and {first + 1} apart")
    offers = {(offer.action, repr(offer.event)): offer for offer in program.offers[0]}
    for (action, _), offer in offers.items():
        event: Any = offer.event
        channel = getattr(event, symmetry.event_field, None)
        if channel in (first, first + 1):
            event = event._replace(**{symmetry.event_field: first + 1 if channel == first else first})
        twin = offers.get((action, repr(event)))
        if twin is None:
            raise NotSymmetricError(f"{offer.event} is offered, and {event} never is")
        solver = solver_with(*_within((*shape.fields, *offer.ranges)), *program.assumed[0])
        if satisfiable(solver, _told_apart(shape, offer, twin, swap)):
            raise NotSymmetricError(
                f"channels {first} and {first + 1} can be told apart by {offer.event}, as in {solver.model()}"
            )


def _within(fields: tuple[Field, ...]) -> list[z3.BoolRef]:
    return [
        z3.And(z3.Int(field.path) >= field.lowest, z3.Int(field.path) <= field.highest)
        for field in fields
        if not field.is_bool
    ]


def _told_apart(shape: Shape, offer: Offer, twin: Offer, swap: Swap) -> z3.BoolRef:
    """The offer and its twin in the swapped state do not do the same."""
    symbols = {field.path: _symbol(field) for field in shape.fields}
    pairs = [(symbols[path], symbols[other]) for path, other in swap.items()]

    def swapped(term: z3.ExprRef) -> z3.ExprRef:
        return z3.substitute(term, *pairs)

    offered, offered_there = holds(offer.offered), swapped(holds(twin.offered))
    allowed = _term(offer.moves, lambda move: z3.BoolVal(isinstance(move, Move)))
    allowed_there = swapped(_term(twin.moves, lambda move: z3.BoolVal(isinstance(move, Move))))
    differences = [_breaks(offer.moves) != swapped(_breaks(twin.moves))]
    for place in shape.varying:
        field = shape.fields[place]
        there = [other.path for other in shape.fields].index(swap.get(field.path, field.path))
        after, after_there = _after(offer.moves, place, field), _after(twin.moves, there, field)
        differences.append(after != swapped(after_there))
    moved_apart = z3.And(allowed, z3.Or(*differences))
    return z3.Or(offered != offered_there, z3.And(offered, z3.Or(allowed != allowed_there, moved_apart)))


def _symbol(field: Field) -> z3.ExprRef:
    return z3.Bool(field.path) if field.is_bool else z3.Int(field.path)


def _after(tree: Tree, place: int, field: Field) -> z3.ExprRef:
    """A field after the moves of a tree, as one term; its lowest value where there is no move."""

    def value(leaf: object) -> z3.ExprRef:
        after = leaf.after.values[place] if isinstance(leaf, Move) else field.lowest
        return (
            bool_term(bool(after) if isinstance(after, int) else after) if field.is_bool else int_term(after)
        )

    return _term(tree, value)


def _breaks(tree: Tree) -> z3.BoolRef:
    """Whether a move of a tree breaks a property."""

    def broken(leaf: object) -> z3.ExprRef:
        return z3.Or(*(holds(one) for one in leaf.broken)) if isinstance(leaf, Move) else z3.BoolVal(False)

    return _term(tree, broken)


def _term(tree: Tree, value: Callable[[object], z3.ExprRef]) -> Any:  # noqa: ANN401 - a term of either sort
    if isinstance(tree, Branch):
        return z3.If(tree.asked, _term(tree.yes, value), _term(tree.no, value))
    return value(tree)
