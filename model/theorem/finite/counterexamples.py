"""Finds runs of a broken variant on the small dataflow, from the start of the job to a false statement.

An *order of preference* lists actions. A run by this order always takes the first action in the list that is
possible and changes the state. A search visits states of the unbroken theory: first the states of runs by
some fixed orders, then the states one step from these, and so on. In each state it looks for a *departure*: a
step that the variant permits and the theory does not. From each departure it continues runs by the orders,
until a sentence of the theorem is false or, if there is none, the clause of the variant. At the end the
search removes unnecessary steps from the run.
"""

from collections import deque
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from model.theorem import finished
from model.theorem.exactly_once import EXACTLY_ONCE
from model.theorem.finite.small_dataflow import OUTPUT, Failure, Small, Taken, failed, first_state, taken
from model.theorem.finite.small_scope import refuted
from model.theorem.logic import State
from model.theorem.theory import Clause, Theory
from model.theorem.variants import Variant

RARE = ("overtake", "give up", "abort")
"""Rare actions. Each search takes only some of them."""
CHECKPOINT = ("restore", "store", "acknowledge", "complete", "commit", "receive", "overtake", "snapshot")
END = ("receive end", "finish")
ORDERS = (
    (*CHECKPOINT, "process", *END, "begin"),
    (*CHECKPOINT, "crash", "process", *END, "begin"),
    ("restore", "process", *CHECKPOINT, "begin", *END, "crash"),
    ("restore", "begin", "snapshot", "process", *END, *CHECKPOINT),
    ("crash", *CHECKPOINT, "process", "begin", *END),
    ("restore", "process", "receive", "snapshot", "abort", *CHECKPOINT, "begin", *END),
)
"""The orders of preference. A run has at most one crash and one abort."""
LONGEST = 45
"""Maximum number of steps by which an order continues a run."""


class SearchLimits(NamedTuple):
    """The limits of one search."""

    sentence: str
    small: Small
    rare: tuple[str, ...] = ()
    """The rare actions that the search takes."""
    states: int = 300
    """Maximum number of states of the theory that the search visits."""
    continued: int = 40
    """Maximum number of departures from which the search continues."""


BOUNDS = (
    SearchLimits("one aligned checkpoint", Small(2, 3, -1, -1)),
    SearchLimits("one unaligned checkpoint", Small(2, 3, 1, -1), ("overtake",), 600),
    SearchLimits("one savepoint that stops the job", Small(2, 3, -1, 1)),
    SearchLimits("one aligned checkpoint that is given up or aborted", Small(2, 3, -1, -1), RARE, 600),
    SearchLimits("two aligned checkpoints", Small(3, 3, -1, -1), ("abort",)),
    SearchLimits("inputs that end, and one aligned checkpoint", Small(2, 3, -1, -1, 1)),
    SearchLimits("inputs that end, and two aligned checkpoints", Small(3, 3, -1, -1, 1)),
)
"""The searches, in the order in which they run. Each source reads one record before the departure."""


def bounds_of(variant: Variant) -> tuple[SearchLimits, ...]:
    """The searches for a variant.

    For a variant that concerns tasks that finish, those in which inputs end.
    """
    ends = {found.name for found in (*finished.ACTIONS, *finished.INVARIANT)}
    if ends.isdisjoint((variant.action, variant.clause)):
        return BOUNDS
    return tuple(bound for bound in BOUNDS if bound.small.size)


def bound_in_words(variant: Variant) -> str:
    """A text with the limits of the searches for a run of the variant."""
    bounds = bounds_of(variant)
    states = sum(bound.states for bound in bounds)
    continued_from = sum(bound.continued for bound in bounds)
    searches = "; ".join(bound.sentence for bound in bounds)
    return (
        f"{len(bounds)} searches ({searches}) of at most {states:,} states in all; runs continue from at "
        f"most {continued_from} departures, each in {len(ORDERS)} orders of at most {LONGEST} steps"
    )


class Run(NamedTuple):
    """Steps from the start of the job, and the clause that is false after them."""

    small: Small
    steps: tuple[Taken, ...]
    failure: Failure
    breaks_statement: bool
    """Whether a sentence of the theorem is false, or only the clause of the variant."""


