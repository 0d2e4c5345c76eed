"""The snapshot steps of a release's subtask, without what no coordinator and no task of a release does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from conformance.adapters.protocol import Wire
from conformance.released.results import Target
from conformance.released.sequences import Search

IDS = 3
"""The highest checkpoint id of the toured models."""


@dataclass(frozen=True)
class SubtaskTarget(Target):
    """The subtask of one release."""

    def configs(self) -> list[Wire]:
        """One to three concurrent checkpoints."""
        return [{"profile": self.profile, "max_concurrent": concurrent} for concurrent in (1, 2, 3)]


def target(version: str, profile: str) -> SubtaskTarget:
    """The target for a release."""
    return SubtaskTarget(version, profile, "subtask", "", after_finish=True, component="subtask")


class SubtaskSearch(Search):
    """Tours, and the random events that a release can receive."""

    def small(self) -> list[Wire]:
        """One and two concurrent checkpoints."""
        return self._target.configs()[:2]

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """Every event, ids from 1 to `IDS`."""
        events: list[Wire] = [{"kind": "status", "running": running} for running in (True, False)]
        events.append({"kind": "close"})
        kinds = ["checkpoint", "complete_notification", "subsumed_notification", "async_done", "async_failed"]
        for checkpoint in range(1, IDS + 1):
            events += ({"kind": kind, "checkpoint": checkpoint} for kind in kinds)
            events.append({"kind": "checkpoint", "checkpoint": checkpoint, "fails": True})
            events.append({"kind": "async_failed", "checkpoint": checkpoint, "reason": "IO_EXCEPTION"})
            events.append(
                {"kind": "abort_on_barrier", "checkpoint": checkpoint, "reason": "ON_CANCELLATION_BARRIER"}
            )
        events += (
            {"kind": "abort_notification", "checkpoint": checkpoint, "completed": completed}
            for checkpoint, completed in product(range(1, IDS + 1), (-1, *range(1, IDS + 1)))
        )
        return (event for event in events if is_sent(observed, event))

    def allows(self, config: Wire) -> Callable[[Wire, Wire], bool]:
        """Ids begin with 1, and a task does not run again."""
        return is_sent


def is_sent(observed: Wire, event: Wire) -> bool:
    """A release can receive the event: ids begin with 1, and a task that has stopped does not run again."""
    if event.get("checkpoint", 1) < 1 or event.get("completed", 1) == 0:
        return False
    return not (event["kind"] == "status" and event.get("running") and not observed["running_task"])
