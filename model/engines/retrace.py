"""The shortest run to a broken move, found backwards over the levels of a search, and told by the model.

A search over packed states remembers no parents. The levels that it went through are gone through once
more from the last to the first: a state of one level leads to the state that is looked for. The events
between the states of that run, and which properties the last one breaks, are asked of the Python model
itself, which replays the whole run; should it know nothing of a broken move, the kernel is wrong, and that is
an error. Where states stand for others, the run is one of the model's own, with its own channels and ids.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from model.engines.explore import Violation, violation
from model.engines.program import Node, Program
from model.engines.renaming import RealIds, in_numbers
from model.engines.symmetry import canonical
from model.events import Event, Step
from model.properties import Property

Words = tuple[int, ...]


class DisagreementError(RuntimeError):
    """The kernel and the model that it was read from do not agree about a move."""


def retraced(program: Program, source: Words, before: Sequence[Callable[[Words], Words]]) -> Violation:
    """The run whose last move, from the state `source`, breaks a property.

    `before`: for each level from the first to the one before that of `source`, a state of that level that
    leads to a given one.
    """
    states = [source]
    for predecessor in reversed(before):
        states.append(predecessor(states[-1]))
    node = Node(program.world.state, program.world.environment)
    real = RealIds(program)
    run: list[Event] = []
    for words in reversed(states[:-1]):
        event, reached = _move_to(program, node, words)
        run.append(real.event(event))
        node = real.moved(reached) if program.ids else reached
    run.append(real.event(_broken_move(program, node)))
    return _replayed(program, in_numbers(program, run))


def broken_start(program: Program) -> Violation | None:
    """The state properties that the start breaks."""
    state = program.world.state
    broken = _broken_states(program.properties, state)
    return violation(broken, (), state) if broken else None


def _moves(program: Program, node: Node) -> Iterable[tuple[Event, Any, Node]]:
    for _, event in program.world.offers(node.state):
        environment = program.world.allows(node.environment, event)
        if environment is not None:
            step = program.world.step(node.state, event)
            yield event, step, Node(step.state, environment)


def _move_to(program: Program, before: Node, wanted: Words) -> tuple[Event, Node]:
    """The first move to a state that these words stand for."""
    for event, _, reached in _moves(program, before):
        if canonical(program, reached) == wanted:
            return event, reached
    after = program.layout.unpack(wanted)
    raise DisagreementError(f"the kernel leads from {before} to {after}, and no event does")


def _broken_move(program: Program, node: Node) -> Event:
    for event, step, _ in _moves(program, node):
        if _broken(program, node.state, event, step):
            return event
    raise DisagreementError(f"the kernel has a broken move from {node}, and the model has none")


def _replayed(program: Program, run: tuple[Event, ...]) -> Violation:
    """What the model itself makes of the run, from its start."""
    world = program.world
    node, broken = Node(world.state, world.environment), tuple[Property, ...]()
    for event in run:
        environment = world.allows(node.environment, event)
        if environment is None or broken:
            raise DisagreementError(f"the model does not take {event} of the run {run}")
        before, step = node.state, world.step(node.state, event)
        broken = _broken(program, before, event, step)
        node = Node(step.state, environment)
    if not broken:
        raise DisagreementError(f"the model breaks no property at the end of the run {run}")
    return violation(broken, run, before)


def _broken(program: Program, before: Any, event: Event, step: Step[Any]) -> tuple[Property, ...]:  # noqa: ANN401
    over_steps = tuple(
        known
        for known in program.properties
        if known.over_steps and not known.holds(before, event, step.effects, step.state)
    )
    return (*over_steps, *_broken_states(program.properties, step.state))


def _broken_states(properties: tuple[Property, ...], state: Any) -> tuple[Property, ...]:  # noqa: ANN401
    return tuple(known for known in properties if not known.over_steps and not known.holds(state))
