"""Finds the shortest run to a move that breaks a property: traces it backwards, then replays it in the model.

A search over packed states stores no parents. This module visits the levels again from the last to the first:
in each level it finds a state that leads to the known state of the next level. Then the Python model finds
the events between these states, and the properties that the last event breaks, and replays the whole run. If
the model finds no such run, the kernel is wrong, and the module raises DisagreementError. If states represent
others (`symmetry`, `renaming`), the reported run is still a run of the model, with its channels and ids.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from model.checker.closed_model import ClosedModel
from model.checker.compiled.program import Node, Program
from model.checker.compiled.renaming import RealIds, in_numbers
from model.checker.compiled.symmetry import canonical
from model.checker.explore import Violation, violation
from model.events import Event, Step
from model.properties import Property

Words = tuple[int, ...]


class DisagreementError(RuntimeError):
    """A kernel and the model from which it was generated disagree about a move."""


def retraced(program: Program, source: Words, before: Sequence[Callable[[Words], Words]]) -> Violation:
    """The violation by a run whose last move starts in the state `source` and breaks a property.

    `before`: one function for each level before that of `source`, oldest first. The function of a level maps
    a state of the next level to a predecessor in this level. Raises DisagreementError if the model finds no
    such run.
    """
    states = [source]
    for predecessor in reversed(before):
        states.append(predecessor(states[-1]))
    node = Node(program.closed.state, program.closed.environment)
    real = RealIds(program)
    run: list[Event] = []
    for words in reversed(states[:-1]):
        event, reached = _move_to(program, node, words)
        run.append(real.event(event))
        node = real.moved(reached) if program.ids else reached
    run.append(real.event(broken_move(program.closed, program.properties, node)))
    return replayed(program.closed, program.properties, in_numbers(program, run))


def broken_start(program: Program) -> Violation | None:
    """The violation of state properties by the initial state of a program, or None."""
    return broken_at_start(program.closed, program.properties)


def broken_at_start(closed: ClosedModel, properties: tuple[Property, ...]) -> Violation | None:
    """The violation of state properties by the initial state of a closed model, or None."""
    broken = _broken_states(properties, closed.state)
    return violation(broken, (), closed.state) if broken else None


def moves_of(closed: ClosedModel, node: Node) -> Iterable[tuple[Event, Step[Any], Node]]:
    """The moves of the Python model from a node: event, step, and the node after it."""
    for _, event in closed.offers(node.state):
        environment = closed.allows(node.environment, event)
        if environment is not None:
            step = closed.step(node.state, event)
            yield event, step, Node(step.state, environment)


def _move_to(program: Program, before: Node, target: Words) -> tuple[Event, Node]:
    """The first move to a state whose packed form is `target`. Raises DisagreementError if there is none."""
    for event, _, reached in moves_of(program.closed, before):
        if canonical(program, reached) == target:
            return event, reached
    after = program.layout.unpack(target)
    raise DisagreementError(f"the kernel has a move from {before} to {after}, the model has none; report it")


def broken_move(closed: ClosedModel, properties: tuple[Property, ...], node: Node) -> Event:
    """The first event whose step breaks a property. Raises DisagreementError if none does."""
    for event, step, _ in moves_of(closed, node):
        if broken_by(properties, node.state, event, step):
            return event
    raise DisagreementError(f"the kernel has a broken move from {node}, and the model has none")


def replayed(closed: ClosedModel, properties: tuple[Property, ...], run: tuple[Event, ...]) -> Violation:
    """Replays the run in the model, and returns the violation at its end.

    Raises DisagreementError if none.
    """
    node, broken = Node(closed.state, closed.environment), tuple[Property, ...]()
    for event in run:
        environment = closed.allows(node.environment, event)
        if environment is None or broken:
            raise DisagreementError(f"the model does not take {event} of the run {run}")
        before, step = node.state, closed.step(node.state, event)
        broken = broken_by(properties, before, event, step)
        node = Node(step.state, environment)
    if not broken:
        raise DisagreementError(f"the model breaks no property at the end of the run {run}")
    return violation(broken, run, before)


def broken_by(
    properties: tuple[Property, ...],
    before: Any,  # noqa: ANN401 - any component's state
    event: Event,
    step: Step[Any],
) -> tuple[Property, ...]:
    """The properties that the step breaks, or that the state after it breaks."""
    over_steps = tuple(
        known
        for known in properties
        if known.over_steps and not known.holds(before, event, step.effects, step.state)
    )
    return (*over_steps, *_broken_states(properties, step.state))


def _broken_states(properties: tuple[Property, ...], state: Any) -> tuple[Property, ...]:  # noqa: ANN401
    return tuple(known for known in properties if not known.over_steps and not known.holds(state))
