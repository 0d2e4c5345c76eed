"""Histories in which groups of events arrive at once, and whether some order of the model explains them.

A history is a run that the protocol permits, cut into steps: most are one event, some are a group of messages
that a real system sends without waiting for each other. The answer to a group has the effects of each event
and one state. It is explained by an order of the group in which the model gives each event these effects and
ends in this state (linearizability). Several orders may explain it; each is followed.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from random import Random
from typing import NamedTuple

from conformance.adapters.protocol import Applied, Concurrent, Failure, Made, Wire, canonical
from conformance.drive.lockstep import agrees
from conformance.drive.oracle import Node, Oracle

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
LARGEST = 3
"""Events of one group: they have 6 orders."""

Step = tuple[Wire, ...]


class Outcome(NamedTuple):
    """What came of one history."""

    steps: tuple[Step, ...]
    """Up to the one that shows something."""
    groups: int
    """Groups of several events that were sent."""
    unexplained: Applied | None = None
    """The answer to the last step, which no order explains."""
    failed: Failure | None = None

    @property
    def is_sound(self) -> bool:
        """Every answer came and is explained."""
        return self.unexplained is None and self.failed is None


def grouped(component: str, events: Iterable[Wire], random: Random) -> tuple[Step, ...]:
    """The run, with neighbouring messages in groups of up to LARGEST."""
    steps: list[Step] = []
    for event in events:
        last = steps[-1] if steps else ()
        joins = last and all(one["kind"] in MESSAGES[component] for one in (*last, event))
        if joins and len(last) < LARGEST and random.random() < 0.7:
            steps[-1] = (*last, event)
        else:
            steps.append((event,))
    return tuple(steps)


def play(oracle: Oracle, steps: Sequence[Step], adapter: Concurrent) -> Outcome:
    """Send the steps to a new instance; a step that the model refuses or fails in some order is left out."""
    made = adapter.new(oracle.component, oracle.config)
    if not isinstance(made, Made):
        return Outcome((), 0, failed=made)
    nodes, sent, groups = [oracle.start], [], 0
    for step in steps:
        ends = [list(_ends(oracle, node, step)) for node in nodes]
        if any(end is None for of_node in ends for end in of_node):
            continue
        sent.append(step)
        groups += len(step) > 1
        answer = adapter.apply_at_once(step) if len(step) > 1 else adapter.apply(step)
        if not isinstance(answer, Applied):
            return Outcome(tuple(sent), groups, failed=answer)
        found = (end for of_node in ends for end in of_node if end is not None and _explains(end, answer))
        nodes = list({oracle.key(node): node for _, node in found}.values())
        if not nodes:
            return Outcome(tuple(sent), groups, unexplained=answer)
    return Outcome(tuple(sent), groups)


def shortest(oracle: Oracle, outcome: Outcome, adapter: Concurrent) -> Outcome:
    """Leave out events, and groups of them, while the history still cannot be explained."""
    position = len(outcome.steps)
    while position:
        position -= 1
        step = outcome.steps[position]
        for kept in [(), *(step[:at] + step[at + 1 :] for at in range(len(step)) if len(step) > 1)]:
            fewer = (*outcome.steps[:position], *([kept] if kept else []), *outcome.steps[position + 1 :])
            again = play(oracle, fewer, adapter)
            if not again.is_sound and type(again.failed) is type(outcome.failed):
                outcome, position = again, min(position + 1, len(again.steps))
                break
    return outcome


End = tuple[tuple[bytes, ...], Node]
"""The effects of each event of a step, in the order of the step, and the state behind all."""


def _ends(oracle: Oracle, node: Node, step: Step) -> Iterator[End | None]:
    """One end for each order; None for an order in which an event is refused or fails the task."""
    for order in permutations(range(len(step))):
        at, effects = node, dict[int, bytes]()
        for place in order:
            edge = oracle.step(at, step[place])
            if edge.refused is not None or edge.fails:
                yield None
                return
            at, effects[place] = edge.after, edge.spelled
        yield tuple(effects[place] for place in range(len(step))), at


def _explains(end: End, answer: Applied) -> bool:
    effects, node = end
    return effects == tuple(map(canonical, answer.effects)) and agrees(answer.state, node.observed)
