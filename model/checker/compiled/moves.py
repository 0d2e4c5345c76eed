"""Turns every move of a closed model into decision trees over the fields of its states.

A node is a component's state with its environment's state. For each shape of nodes (`model.checker.shapes`)
this module runs three functions on symbols and follows each of their paths (`model.checker.paths`): the
offers of the closed model, the permission of the environment with the step, and the properties of the step.
If z3 decides a condition on a path, the tree does not contain it. The other conditions stay in the trees, and
the search tests them on each state. Like the prover, this module assumes that the state properties hold
before a move. It may do so, because the search checks them after each move.

Events that are offered under the same condition and differ only in ids become one event, with a symbol for
the id. The module begins with the shapes of the first nodes, and follows the moves of each new shape until no
move leads to a new shape.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

import z3

from model.checker.bounds import FieldBounds
from model.checker.closed_model import ClosedModel
from model.checker.compiled.packing import Shape, layout_of
from model.checker.compiled.program import Move, Node, Offer, Outside, Program, Target, Words
from model.checker.decision_trees import Tree, fingerprint, holds, leaves, mapped, merged, tree_of
from model.checker.paths import Ground, Path, paths, satisfiable, solver_with
from model.checker.prove import assume_invariants
from model.checker.shapes import Field, OutsideError, Value, put_together, taken_apart
from model.checker.symbolic import SymbolicBool, SymbolicInt, SymbolicUseError
from model.events import Event, Step
from model.properties import Property

PROBED = 2_000
"""Number of nodes that are visited first. They show most of the fields that vary in the first shapes."""


def program_of(
    closed: ClosedModel,
    bounds: FieldBounds,
    properties: tuple[Property, ...] = (),
    words: Words | None = None,
) -> Program:
    """The program of a closed model: its shapes, and all its moves as decision trees.

    `words`: makes the label of each move. None: the moves have no labels. Raises UndeclaredError if an int
    varies without bounds, and SymbolicUseError if the model needs the value of a symbol that is no field.
    """
    interpreted: list[Property] = []
    while True:
        followed = tuple(known for known in properties if known not in interpreted)
        try:
            return _Following(closed, bounds, followed, tuple(interpreted), words).program()
        except _NeedsValueError as needed:
            bounds = bounds._replace(pinned=bounds.pinned | {needed.field})
        except _UnreadableError as unreadable:
            interpreted.append(unreadable.known)


class _NeedsValueError(Exception):
    """The model needs the value of a field, so that the field cannot be a symbol."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


class _UnreadableError(Exception):
    """A property needs the value of a symbol, so that it cannot run on symbols."""

    def __init__(self, known: Property) -> None:
        super().__init__(known.name)
        self.known = known


class _Following:
    """Finds all shapes of a closed model and the moves between them."""

    def __init__(
        self,
        closed: ClosedModel,
        bounds: FieldBounds,
        properties: tuple[Property, ...],
        interpreted: tuple[Property, ...],
        words: Words | None,
    ) -> None:
        self.closed = closed
        self.bounds = bounds
        self.words = words
        self.properties = properties
        self.interpreted = interpreted
        self.shapes: dict[Any, Shape] = {}
        self.label_shapes: dict[Any, Shape] = {}
        self.dirty: dict[Any, None] = {}

    def program(self) -> Program:
        """Follows the moves of every shape, again if more fields of the shape vary than before."""
        for node in _first_nodes(self.closed):
            self.widen(_target(node, self.bounds, "node"))
        offers: dict[Any, tuple[Offer, ...]] = {}
        assumed: dict[Any, tuple[z3.BoolRef, ...]] = {}
        while self.dirty:
            skeleton = next(iter(self.dirty))
            del self.dirty[skeleton]
            reading = _Reading(self, self.shapes[skeleton])
            offers[skeleton], assumed[skeleton] = reading.offers(), reading.invariants
            for offer in offers[skeleton]:
                for move in leaves(offer.moves):
                    if isinstance(move, Move):
                        self.widen(move.after)
                        if move.label is not None:
                            self.add_label(move.label)
        return Program(
            self.closed,
            (*self.properties, *self.interpreted),
            self.interpreted,
            layout_of(tuple(self.shapes.values()), self.bounds, "node"),
            layout_of(tuple(self.label_shapes.values()), self.bounds, "words")
            if self.words is not None
            else None,
            tuple(offers[skeleton] for skeleton in self.shapes),
            sum(1 for of_shape in offers.values() for offer in of_shape for _ in leaves(offer.moves)),
            tuple(assumed[skeleton] for skeleton in self.shapes),
        )

    def widen(self, target: Target) -> None:
        """Adds the shape of a node and its varying fields. `program` then follows a changed shape again."""
        shape = self.shapes.get(target.skeleton)
        if shape is None:
            shape = Shape(len(self.shapes), target.skeleton, target.fields)
            shape.fixed = {place: value for place, value in enumerate(target.values) if _is_concrete(value)}
            self.shapes[target.skeleton] = shape
            self.dirty[target.skeleton] = None
            return
        for place, value in enumerate(target.values):
            if place in shape.fixed and not (_is_concrete(value) and value == shape.fixed[place]):
                del shape.fixed[place]
                self.dirty[target.skeleton] = None

    def add_label(self, label: Target) -> None:
        """Adds the shape of a label. All fields of a label count as varying."""
        if label.skeleton not in self.label_shapes:
            self.label_shapes[label.skeleton] = Shape(len(self.label_shapes), label.skeleton, label.fields)


