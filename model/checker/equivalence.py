"""Compares two versions of a step function: a proof for every id, or the shortest run that differs.

Two versions are *equivalent* if the following holds for any two states that differ only in their version:
each event has the same outcome in both, and leads to two states that again differ only in their version.
`alike` proves this. `shortest_difference` explores both closed models side by side, breadth first, and takes
the events that both permit.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import z3

from model.checker.closed_model import ClosedModel
from model.checker.paths import Ground, paths, satisfiable, solver_with
from model.checker.prove import Case
from model.checker.symbolic import SymbolicBool, concrete
from model.events import Effects, Event, Step

Outcome = Callable[[Effects], object]
"""The part of the effects of a step that is compared."""
Project = Callable[[Any], object]
"""The part of a state that is compared: everything except its version."""


class Pair(NamedTuple):
    """One state in both versions, and one event for both."""

    left: Case
    right: Case
    assume: tuple[z3.BoolRef, ...]
    """Conditions on the state, in addition to the assumptions of the left case."""


class Difference(NamedTuple):
    """The first step that differs."""

    run: tuple[Event, ...]
    """All events of the run. If a proof is refuted, only the last one."""
    state: Any
    """The state of the left version before the last event."""
    left: Effects
    right: Effects


class Verdict(NamedTuple):
    """The number of followed paths, and a difference. It is None if the two versions are equivalent."""

    paths: int
    difference: Difference | None


def alike(pairs: Iterable[Pair], outcome: Outcome, project: Project) -> Verdict:
    """Tries to prove that each pair has equal outcomes and projections, for every value of every symbol.

    The verdict has the first difference that z3 finds, or None. Raises UndecidedError if z3 gives no answer.
    """
    count = 0
    for pair in pairs:
        solver = solver_with(*pair.assume, *pair.left.assumptions)
        if not satisfiable(solver):
            continue
        steps: list[tuple[Step[Any], Step[Any]]] = []

        def same(pair: Pair = pair, steps: list[tuple[Step[Any], Step[Any]]] = steps) -> object:
            left = pair.left.step(pair.left.state, pair.left.event)
            right = pair.right.step(pair.right.state, pair.right.event)
            steps.append((left, right))
            if outcome(left.effects) != outcome(right.effects):
                return False
            return project(left.state) == project(right.state)

        ground = Ground(solver)
        for path in paths(same, ground):
            count += 1
            if path.result is True:
                continue
            denied = z3.Not(path.result.term) if isinstance(path.result, SymbolicBool) else z3.BoolVal(True)
            ground.go_to(path.decided)
            if satisfiable(solver, denied):
                model = solver.model()
                left, right = steps[-1]
                return Verdict(
                    count,
                    Difference(
                        (concrete(pair.left.event, model),),
                        concrete(pair.left.state, model),
                        concrete(left.effects, model),
                        concrete(right.effects, model),
                    ),
                )
    return Verdict(count, None)


def shortest_difference(
    left: ClosedModel, right: ClosedModel, outcome: Outcome, allowed: Callable[[Any, Event], bool]
) -> Difference | None:
    """The shortest run of both closed models whose last step has different outcomes.

    It takes only events that both offer and that are `allowed` in the left state. Returns None if the two
    models have no such run within their bounds.
    """
    start = (left.state, right.state, left.environment)
    runs: dict[Any, tuple[Event, ...]] = {start: ()}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        one, other, environment = node
        offered = {event for _, event in right.offers(other)}
        for _, event in left.offers(one):
            after = left.allows(environment, event) if event in offered else None
            if after is None or not allowed(one, event):
                continue
            run = (*runs[node], event)
            first, second = left.step(one, event), right.step(other, event)
            if outcome(first.effects) != outcome(second.effects):
                return Difference(run, one, first.effects, second.effects)
            reached = (first.state, second.state, after)
            if reached not in runs:
                runs[reached] = run
                waiting.append(reached)
    return None
