"""Histories with groups of concurrent events, and a search for an order in which the model explains them.

A history is a run that the protocol permits, in steps: one event, or a group of messages that a real system
sends without waiting for each other. The answer to a group has the effects of each event and one state. An
order of the group explains the answer if the model, in this order, gives each event the same effects and ends
in the same state (linearizability). If several orders explain it, the search follows each of them.
"""

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from conformance.adapters.protocol import Applied, Concurrent, Failure, Made, Wire, canonical
from conformance.drive.lockstep import agrees
from conformance.drive.oracle import Node, Oracle
from conformance.generators import generate

MESSAGES = {
    "coordinator": ("acknowledge", "decline", "advance"),
    "subtask": (
        "abort_notification",
        "complete_notification",
        "subsumed_notification",
        "async_done",
        "async_failed",
    ),
}
"""For each component, the events that arrive from several threads or machines."""
LARGEST = 5
"""Maximum number of events in a group: 5 events have 120 orders."""
LENGTH = 20
"""Maximum number of steps in a history."""
CANDIDATES = 12
"""Number of events drawn for a step. A group prefers those messages that are about its first checkpoint."""
TRIES = 5
"""Maximum number of plays of a shortened history. It is kept if one of the plays cannot be explained."""
REPEATED = 0.3
"""The probability that the next event of a group repeats an event of the group."""

Step = tuple[Wire, ...]


class Outcome(NamedTuple):
    """The result of one history."""

    steps: tuple[Step, ...]
    """The steps that were sent, up to the one that shows a difference."""
    groups: int
    """Number of groups of several events that were sent."""
    reordered: int = 0
    """Number of groups whose answer is not explained by the order of the request."""
    unexplained: Applied | None = None
    """The answer to the last step, which no order explains."""
    failed: Failure | None = None

    @property
    def is_sound(self) -> bool:
        """Whether every answer was received and is explained by an order of the model."""
        return self.unexplained is None and self.failed is None


def drawn(oracle: Oracle, random: Random) -> tuple[Step, ...]:
    """A random history that the protocol permits. Further messages join a step that begins with a message."""
    choose = generate.chooser(oracle.component, oracle.config, random)
    node, steps = oracle.start, list[Step]()
    for _ in range(LENGTH):
        events = [event for event in (choose(node.observed) for _ in range(CANDIDATES)) if event is not None]
        step = _step(oracle, node, events, random)
        for event in step:
            node = oracle.step(node, event).after
        steps += [step] if step else []
    return tuple(steps)


def _step(oracle: Oracle, node: Node, events: Sequence[Wire], random: Random) -> Step:
    """The first permitted event; if it is a message, with further messages, some of them repeated."""
    messages, size = MESSAGES[oracle.component], random.randint(2, LARGEST)
    first = next((one for one in events if after(oracle, [node], (one,)) is not None), None)
    if first is None or first["kind"] not in messages:
        return () if first is None else (first,)
    step: Step = (first,)
    others = [one for one in events if one["kind"] in messages and one is not first]
    for other in sorted(others, key=lambda one: one.get("checkpoint") != first.get("checkpoint")):
        more = (*step, random.choice(step) if random.random() < REPEATED else other)
        if len(step) < size and after(oracle, [node], more) is not None:
            step = more
    return step


def play(oracle: Oracle, steps: Sequence[Step], adapter: Concurrent) -> Outcome:
    """Send the steps to a new instance.

    A step is left out if in some order the model refuses one of its events, or one of them fails the task.
    """
    made = adapter.new(oracle.component, oracle.config)
    if not isinstance(made, Made):
        return Outcome((), 0, failed=made)
    nodes, sent, groups, reordered = [oracle.start], list[Step](), 0, 0
    for step in steps:
        if after(oracle, nodes, step) is None:
            continue
        sent.append(step)
        groups += len(step) > 1
        answer = adapter.apply_at_once(step) if len(step) > 1 else adapter.apply(step)
        if not isinstance(answer, Applied):
            return Outcome(tuple(sent), groups, reordered, failed=answer)
        before, nodes = nodes, explained(oracle, nodes, step, answer)
        if not nodes:
            return Outcome(tuple(sent), groups, reordered, unexplained=answer)
        reordered += len(step) > 1 and not explained(oracle, before, step, answer, in_order=True)
    return Outcome(tuple(sent), groups, reordered)


def shortest(oracle: Oracle, outcome: Outcome, adapter: Concurrent) -> Outcome:
    """The outcome of a shortened history: leaves out steps and events as long as some play still fails."""
    position = len(outcome.steps)
    while position:
        position -= 1
        step = outcome.steps[position]
        for kept in [(), *(step[:at] + step[at + 1 :] for at in range(len(step)) if len(step) > 1)]:
            fewer = (*outcome.steps[:position], *([kept] if kept else []), *outcome.steps[position + 1 :])
            plays = (play(oracle, fewer, adapter) for _ in range(TRIES))
            again = next((one for one in plays if not one.is_sound), None)
            if again is not None and type(again.failed) is type(outcome.failed):
                outcome, position = again, min(position + 1, len(again.steps))
                break
    return outcome


def explained(
    oracle: Oracle, nodes: Iterable[Node], step: Step, answer: Applied, *, in_order: bool = False
) -> list[Node]:
    """The final states of the orders that explain the answer; `in_order`: only the order of the step."""
    effects = [canonical(of_event) for of_event in answer.effects]
    ends = after(oracle, nodes, step, effects, in_order=in_order)
    return [node for node in ends or () if agrees(answer.state, node.observed)]


def after(
    oracle: Oracle,
    nodes: Iterable[Node],
    step: Step,
    effects: Sequence[bytes] | None = None,
    *,
    in_order: bool = False,
) -> list[Node] | None:
    """The states after every order of the step; with `effects`, only of orders that give each event these.

    None if in some order an event is refused or fails the task. Orders that reach the same state after the
    same events continue as one. `in_order`: only the order of the step.
    """
    level = {(0, oracle.key(node)): node for node in nodes}
    for number in range(len(step)):
        following = dict[tuple[int, object], Node]()
        for (taken, _), node in level.items():
            for place in (number,) if in_order else range(len(step)):
                if taken >> place & 1:
                    continue
                edge = oracle.step(node, step[place])
                if edge.refused is not None or edge.fails:
                    return None
                if effects is None or edge.spelled == effects[place]:
                    following[taken | 1 << place, oracle.key(edge.after)] = edge.after
        level = following
    return list({oracle.key(node): node for node in level.values()}.values())