class _Reading:
    """The moves from one shape."""

    def __init__(self, following: _Following, shape: Shape) -> None:
        self.following = following
        self.symbols: dict[str, Field] = {}
        values = [
            shape.fixed[place] if place in shape.fixed else self._symbol(field)
            for place, field in enumerate(shape.fields)
        ]
        self.node: Node = put_together(shape.skeleton, values)
        self.invariants = self._invariants()
        self.solver = solver_with(*self._within(self.symbols.values()), *self.invariants)

    def _symbol(self, field: Field) -> Value:
        self.symbols[field.path] = field
        return SymbolicBool(z3.Bool(field.path)) if field.is_bool else SymbolicInt(z3.Int(field.path))

    def _within(self, fields: Iterable[Field]) -> list[z3.BoolRef]:
        return [
            z3.And(z3.Int(field.path) >= field.lowest, z3.Int(field.path) <= field.highest)
            for field in fields
            if not field.is_bool
        ]

    def _invariants(self) -> tuple[z3.BoolRef, ...]:
        """The state properties as terms. They hold in every state from which a move starts.

        The reason is that the search checks them on the initial state and on every successor, and ends at the
        first violation.
        """
        terms: list[z3.BoolRef] = []
        for known in self.following.properties:
            if not known.over_steps:
                with self._needs(known):
                    terms.extend(assume_invariants(self.node.state, (known,)))
        return tuple(terms)

    @contextmanager
    def _needs(self, known: Property | None = None) -> Iterator[None]:
        """Turns a SymbolicUseError into an error that names the property `known` or, for None, the field."""
        try:
            yield
        except SymbolicUseError as error:
            if known is not None:
                raise _UnreadableError(known) from error
            for name in _names(error.term):
                if name in self.symbols and not self.symbols[name].is_bool:
                    raise _NeedsValueError(self.symbols[name].name) from error
            raise

    def offers(self) -> tuple[Offer, ...]:
        """Every offer, with its moves."""
        with self._needs():
            found = [
                (path.decided, path.result)
                for path in paths(lambda: tuple(self.following.closed.offers(self.node.state)), self.solver)
            ]
        tree = tree_of(found)
        every = dict.fromkeys(offer for _, offered in found for offer in offered)
        alike: dict[Any, list[tuple[str, Event]]] = {}
        conditions: dict[Any, Tree] = {}
        for action, event in every:
            offered = merged(mapped(tree, _contains((action, event))))
            key = (action, _without_ids(event, self.following.bounds), fingerprint(offered))
            conditions[key] = offered
            alike.setdefault(key, []).append((action, event))
        offers: list[Offer] = []
        for key, group in alike.items():
            offers.extend(self._followed(key[0], [event for _, event in group], conditions[key]))
        return tuple(offers)

    def _followed(self, action: str, events: list[Event], offered: Tree) -> Iterator[Offer]:
        """Follows events that differ only in ids: as one if the ids fill an interval, else each alone."""
        together = _as_one(events, self.following.bounds) if len(events) > 1 else None
        if together is not None:
            event, ranges = together
            try:
                yield self._offer(action, event, ranges, offered)
            except SymbolicUseError:
                pass  # the model needs the id's value: follow each event alone
            else:
                return
        for event in events:
            yield self._offer(action, event, (), offered)

    def _offer(self, action: str, event: Event, ranges: tuple[Field, ...], offered: Tree) -> Offer:
        within = self._within((*self.symbols.values(), *ranges))
        solver = solver_with(*within, *self.invariants, holds(offered))
        if not satisfiable(solver):
            return Offer(action, event, ranges, False, None)
        ground = Ground(solver, solution=solver.model())
        moves: list[tuple[tuple[z3.BoolRef, ...], Any]] = []
        with self._needs():
            for path in paths(lambda: self._taken(event), ground):
                leaf: Move | Outside | None
                if isinstance(path.result, _Taken):
                    ground.go_to(path.decided)
                    leaf = self._move(event, path, solver)
                else:
                    leaf = path.result
                moves.append((path.decided, leaf))
        return Offer(action, event, ranges, offered, tree_of(moves))

    def _taken(self, event: Event) -> "_Taken | Outside | None":
        closed, bounds = self.following.closed, self.following.bounds
        environment = closed.allows(self.node.environment, event)
        if environment is None:
            return None
        step = closed.step(self.node.state, event)
        try:
            after = _target(Node(step.state, environment), bounds, "node")
            words = self.following.words
            label = _target(words(event, step.effects), bounds, "words") if words is not None else None
        except OutsideError as error:
            return Outside(str(error))
        return _Taken(step, after, label)

    def _move(self, event: Event, path: Path[Any], solver: z3.Solver) -> Move:
        """The move at the end of a path. Requires that the solver asserts the decisions of the path."""
        step, after, label = path.result
        after = after._replace(checked=self._unsure(after, solver))
        label = label._replace(checked=self._unsure(label, solver)) if label is not None else None
        here = Ground(solver, path.answers, path.solution)
        broken: list[Tree] = []
        for known in self.following.properties:
            with self._needs(known):
                tree = _broken_tree(known, self.node.state, event, step, here)
            if tree is not False:
                broken.append(tree)
        here.go_to(())
        return Move(after, label, tuple(step.rules), tuple(broken))

    def _unsure(self, target: Target, solver: z3.Solver) -> tuple[int, ...]:
        """The fields for which z3 does not prove that they stay within their bounds."""
        unsure: list[int] = []
        for place, (field, value) in enumerate(zip(target.fields, target.values, strict=True)):
            if field.is_bool or not isinstance(value, SymbolicInt):
                continue
            is_symbol = z3.is_const(value.term)  # a name is far faster to make than a term's text
            known = self.symbols.get(value.term.decl().name()) if is_symbol else None
            if known is not None and field.lowest <= known.lowest and known.highest <= field.highest:
                continue
            outside = z3.Or(value.term < field.lowest, value.term > field.highest)
            if satisfiable(solver, outside):
                unsure.append(place)
        return tuple(unsure)


