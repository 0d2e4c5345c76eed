"""Symmetry of channels or tasks: one state represents all states that are permutations of it.

A closed model declares a symmetry (`model.checker.bounds.Symmetry`), and a search uses it only after a proof.
For each two neighbouring channels or tasks, z3 searches for a state and an event for which it matters whether
the two are swapped before the move or after it. A difference may be in the offer, in the permission, in the
successor, or in a broken property. Swaps of neighbours generate every permutation. So if z3 finds no
difference, one state can represent all its permutations. The effects of a step may list the channels in
another order; so `reduced` rejects a program that records the effects of its steps.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import z3

from model.checker.bounds import Symmetry
from model.checker.compiled.packing import WORD, Shape
from model.checker.compiled.program import Move, Node, Offer, Outside, Program
from model.checker.compiled.renaming import ranked
from model.checker.decision_trees import Branch, Tree, holds
from model.checker.paths import satisfiable, solver_with
from model.checker.shapes import Field, taken_apart
from model.checker.symbolic import bool_term, int_term

Swap = Mapping[str, str]
"""From the path of a field to the path of the field that it is swapped with, in both directions."""


class NotSymmetricError(ValueError):
    """The moves of a model depend on the identity of a channel or task. So a reduction would not be sound."""


def reduced(program: Program, symmetry: Symmetry) -> Program:
    """The program in which one state represents its permutations.

    Raises NotSymmetricError if z3 does not prove the symmetry.
    """
    if program.label is not None or program.interpreted:
        records = "records" if program.label else "does not record"
        raise NotSymmetricError(
            f"{program.closed.name}: symmetry works only for a model that does not record the effects of its "
            f"last step, and whose properties are all compiled; this one {records} them and has "
            f"{len(program.interpreted)} properties that are checked in Python"
        )
    for shape in program.layout.shapes:
        for column in columns_of(shape, symmetry):
            if sum(shape.fields[position].bits for position in column) > WORD:
                raise NotSymmetricError(
                    f"{program.closed.name}: the fields of one {symmetry.event_field} take more than {WORD} "
                    "bits; use smaller bounds, or no symmetry"
                )
        for first in range(symmetry.first, symmetry.first + symmetry.size - 1):
            _prove(program, symmetry, shape, first)
    return program._replace(symmetry=symmetry)


def canonical(program: Program, node: Node) -> tuple[int, ...]:
    """The words of the state that represents a node and all its permutations."""
    if program.ids:
        node = ranked(program, node)
    layout = program.layout
    if program.symmetry is None:
        return layout.pack(node)
    skeleton, _, values = taken_apart(node, layout.bounds, layout.root)
    shape = layout.shapes[layout.numbers[skeleton]]
    columns = columns_of(shape, program.symmetry)
    ordered = sorted(
        ([values[position] for position in column] for column in columns),
        key=lambda column: tuple(int(value) for value in reversed(column)),
    )
    for column, own in zip(columns, ordered, strict=True):
        for position, value in zip(column, own, strict=True):
            values[position] = value
    return layout.pack_values(shape.number, values)


def columns_of(shape: Shape, symmetry: Symmetry) -> list[list[int]]:
    """By channel or task: the positions of its varying fields.

    All elements have their fields in one order.
    """
    columns: list[list[int]] = [[] for _ in range(symmetry.size)]
    for position in shape.varying:
        place = _place(shape.fields[position].path, symmetry)
        if place is not None:
            columns[place - symmetry.first].append(position)
    return columns


def _place(path: str, symmetry: Symmetry) -> int | None:
    """The number of the channel or task to which a field belongs, or None."""
    *_, name, place = path.split(".")
    if name not in symmetry.names or not place.isdigit():
        return None
    number = int(place)
    return number if symmetry.first <= number < symmetry.first + symmetry.size else None


def _swap(shape: Shape, symmetry: Symmetry, first: int) -> dict[str, str]:
    """Maps the path of each field of channel or task `first` to that of the next one, and back."""
    others = {first: first + 1, first + 1: first}
    swap = {}
    for field in shape.fields:
        place = _place(field.path, symmetry)
        if place in others:
            swap[field.path] = f"{field.path.rpartition('.')[0]}.{others[place]}"
    return swap


def _prove(program: Program, symmetry: Symmetry, shape: Shape, first: int) -> None:
    """Proves with z3 that channel or task `first` and the next one are interchangeable."""
    pair = f"{symmetry.event_field}s {first} and {first + 1}"
    swaps = {one.number: _swap(one, symmetry, first) for one in program.layout.shapes}
    paths = [field.path for field in shape.fields]
    swap = swaps[shape.number]
    for path, other in swap.items():
        if other not in paths or shape.fixed.get(paths.index(path)) != shape.fixed.get(paths.index(other)):
            raise NotSymmetricError(
                f"{path} and {other} are not alike: the state has only one of them, or only one of them "
                "varies, or they are fixed to different values"
            )
    symbols = {field.path: _symbol(field) for field in shape.fields}
    pairs = [(symbols[path], symbols[other]) for path, other in swap.items()]
    assumed = z3.And(*program.assumed[shape.number])
    if satisfiable(solver_with(*_within(shape.fields), assumed), z3.Not(z3.substitute(assumed, *pairs))):
        raise NotSymmetricError(f"the state properties do not treat {pair} alike")
    offers = {(offer.action, repr(offer.event)): offer for offer in program.offers[shape.number]}
    for (action, _), offer in offers.items():
        event: Any = offer.event
        named = getattr(event, symmetry.event_field, None)
        if named in (first, first + 1):
            event = event._replace(**{symmetry.event_field: first + 1 if named == first else first})
        twin = offers.get((action, repr(event)))
        if twin is None:
            raise NotSymmetricError(f"the model offers {offer.event}, and never {event}")
        solver = solver_with(*_within((*shape.fields, *offer.ranges)), assumed)
        if satisfiable(solver, _differs(program, pairs, swaps, offer, twin)):
            raise NotSymmetricError(f"{pair} can be distinguished by {offer.event}, as in {solver.model()}")


def _within(fields: tuple[Field, ...]) -> list[z3.BoolRef]:
    return [
        z3.And(z3.Int(field.path) >= field.lowest, z3.Int(field.path) <= field.highest)
        for field in fields
        if not field.is_bool
    ]


def _differs(
    program: Program,
    pairs: list[tuple[z3.ExprRef, z3.ExprRef]],
    swaps: Mapping[int, Swap],
    offer: Offer,
    twin: Offer,
) -> z3.BoolRef:
    """The term: `offer`, and `twin` in the swapped state, behave differently."""

    def swapped(term: z3.ExprRef) -> z3.ExprRef:
        return z3.substitute(term, *pairs)

    offered, offered_there = holds(offer.offered), swapped(holds(twin.offered))
    allowed = _term(offer.moves, lambda move: z3.BoolVal(isinstance(move, Move)))
    allowed_there = swapped(_term(twin.moves, lambda move: z3.BoolVal(isinstance(move, Move))))
    outside = _term(offer.moves, lambda leaf: z3.BoolVal(isinstance(leaf, Outside)))
    outside_there = swapped(_term(twin.moves, lambda leaf: z3.BoolVal(isinstance(leaf, Outside))))
    differences = [_breaks(offer.moves) != swapped(_breaks(twin.moves))]
    reached = {move.after.skeleton for tree in (offer.moves, twin.moves) for move in _moves(tree)}
    for skeleton in reached:
        shape = program.layout.shapes[program.layout.numbers[skeleton]]
        paths = [field.path for field in shape.fields]
        differences.append(_leads_to(offer.moves, shape) != swapped(_leads_to(twin.moves, shape)))
        for place in shape.varying:
            field = shape.fields[place]
            there = paths.index(swaps[shape.number].get(field.path, field.path))
            after, after_there = _after(offer.moves, shape, place), _after(twin.moves, shape, there)
            differences.append(after != swapped(after_there))
    moved_apart = z3.And(allowed, z3.Or(*differences))
    apart = z3.Or(allowed != allowed_there, outside != outside_there, moved_apart)
    return z3.Or(offered != offered_there, z3.And(offered, apart))


def _moves(tree: Tree) -> Iterator[Move]:
    """Yields the moves at the leaves of a tree."""
    if isinstance(tree, Branch):
        yield from _moves(tree.yes)
        yield from _moves(tree.no)
    elif isinstance(tree, Move):
        yield tree


def _leads_to(tree: Tree, shape: Shape) -> z3.BoolRef:
    """The term: a move of the tree leads to a state of this shape."""
    return _term(
        tree, lambda leaf: z3.BoolVal(isinstance(leaf, Move) and leaf.after.skeleton == shape.skeleton)
    )


def _symbol(field: Field) -> z3.ExprRef:
    return z3.Bool(field.path) if field.is_bool else z3.Int(field.path)


def _after(tree: Tree, shape: Shape, place: int) -> z3.ExprRef:
    """The value of a field after a move of the tree, as one term.

    If the move leads to another shape, the term has the lowest value of the field.
    """
    field = shape.fields[place]

    def value(leaf: object) -> z3.ExprRef:
        reached = isinstance(leaf, Move) and leaf.after.skeleton == shape.skeleton
        after = leaf.after.values[place] if isinstance(leaf, Move) and reached else field.lowest
        return (
            bool_term(bool(after) if isinstance(after, int) else after) if field.is_bool else int_term(after)
        )

    return _term(tree, value)


def _breaks(tree: Tree) -> z3.BoolRef:
    """The term: a move of the tree breaks a property."""

    def broken(leaf: object) -> z3.ExprRef:
        return z3.Or(*(holds(one) for one in leaf.broken)) if isinstance(leaf, Move) else z3.BoolVal(False)

    return _term(tree, broken)


def _term(tree: Tree, value: Callable[[object], z3.ExprRef]) -> Any:  # noqa: ANN401 - a term of either sort
    if isinstance(tree, Branch):
        return z3.If(tree.condition, _term(tree.yes, value), _term(tree.no, value))
    return value(tree)
