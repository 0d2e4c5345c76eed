"""Renaming of ids: a search treats all states with the same order of ids as one state.

If every path of a model only compares ids, as those of a gate do, a renaming that keeps the order of the ids
changes nothing. Then the rank of an id can replace the id. The proof inspects the terms of the paths, which
contain all conditions and results of a move. It shows three facts: the model compares an id only with an id
or with a constant that means "no id" (0 or below); a value that it writes into the field of an id is an id or
such a constant; ids have no other use.

The ranks of the ids in a state are even numbers. So an event can carry an id of the state, an id between two
of them, or a greater id: with n ids in a state, the numbers up to 2n + 1 represent every id. The results of a
search then hold without a bound on ids. A run of d events needs at most d ids.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import z3

from model.checker.compiled.program import Move, Node, Offer, Outside, Program
from model.checker.decision_trees import Branch, Tree, leaves
from model.checker.shapes import Value, put_together, taken_apart
from model.checker.symbolic import SymbolicBool, SymbolicInt
from model.events import Event

_COMPARED = (z3.Z3_OP_LT, z3.Z3_OP_LE, z3.Z3_OP_GT, z3.Z3_OP_GE, z3.Z3_OP_EQ, z3.Z3_OP_DISTINCT)
_JOINED = (z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_NOT)


class NotInvariantError(ValueError):
    """A model does more with ids than to compare them, or its range of ids is too small."""


def for_every_id(program: Program, names: tuple[str, ...]) -> Program:
    """The program in which ranks replace ids. `names`: the fields of states and events that are ids.

    Raises NotInvariantError if the proof fails, or if the range of ids is too small.
    """
    if program.label is not None or program.interpreted or len(program.layout.shapes) != 1:
        raise NotInvariantError(
            f"{program.closed.name}: ids can be renamed only in a model whose states have one shape, that "
            "does not record the effects of its last step, and whose properties are all compiled"
        )
    shape = program.layout.shapes[0]
    program = program._replace(ids=names)
    ids = tuple(shape.fields[place].path for place in program.places_of_ids())
    for place, value in shape.fixed.items():
        if shape.fields[place].name in names and value > 0:
            raise NotInvariantError(f"{shape.fields[place].path} is always {value}; an id has to vary")
    needed = 2 * len(ids) + 1
    for offer in program.offers[0]:
        ranges = {field.path: field for field in offer.ranges if field.name in names}
        if any((one.lowest, one.highest) != (1, needed) for one in ranges.values()):
            raise NotInvariantError(f"{offer.event}: with {len(ids)} ids in a state, events need {needed}")
        if any(type(value) is int and name in names for name, value in _named(offer.event)):
            raise NotInvariantError(f"{offer.event} is offered for its id, and not for every id")
        reading = _Reading(frozenset((*ids, *ranges)), offer)
        reading.check(shape.fields)
        for assumed in program.assumed[0]:
            reading.condition(z3.simplify(assumed))
    return program


def ranked(program: Program, node: Node) -> Node:
    """The node in which ranks replace the ids, as in the states of a kernel."""
    values, order = _values(program, node)
    for place in program.places_of_ids():
        if values[place] > 0:
            values[place] = 2 * (order.index(values[place]) + 1)
    return put_together(program.layout.shapes[0].skeleton, values)  # type: ignore[no-any-return]


def _values(program: Program, node: Node) -> tuple[list[Value], list[Value]]:
    """The values of all fields, and the different ids among them in ascending order."""
    _, _, values = taken_apart(node, program.layout.bounds, program.layout.root)
    return values, sorted({values[place] for place in program.places_of_ids() if values[place] > 0})


class RealIds:
    """The ids that the ranks in a run represent. Ids are fractions, so that a new id fits between any two."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.of_rank: dict[int, Fraction] = {}

    def event(self, event: Any) -> Any:  # noqa: ANN401 - any event
        """The event with the ids that its ranks represent."""
        ids = {name: self._id(rank) for name, rank in _named(event) if name in self.program.ids}
        return event._replace(**ids) if ids else event

    def moved(self, reached: Node) -> Node:
        """The node after a move, with the new ranks of its ids. Later calls use these ranks."""
        _, order = _values(self.program, reached)
        self.of_rank = {2 * (place + 1): self._id(rank) for place, rank in enumerate(order)}
        return ranked(self.program, reached)

    def _id(self, rank: Any) -> Fraction:  # noqa: ANN401 - an int
        if rank in self.of_rank:
            return self.of_rank[rank]
        below = max((known for other, known in self.of_rank.items() if other < rank), default=Fraction(0))
        above = min((known for other, known in self.of_rank.items() if other > rank), default=below + 2)
        return (below + above) / 2


