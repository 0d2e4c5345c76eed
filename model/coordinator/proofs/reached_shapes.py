"""The symbolic cases of the coordinator in the shapes that one closed model reaches.

A coordinator has too many shapes to list all, but a closed model reaches only few of them. Here a shape is a
state in which symbols replace ids, handles and times. Flags and types keep their values. The cases make only
assumptions that hold in all reached states: ids ascend and are below the next id, and no checkpoint is
overdue.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import z3

from model.checker.closed_model import ClosedModel
from model.checker.explore import explore
from model.checker.prove import Case
from model.checker.symbolic import SymbolicBool, SymbolicInt, int_term, symbolic_like
from model.coordinator.pending import Pending
from model.coordinator.state import Coordinator
from model.events import Event

NUMBERS = ("checkpoint", "handle", "ms")
"""The fields of an event that become symbols."""


def reached_cases(closed: ClosedModel) -> Iterator[Case]:
    """Yields one case for each pair of a shape and an event in the closed model's graph."""
    known: set[Any] = set()
    graph = explore(closed)
    for edge in graph.transitions:
        state = symbolic_coordinator(graph.nodes[edge.source][0])
        event = symbolic_event(edge.event)
        shape = (_shape(state), _shape(event))
        if shape not in known:
            known.add(shape)
            label = f"{len(state.pending)} pending, {len(state.store.entries)} stored, {event[-1]}"
            yield Case("coordinator as reached", label, state, event, closed.step, promised(state))


def symbolic_coordinator(reached: Coordinator) -> Coordinator:
    """The coordinator with symbols for its ids, handles and times."""
    return reached._replace(
        next_id=symbolic_like(0, "next_id"),
        pause_ends=symbolic_like(0, "pause_ends"),
        pending=tuple(
            _symbolic_pending(one, f"pending.{place}") for place, one in enumerate(reached.pending)
        ),
        failures=symbolic_like(reached.failures, "failures"),
        store=reached.store._replace(
            entries=tuple(
                one._replace(checkpoint=symbolic_like(0, f"store.{place}"))
                for place, one in enumerate(reached.store.entries)
            )
        ),
        unseen=tuple(
            one._replace(checkpoint=symbolic_like(0, f"unseen.{place}"))
            for place, one in enumerate(reached.unseen)
        ),
    )


def symbolic_event(event: Any) -> Event:  # noqa: ANN401 - one of the events, a named tuple
    """The event with symbols for its numbers."""
    parts = (
        symbolic_like(part, f"event.{name}") if name in NUMBERS else part
        for name, part in zip(event._fields, event, strict=True)
    )
    symbolic: Event = type(event)(*parts)
    return symbolic


def promised(state: Coordinator) -> tuple[z3.BoolRef, ...]:
    """The assumptions about a state, which hold in every reached state."""
    ids = [int_term(one.checkpoint) for one in state.pending]
    below = [*ids, *(int_term(one.checkpoint) for one in (*state.store.entries, *state.unseen))]
    unseen = [int_term(one.checkpoint) for one in state.unseen]
    return (
        int_term(state.next_id) > 0,
        int_term(state.pause_ends) >= 0,
        *(z3.And(known > 0, known < int_term(state.next_id)) for known in below),
        *(older < newer for older, newer in pairwise(ids)),
        *(older < newer for older, newer in pairwise(unseen)),
        *(int_term(one.deadline) > 0 for one in state.pending),
    )


def _symbolic_pending(reached: Pending, name: str) -> Pending:
    states = enumerate(zip(reached.states, reached.acknowledged, strict=True))
    return reached._replace(
        checkpoint=symbolic_like(0, f"{name}.checkpoint"),
        deadline=symbolic_like(0, f"{name}.deadline"),
        states=tuple(
            symbolic_like(0, f"{name}.states.{task}") if done else state for task, (state, done) in states
        ),
    )


def _shape(value: Any) -> Any:  # noqa: ANN401 - any part of a record
    """The value with all symbols replaced by one marker, so that equal shapes compare as equal."""
    if isinstance(value, SymbolicBool | SymbolicInt):
        return "#"
    if isinstance(value, tuple):
        return tuple(_shape(part) for part in value)
    return value
