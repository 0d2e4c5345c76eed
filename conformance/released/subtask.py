"""Tests the subtask of a release, with the events that its coordinator and its task can send."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

from conformance.adapters.protocol import FAILURES, Errored, Wire
from conformance.generators.chooser import Chooser
from conformance.released.comparison import Search
from conformance.released.results import Target
from model.components import COMPONENTS
from model.subtask.environment import closed_subtask
from model.subtask.profiles import TASK_PROFILES
from model.subtask.subtask import CheckpointOnBarrier, Subtask

IDS = 3
"""The highest checkpoint id of the toured models."""
RESTORED_FROM = 2
"""The checkpoint from which a task is restored. The toured models also have an older and a newer id."""
CAUSE = "CHECKPOINT_DECLINED"
"""The reason of failures that name one. Every release has it; up to 1.13 there is no IO_EXCEPTION."""


@dataclass(frozen=True)
class SubtaskTarget(Target):
    """The subtask of one release."""

    def configs(self) -> list[Wire]:
        """The configurations: one to three concurrent checkpoints, and a restored task."""
        plain = [{"profile": self.profile, "max_concurrent": concurrent} for concurrent in (1, 2, 3)]
        return [*plain, {**plain[0], "restored": RESTORED_FROM}]


def target(version: str, profile: str) -> SubtaskTarget:
    """The target for a release."""
    return SubtaskTarget(version, profile, "subtask", "", after_finish=True, component="subtask")


class SubtaskSearch(Search):
    """Checks barriers in every small state, then plays tours and random sequences."""

    def begin(self) -> bool:
        """As in `Search`; then check each barrier in each state of a subtask with two ids."""
        return super().begin() and self.at_barriers()

    def at_barriers(self) -> bool:
        """Whether the release answers each checkpoint at a barrier as the model does.

        The adapter protocol does not define this event, so no other sequence has it.
        """
        config = self.small()[0]
        known, profile = COMPONENTS["subtask"], TASK_PROFILES[self._target.profile]
        for path, state in self._paths(config):
            for checkpoint in (1, 2):
                if not profile.orders_triggers and checkpoint in state.running:
                    continue
                barrier = CheckpointOnBarrier(checkpoint, fails=False)
                step = closed_subtask(2, 1, profile).step(state, barrier)
                wire = known.event(barrier)
                made = self._adapter.new("subtask", config)
                answer = made if isinstance(made, FAILURES) else self._adapter.apply([*path, wire])
                if isinstance(answer, FAILURES):
                    self._done.stopped = answer
                    return False
                observed = known.observe(step.state)
                expected = [known.words.write_effect(effect) for effect in step.effects]
                after = {name: observed[name] for name in answer.state}
                if (answer.effects[-1], answer.state) != (expected, after):
                    difference = f"after {list(path)}, {wire}: expected {expected} {after}, got {answer}"
                    self._done.stopped = Errored(difference)
                    return False
                self._done.events += len(path) + 1
                self._done.transitions += 1
                self._done.rules.update(step.rules)
        return True

    def _paths(self, config: Wire) -> Iterator[tuple[tuple[Wire, ...], Subtask]]:
        """Yield each state of the closed subtask that a release can reach, with a shortest path to it."""
        known = COMPONENTS["subtask"]
        closed = closed_subtask(2, 1, TASK_PROFILES[self._target.profile], breaks=False)
        start = known.new(config)
        ways: dict[Subtask, tuple[Wire, ...]] = {start: ()}
        left = deque([start])
        while left:
            state = left.popleft()
            yield ways[state], state
            for _, event in closed.offers(state):
                wire = with_cause_of_all(known.event(event))
                after = closed.step(state, event).state
                if after not in ways and is_sent(known.observe(state), wire):
                    ways[after] = (*ways[state], wire)
                    left.append(after)

    def small(self) -> list[Wire]:
        """The configurations with one and two concurrent checkpoints, and the restored task."""
        one, two, _, restored = self._target.configs()
        return [one, two, restored]

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """Every event that a release can receive, with ids from 1 to `IDS`."""
        events: list[Wire] = [{"kind": "status", "running": running} for running in (True, False)]
        events.append({"kind": "close"})
        kinds = ["checkpoint", "complete_notification", "subsumed_notification", "async_done", "async_failed"]
        for checkpoint in range(1, IDS + 1):
            events += ({"kind": kind, "checkpoint": checkpoint} for kind in kinds)
            events.append({"kind": "checkpoint", "checkpoint": checkpoint, "fails": True})
            events.append({"kind": "async_failed", "checkpoint": checkpoint, "reason": CAUSE})
            events.append(
                {"kind": "abort_on_barrier", "checkpoint": checkpoint, "reason": "ON_CANCELLATION_BARRIER"}
            )
        events += (
            {"kind": "abort_notification", "checkpoint": checkpoint, "completed": completed}
            for checkpoint, completed in product(range(1, IDS + 1), (-1, *range(1, IDS + 1)))
        )
        return (event for event in events if is_sent(observed, event))

    def chooser(self, config: Wire, rng: Random) -> Chooser:
        """As in `Search`, with reasons that every release has."""
        choose = super().chooser(config, rng)

        def chosen(observed: Wire) -> Wire | None:
            event = choose(observed)
            return event if event is None else with_cause_of_all(event)

        return chosen

    def allows(self, config: Wire) -> Callable[[Wire, Wire], bool]:
        """As in `Search`: only events that a release can receive (`is_sent`)."""
        return is_sent


def with_cause_of_all(event: Wire) -> Wire:
    """The event, with CAUSE as its reason if it is IO_EXCEPTION, which not every release has."""
    return {**event, "reason": CAUSE} if event.get("reason") == "IO_EXCEPTION" else event


def is_sent(observed: Wire, event: Wire) -> bool:
    """Whether a release can receive the event: ids begin with 1, and a stopped task does not run again."""
    if event.get("checkpoint", 1) < 1 or event.get("completed", 1) == 0:
        return False
    return not (event["kind"] == "status" and event.get("running") and not observed["running_task"])
