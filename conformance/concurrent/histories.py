"""Histories with groups of concurrent events, and a search for an order in which the model explains them.

A history is a run that the protocol permits, in steps: one event, or a group of messages that a real system
sends without waiting for each other. The answer to a group has the effects of each event and one state. It is
explained by an order of the group in which the model gives each event these effects and ends in this state
(linearizability). Several orders may explain it; each is followed.
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
"""By component, the events that arrive from several threads or machines."""
LARGEST = 5
"""Events of one group: they have 120 orders."""
LENGTH = 20
"""Steps of one history."""
CANDIDATES = 12
"""Events drawn for one step; of the messages among them, those of the same checkpoint are preferred."""
TRIES = 5
"""Plays of a shorter history: it is accepted if one of them cannot be explained."""
REPEATED = 0.3
"""The probability that the next event of a group repeats an event of the group."""

Step = tuple[Wire, ...]


class Outcome(NamedTuple):
    """The result of one history."""

    steps: tuple[Step, ...]
    """The groups up to the one that shows a difference."""
    groups: int
    """Groups of several events that were sent."""
    reordered: int = 0
    """Groups whose answer the order of the request does not explain."""
    unexplained: Applied | None = None
    """The answer to the last step, which no order explains."""
    failed: Failure | None = None

    @property
    def is_sound(self) -> bool:
        """Whether every answer was received and is explained by an order of the model."""
        return self.unexplained is None and self.failed is None


def drawn(oracle: Oracle, random: Random) -> tuple[Step, ...]:
    """A random run that the protocol permits; where a message is next, a group of messages is a step."""
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
    """The first event that is permitted; if it is a message, with other messages, and some of them twice."""
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
    """Send the steps to a new instance; a step that the model refuses or fails in some order is left out."""
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
    """Leave out events, and groups of them, while the history still cannot be explained."""
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
    """The states in which an order that explains the answer ends; `in_order`: only that of the step."""
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
    """The states after every order of the step, or only after those in which each event has these effects.

    None if an event is refused, or fails the task, on the way. Orders that meet after the same events in the
    same state go on as one. `in_order`: only the order of the step.
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
