"""A coordinator with a history of its messages. The property of COORD-32 reads the history.

Only the coordinator's state decides each step. The history is computed from the events and effects, and not
from the coordinator's state. So a wrong state of the coordinator contradicts the history. In the closed model
no task finishes, so every task takes part in every checkpoint (COORD-27).
"""

from typing import NamedTuple

from model.coordinator.events import AcknowledgeMessage, Complete, CoordinatorRestart, TriggerTask
from model.coordinator.state import RUNNING, Coordinator
from model.events import Event, Step
from model.shared_events import Abort
from model.steps import step_of


class Acknowledgement(NamedTuple):
    """A task has acknowledged a checkpoint for which the coordinator has triggered it."""

    task: int
    checkpoint: int


class CoordinatorHistory(NamedTuple):
    """A coordinator, and the messages that it has sent and received in the current attempt of the job."""

    coordinator: Coordinator
    triggered: tuple[int, ...]
    """The checkpoints that were triggered and have not ended, ascending."""
    acknowledgements: tuple[Acknowledgement, ...]
    """The acknowledgements of these checkpoints, ascending."""


def on_coordinator(history: CoordinatorHistory, event: Event) -> Step[CoordinatorHistory]:
    """The step of the coordinator. The event and its effects are added to the history."""
    coordinator, effects, rules = step_of("coordinator")(history.coordinator, event)
    ended = {one.checkpoint for one in effects if type(one) is Complete or type(one) is Abort}
    started = {one.checkpoint for one in effects if type(one) is TriggerTask}
    triggered = tuple(sorted({*history.triggered, *started} - ended))
    if type(event) is CoordinatorRestart or coordinator.status != RUNNING:
        triggered = ()
    known = acknowledgements_with(history, event)
    acknowledgements = tuple(sorted({one for one in known if one.checkpoint in triggered}))
    return Step(CoordinatorHistory(coordinator, triggered, acknowledgements), effects, rules)


def acknowledgements_with(history: CoordinatorHistory, event: Event) -> tuple[Acknowledgement, ...]:
    """The acknowledgements after the event."""
    if type(event) is not AcknowledgeMessage or event.checkpoint not in history.triggered:
        return history.acknowledgements
    return (*history.acknowledgements, Acknowledgement(event.task, event.checkpoint))