class Node(NamedTuple):
    """A state, and the steps that reached it."""

    state: State
    steps: tuple[Taken, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        """A value that two nodes share if and only if their states are equal."""
        return tuple(getattr(self.state.functions[f.name], "values", None) for f in EXACTLY_ONCE.fields)


class Graph:
    """The states of the theory that a search visits: first those of runs by the orders, then near ones."""

    def __init__(self, bound: SearchLimits) -> None:
        self.bound = bound
        left_out = {*RARE} - {*bound.rare}
        self._names = [found.name for found in EXACTLY_ONCE.actions if found.name not in left_out]
        first = Node(first_state(EXACTLY_ONCE, bound.small), ())
        self._seen = set[tuple[Any, ...]]()
        self._queue = deque[Node]()
        for order in ORDERS:
            for node in continued(EXACTLY_ONCE, first, order, bound.small, set()):
                self._add(node)
        self._visited: list[Node] = []

    def nodes(self) -> Iterator[Node]:
        """Yields the states. A state is computed at its first use."""
        yield from self._visited
        while self._queue and len(self._visited) < self.bound.states:
            node = self._queue.popleft()
            self._visited.append(node)
            self._expand(node)
            yield node

    def _expand(self, node: Node) -> None:
        for name in self._names:
            for after in followers(EXACTLY_ONCE, node, name, self.bound.small):
                if name == "process" and any(after.state.read(c) > 1 for c in (0, 1)):
                    continue
                self._add(after)

    def _add(self, node: Node) -> None:
        if (key := node.key) not in self._seen:
            self._seen.add(key)
            self._queue.append(node)


def followers(theory: Theory, node: Node, name: str, small: Small) -> Iterator[Node]:
    """Yields the nodes after one step of an action that changes the state."""
    action = next(found for found in theory.actions if found.name == name)
    for elements in small.elements(action.of):
        step = Taken(action, elements)
        state = taken(theory, node.state, step, small)
        if state and (after := Node(state, (*node.steps, step))).key != node.key:
            yield after


def departures(variant: Variant, theory: Theory, bound: SearchLimits) -> Iterator[Node]:
    """Yields the nodes after a departure: a step that the variant permits and the theory does not."""
    seen = set()
    for node in graph(bound).nodes():
        ordinary = {after.key for after in followers(EXACTLY_ONCE, node, variant.action, bound.small)}
        for after in followers(theory, node, variant.action, bound.small):
            if (key := after.key) not in ordinary and key not in seen:
                seen.add(key)
                yield after


def continued(
    theory: Theory, node: Node, order: tuple[str, ...], small: Small, seen: set[Any]
) -> Iterator[Node]:
    """Yields the states of the run that the order continues from `node`, up to a state in `seen`."""
    for _ in range(LONGEST):
        once = {step.action.name for step in node.steps} & {"crash", "abort"}
        if (place := (order, frozenset(once), node.key)) in seen:
            return
        seen.add(place)
        yield node
        names = [name for name in order if name not in once]
        after = next((a for name in names for a in followers(theory, node, name, small)), None)
        if after is None:
            return
        node = after


def broken_statement(theory: Theory, state: State, small: Small) -> Failure | None:
    """The sentence of the theorem that is false in the state, or None.

    Also returns None while no checkpoint is complete and no record is visible.
    """
    is_early = state.latest() == 0 and not any(state.times(OUTPUT, p) for p in range(small.positions))
    return None if is_early else failed(theory.theorem, state, small)


@cache
def graph(bound: SearchLimits) -> Graph:
    """The states of a search, shared by all variants."""
    return Graph(bound)


def run_of(variant: Variant) -> Run | None:
    """A run to a false sentence of the theorem, else to a false clause; None if the searches find neither."""
    theory = variant.theory
    clause = tuple(c for c in theory.invariant if variant.is_record or c.name == variant.clause)
    found: Run | None = None
    for bound in bounds_of(variant):
        seen = set[Any]()
        for departure in islice(departures(variant, theory, bound), bound.continued):
            for order in ORDERS:
                for node in continued(theory, departure, order, bound.small, seen):
                    if not found and (failure := failed(clause, node.state, bound.small)):
                        found = Run(bound.small, node.steps, failure, breaks_statement=False)
                    if not variant.is_record and (
                        failure := broken_statement(theory, node.state, bound.small)
                    ):
                        run = Run(bound.small, node.steps, failure, breaks_statement=True)
                        return shortened(theory, run)
                if variant.is_record and found:
                    return shortened(theory, found)
    return shortened(theory, found) if found else None


def refutation(variant: Variant) -> tuple[bool, Run | None]:
    """Whether the variant's clause is false in the small scope, and the run that `run_of` finds."""
    return any(refuted(variant.theory, [variant.obligation])), run_of(variant)


def shortened(theory: Theory, run: Run) -> Run:
    """The run without unnecessary steps: its clause is still false at the end."""
    for place in reversed(range(len(run.steps))):
        steps = run.steps[:place] + run.steps[place + 1 :]
        if failure := failure_after(theory, steps, run.failure.clause, run.small):
            run = run._replace(steps=steps, failure=failure)
    return run


def failure_after(theory: Theory, steps: tuple[Taken, ...], clause: Clause, small: Small) -> Failure | None:
    """The values that make the clause false after the steps; None if it holds or a step cannot be taken."""
    state = first_state(theory, small)
    for step in steps:
        after = taken(theory, state, step, small)
        if after is None:
            return None
        state = after
    return failed((clause,), state, small)
