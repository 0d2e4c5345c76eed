"""COORD-32, stated over a history of messages: the guarantee of a completed checkpoint."""

from model.coordinator.events import Complete
from model.events import Effects, Event
from model.history.coordinator import Acknowledgement, CoordinatorHistory, acknowledgements_with
from model.registry import Registry

COORDINATOR_HISTORY = Registry("coordinator_history")


@COORDINATOR_HISTORY.step("COORD-32")
def coord_32(before: CoordinatorHistory, event: Event, effects: Effects, after: CoordinatorHistory) -> bool:
    """A completed checkpoint was triggered in this attempt, and every task has acknowledged it since then."""
    acknowledgements = acknowledgements_with(before, event)
    return all(
        one.checkpoint in before.triggered
        and all(Acknowledgement(task, one.checkpoint) in acknowledgements for task in _tasks(before))
        for one in effects
        if type(one) is Complete
    )


@COORDINATOR_HISTORY.state("COORD-32")
def coord_32_awaits(history: CoordinatorHistory) -> bool:
    """A triggered checkpoint that has not ended awaits a task."""
    return all(
        any(Acknowledgement(task, checkpoint) not in history.acknowledgements for task in _tasks(history))
        for checkpoint in history.triggered
    )


def _tasks(history: CoordinatorHistory) -> range:
    return range(len(history.coordinator.plan.sources))