def in_numbers(program: Program, run: Iterable[Any]) -> tuple[Event, ...]:
    """The run in which 1, 2, 3, ... replace the ids, in the same order."""
    events = tuple(run)
    ids = sorted({known for event in events for name, known in _named(event) if name in program.ids})
    return tuple(
        event._replace(**{name: ids.index(known) + 1 for name, known in _named(event) if name in program.ids})
        for event in events
    )


def _named(event: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any event
    return zip(getattr(event, "_fields", ()), event, strict=False)


class _Reading:
    """Checks how the terms of one offer use ids."""

    def __init__(self, ids: frozenset[str], offer: Offer) -> None:
        self.ids = ids
        self.offer = offer

    def check(self, fields: Iterable[object]) -> None:
        """Checks every condition and every result of the offer."""
        paths = [getattr(field, "path", "") for field in fields]
        for term in (*_questions(self.offer.offered), *_questions(self.offer.moves)):
            self.condition(term)
        for leaf in leaves(self.offer.moves):
            if isinstance(leaf, Outside):
                raise NotInvariantError(f"{self.offer.event} leaves the bounds: {leaf.reason}")
            if not isinstance(leaf, Move):
                continue
            for broken in leaf.broken:
                for term in _questions(broken):
                    self.condition(term)
            for path, value in zip(paths, leaf.after.values, strict=True):
                self.result(path, value)

    def condition(self, term: z3.ExprRef) -> None:
        """Checks that a condition only compares ids."""
        kind = term.decl().kind()
        if kind in _JOINED or (kind == z3.Z3_OP_EQ and z3.is_bool(term.arg(0))):
            for part in term.children():
                self.condition(part)
        elif kind in _COMPARED and any(self.mentions(part) for part in term.children()):
            for part in term.children():
                if not self.is_id(part):
                    self.refuse(term)
        elif self.mentions(term):
            self.refuse(term)

    def result(self, path: str, value: object) -> None:
        """Checks a value that is written into a field."""
        if path not in self.ids:
            if isinstance(value, SymbolicBool):
                self.condition(value.term)
            elif isinstance(value, SymbolicInt) and self.mentions(value.term):
                self.refuse(value.term)
        elif isinstance(value, SymbolicInt):
            if not self.is_id(z3.simplify(value.term)):
                self.refuse(value.term)
        elif isinstance(value, int) and value > 0:
            raise NotInvariantError(f"{self.offer.event} writes the constant id {value} into {path}")

    def is_id(self, term: z3.ExprRef) -> bool:
        """Whether the term is the symbol of an id, or a constant that means "no id"."""
        if z3.is_int_value(term):
            return bool(term.as_long() <= 0)
        return not term.num_args() and term.decl().name() in self.ids

    def mentions(self, term: z3.ExprRef) -> bool:
        """Whether the term contains an id."""
        if not term.num_args():
            return not z3.is_int_value(term) and term.decl().name() in self.ids
        return any(self.mentions(part) for part in term.children())

    def refuse(self, term: z3.ExprRef) -> None:
        """Raises NotInvariantError: the term does more with ids than to compare them."""
        raise NotInvariantError(f"{self.offer.event} does more with ids than to compare them: {term}")


def _questions(tree: Tree) -> Iterator[z3.BoolRef]:
    if isinstance(tree, Branch):
        yield tree.condition
        yield from _questions(tree.yes)
        yield from _questions(tree.no)
