"""Evaluates a theory on one small dataflow with Python values, so that its runs are readable.

Two sources, `a` and `b`, send records to the task `join`. A sink makes the output of `join` visible with
transactions. A task sends one record for each record that it reads. Its state is the sequence of records that
it has read.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from model.theorem.dataflow import CHANNEL, ID, POSITION, TASK
from model.theorem.logic import Formula, Sort, State
from model.theorem.theory import Action, Clause, Field, Theory

TASKS = ("a", "b", "join")
CHANNELS = ("input of a", "input of b", "a to join", "b to join", "output")
OUTPUT = CHANNELS.index("output")


@dataclass(frozen=True)
class Small:
    """The small dataflow with bounds on ids and positions, and quantifiers over it."""

    ids: int = 4
    """Number of ids, including checkpoint 0, which is the start of the job."""
    positions: int = 4
    """Number of positions of a channel, and of a task's run."""
    overtakes: int = 2
    """The id of the unaligned checkpoint. A value that is not an id: there is none."""
    stops: int = 3
    """The id of the savepoint that stops the job. A value that is not an id: there is none."""
    size: int = 0
    """The number of records of each input; 0: inputs do not end."""

    @cached_property
    def sizes(self) -> Mapping[Sort, int]:
        """The number of elements of each sort."""
        return {TASK: len(TASKS), CHANNEL: len(CHANNELS), ID: self.ids, POSITION: self.positions}

    def elements(self, sorts: tuple[Sort, ...]) -> Iterator[tuple[int, ...]]:
        """All combinations of elements."""
        return product(*(range(self.sizes[sort]) for sort in sorts))

    def all(self, sorts: tuple[Sort, ...], holds: Callable[..., Formula]) -> bool:
        """The formula holds for all elements of the sorts."""
        return all(holds(*elements) for elements in self.elements(sorts))


SMALL = Small()


class Table:
    """A function as a table of its values."""

    def __init__(self, field: Field, change: Callable[..., Any], small: Small) -> None:
        """Raises OutsideError if a position leaves the small dataflow."""
        self._cells = {elements: change(*elements) for elements in small.elements(field.of)}
        self._outside = 0 if field.value.is_number else False
        self.values = tuple(self._cells.values())
        if field.value is POSITION and any(not 0 <= value < small.positions for value in self.values):
            raise OutsideError(field.name)

    def __call__(self, *elements: int) -> Any:  # noqa: ANN401
        """The value; 0 or false outside the small dataflow."""
        return self._cells.get(elements, self._outside)


class Taken(NamedTuple):
    """One step of a run."""

    action: Action
    elements: tuple[int, ...]

    @property
    def text(self) -> str:
        """The step in words."""
        return SENTENCES[self.action.name].format(*words(self.action.of, self.elements))


SENTENCES = {
    "process": "{0} reads the next record of '{1}', and sends one",
    "receive": "the barrier of {1} arrives on '{0}'",
    "overtake": "the barrier of {1} overtakes the records of '{0}'",
    "snapshot": "{0} takes its snapshot for {1} and sends its barriers",
    "give up": "{0} gives up the alignment of {1}",
    "store": "{0} stores its snapshot for {1}",
    "begin": "the coordinator begins {0}",
    "abort": "the coordinator aborts {0}",
    "acknowledge": "the acknowledgement of {0} for {1} reaches the coordinator",
    "complete": "the coordinator completes {0}",
    "commit": "the sink commits the transaction of '{0}' that {1} closed",
    "crash": "the job fails",
    "receive end": "the end of '{0}' arrives",
    "finish": "{0} finishes",
    "restore": "all tasks restart from the latest completed checkpoint",
}
"""The sentence for a step of each action. `{0}`, `{1}`: its elements."""


def words(sorts: tuple[Sort, ...], elements: tuple[int, ...]) -> list[str]:
    """The names of elements, for texts."""
    names = {TASK: TASKS, CHANNEL: CHANNELS}
    nouns = {ID: "checkpoint", POSITION: "position"}
    return [
        names[sort][element] if sort in names else f"{nouns[sort]} {element}"
        for sort, element in zip(sorts, elements, strict=True)
    ]


class OutsideError(LookupError):
    """A step leaves the positions of the small dataflow."""


def first_state(theory: Theory, small: Small = SMALL) -> State:
    """The initial state of a theory on the small dataflow."""
    sources, targets = (0, 0, 0, 1, 2), (0, 1, 2, 2, 0)
    constants: dict[str, Callable[..., Any]] = {
        "source_of": lambda c: sources[c] if c in range(5) else 0,
        "target_of": lambda c: targets[c] if c in range(5) else 0,
        "is_input": lambda c: c < 2,
        "is_output": lambda c: c == 4,
        "is_bounded": lambda c: c < 2 and small.size > 0,
        "size": lambda c: small.size,
        "rank": lambda t: t,
        "first_history": lambda t: (TASKS[t],),
        "next_history": lambda h, c, v: (*h, (c, v)),
        "count": lambda c, h: 1,
        "emit": lambda c, h, p: (c, h),
        "overtakes": lambda n: n == small.overtakes,
        "stops": lambda n: n == small.stops,
        "is_savepoint": lambda n: False,
        "lost": lambda: "lost",
    }
    anything: dict[str, Callable[..., Any]] = {field.name: lambda *_: "anything" for field in theory.fields}
    for name in ("order", "transaction_of"):
        anything[name] = lambda *_: 0
    anything["value"] = lambda c, p: (c, p)
    empty = State({**anything, **constants}, small)
    return settled(empty, theory.start(empty), theory.fields, small)


def settled(
    state: State, changes: Mapping[str, Callable[..., Any]], fields: tuple[Field, ...], small: Small
) -> State:
    """The state after the changes, as tables. Raises OutsideError if a position leaves the small dataflow."""
    return state.after(
        {field.name: Table(field, changes[field.name], small) for field in fields if field.name in changes}
    )


def taken(theory: Theory, state: State, step: Taken, small: Small = SMALL) -> State | None:
    """The state after a step. None if a guard does not hold or the step leaves the small dataflow."""
    try:
        guards, changes = step.action.step(state, *step.elements)
        return settled(state, changes, theory.fields, small) if all(guards.values()) else None
    except OutsideError:
        return None


class Failure(NamedTuple):
    """A clause that is false for some elements."""

    clause: Clause
    elements: tuple[int, ...]

    @property
    def text(self) -> str:
        """The clause and the elements in words."""
        of = ", ".join(words(self.clause.of, self.elements))
        return f"{self.clause.name!r} is false of {of}: {self.clause.sentence}"


def failed(clauses: tuple[Clause, ...], state: State, small: Small = SMALL) -> Failure | None:
    """The first clause that is false in a state of the small dataflow."""
    for found in clauses:
        for elements in small.elements(found.of):
            if not found.holds(state, *elements):
                return Failure(found, elements)
    return None