class _Taken(NamedTuple):
    """The result of a path: the step and the environment after it, without the properties."""

    step: Step[Any]
    after: Target
    label: Target | None


def _broken_tree(known: Property, before: Any, event: Event, step: Step[Any], here: Ground) -> Tree:  # noqa: ANN401
    """A tree whose leaf is true if the step violates the property; False if z3 proves that none does."""

    def is_broken() -> bool:
        if known.over_steps:
            return not known.holds(before, event, step.effects, step.state)
        return not known.holds(step.state)

    return merged(tree_of([(path.decided, bool(path.result)) for path in paths(is_broken, here)]))


def _contains(offer: tuple[str, Event]) -> Callable[[tuple[tuple[str, Event], ...]], bool]:
    return lambda offers: offer in offers


def _target(record: Any, bounds: FieldBounds, path: str) -> Target:  # noqa: ANN401 - any record of the model
    skeleton, fields, values = taken_apart(record, bounds, path)
    return Target(skeleton, tuple(fields), tuple(values), ())


def _is_concrete(value: Value) -> bool:
    return isinstance(value, int)  # a bool is an int too


def _first_nodes(closed: ClosedModel) -> Iterator[Node]:
    """Yields the first nodes of a breadth-first search."""
    start = Node(closed.state, closed.environment)
    known, waiting = {start}, deque([start])
    while waiting and len(known) < PROBED:
        node = waiting.popleft()
        yield node
        for _, event in closed.offers(node.state):
            environment = closed.allows(node.environment, event)
            if environment is not None:
                after = Node(closed.step(node.state, event).state, environment)
                if after not in known:
                    known.add(after)
                    waiting.append(after)
    yield from waiting


def _names(term: z3.ExprRef | None) -> Iterator[str]:
    if term is None:
        return
    if not term.num_args() and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
        yield term.decl().name()
    for part in term.children():
        yield from _names(part)


def _ids(event: Any, bounds: FieldBounds) -> dict[str, int]:  # noqa: ANN401 - any event
    """The fields of an event that are ids: ints with bounds."""
    names = getattr(event, "_fields", ())
    return {
        name: value
        for name, value in zip(names, event, strict=False)
        if type(value) is int and bounds.of((name,)) is not None
    }


def _without_ids(event: Any, bounds: FieldBounds) -> Any:  # noqa: ANN401 - any event
    ids = _ids(event, bounds)
    return event._replace(**dict.fromkeys(ids)) if ids else event


def _as_one(events: list[Event], bounds: FieldBounds) -> tuple[Event, tuple[Field, ...]] | None:
    """One event with symbols for its ids, and the intervals of these ids.

    None unless the events have all combinations of the ids in these intervals.
    """
    found = [_ids(event, bounds) for event in events]
    ranges: list[Field] = []
    for name in found[0]:
        values = {ids[name] for ids in found}
        lowest, highest = min(values), max(values)
        if len(values) != highest - lowest + 1:
            return None
        if lowest < highest:
            ranges.append(Field(f"event.{name}", name, False, lowest, highest))
    if len({tuple(ids.values()) for ids in found}) != prod(one.highest - one.lowest + 1 for one in ranges):
        return None
    first: Any = events[0]
    symbols = {one.name: SymbolicInt(z3.Int(one.path)) for one in ranges}
    return first._replace(**symbols), tuple(ranges)
