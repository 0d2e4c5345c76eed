"""The theory on one small dataflow, with Python values: runs that people can read.

Two sources, `a` and `b`, send to `join`, whose output a sink makes visible with transactions. Every
record that a task reads makes it send one. A state is what it has read, in order.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from model.theorem.dataflow import CHANNEL, ID, POSITION, TASK
from model.theorem.logic import Formula, Sort, State
from model.theorem.theory import Action, Clause, Field, Theory

TASKS = ("a", "b", "join")
CHANNELS = ("input of a", "input of b", "a to join", "b to join", "output")
IDS = 4
"""Checkpoints 0 (the start of the job) to 3."""
POSITIONS = 6
"""Positions 0 to 5."""


class Small:
    """Quantifiers over the small dataflow."""

    sizes: Mapping[Sort, int] = {TASK: len(TASKS), CHANNEL: len(CHANNELS), ID: IDS, POSITION: POSITIONS}

    def elements(self, sorts: tuple[Sort, ...]) -> Iterator[tuple[int, ...]]:
        """All combinations of elements."""
        return product(*(range(self.sizes[sort]) for sort in sorts))

    def all(self, sorts: tuple[Sort, ...], holds: Callable[..., Formula]) -> bool:
        """The formula holds for all elements of the sorts."""
        return all(holds(*elements) for elements in self.elements(sorts))


SMALL = Small()


class Taken(NamedTuple):
    """One step of a run."""

    action: Action
    elements: tuple[int, ...]

    @property
    def text(self) -> str:
        """The step in words."""
        names = {TASK: TASKS, CHANNEL: CHANNELS}
        parts = (
            names[sort][element] if sort in names else f"checkpoint {element}"
            for sort, element in zip(self.action.of, self.elements, strict=True)
        )
        return f"{self.action.name}: {', '.join(parts)}" if self.elements else self.action.name


class OutsideError(LookupError):
    """A step leaves the positions of the small dataflow."""


def first_state(theory: Theory) -> State:
    """The initial state of a theory on the small dataflow."""
    sources, targets = (0, 0, 0, 1, 2), (0, 1, 2, 2, 0)
    constants: dict[str, Callable[..., Any]] = {
        "source_of": lambda c: sources[c] if c in range(5) else 0,
        "target_of": lambda c: targets[c] if c in range(5) else 0,
        "is_input": lambda c: c < 2,
        "is_output": lambda c: c == 4,
        "rank": lambda t: t,
        "first_history": lambda t: (TASKS[t],),
        "next_history": lambda h, c, v: (*h, (c, v)),
        "count": lambda c, h: 1,
        "emit": lambda c, h, p: (c, h),
        "overtakes": lambda n: n == 2,
        "stops": lambda n: n == 3,
        "lost": lambda: "lost",
    }
    anything: dict[str, Callable[..., Any]] = {field.name: lambda *_: "anything" for field in theory.fields}
    for name in ("order", "transaction_of"):
        anything[name] = lambda *_: 0
    anything["value"] = lambda c, p: (c, p)
    empty = State({**anything, **constants}, SMALL)
    return settled(empty, theory.start(empty), theory.fields)


def settled(state: State, changes: Mapping[str, Callable[..., Any]], fields: tuple[Field, ...]) -> State:
    """The state after the changes, as tables. Raises OutsideError if a position leaves the small dataflow."""
    tables = {}
    for field in fields:
        if field.name in changes:
            change = changes[field.name]
            table = {elements: change(*elements) for elements in SMALL.elements(field.of)}
            if field.value is POSITION and any(not 0 <= value < POSITIONS for value in table.values()):
                raise OutsideError(field.name)
            outside = 0 if field.value.is_number else False
            tables[field.name] = lambda *elements, table=table, outside=outside: table.get(elements, outside)
    return state.after(tables)


def taken(theory: Theory, state: State, step: Taken) -> State | None:
    """The state after a step; None if it cannot be taken, or leaves the small dataflow."""
    try:
        guards, changes = step.action.step(state, *step.elements)
        return settled(state, changes, theory.fields) if all(guards.values()) else None
    except OutsideError:
        return None


def failed(clauses: tuple[Clause, ...], state: State) -> Clause | None:
    """The first clause that is false in a state of the small dataflow."""
    for found in clauses:
        if not SMALL.all(found.of, lambda *elements, found=found: found.holds(state, *elements)):
            return found
    return None
