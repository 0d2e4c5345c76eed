"""The closed models of drivers that share a storage. FencingModel.tla specifies the same system.

Every driver may take its next step at any time, fail, or crash. So the explorer visits each interleaving.
"""

from collections.abc import Iterator

from model.checker.closed_model import ClosedModel, Environment
from model.events import Event
from model.fencing.events import (
    AttemptFails,
    CheckAttempt,
    CloseAttempt,
    ConfirmCheckpoint,
    DrawAttempt,
    DriverCrashes,
    FindCheckpoint,
    PublishCheckpoint,
    ReserveCheckpoint,
    StartAttempt,
)
from model.fencing.fencing import Fencing, is_next, new_fencing
from model.steps import step_of


def closed_fencing(drivers: int, attempts: int, checkpoints: int) -> ClosedModel:
    """Drivers that together draw at most `attempts` attempts and reserve at most `checkpoints` ids."""

    def offers(fencing: Fencing) -> Iterator[tuple[str, Event]]:
        for driver in range(1, drivers + 1):
            for action, kind in ACTIONS.items():
                event = kind(driver)
                if not is_next(fencing, event):
                    continue
                if kind is DrawAttempt and len(fencing.starts) == attempts:
                    continue
                if kind is ReserveCheckpoint and len(fencing.published) == checkpoints:
                    continue
                yield action, event

    def allows(environment: Environment, event: Event) -> Environment:
        return environment

    name = f"fencing, {drivers} drivers, {attempts} attempts, {checkpoints} checkpoints"
    return ClosedModel(name, "fencing", new_fencing(drivers), (), offers, allows, step_of("fencing"))


ACTIONS = {
    "Draw": DrawAttempt,
    "CloseOlder": CloseAttempt,
    "Find": FindCheckpoint,
    "Start": StartAttempt,
    "Reserve": ReserveCheckpoint,
    "Check": CheckAttempt,
    "Publish": PublishCheckpoint,
    "Confirm": ConfirmCheckpoint,
    "FailAttempt": AttemptFails,
    "Crash": DriverCrashes,
}
"""The actions of FencingModel.tla, and their events."""


def closed_fencing_models() -> tuple[ClosedModel, ...]:
    """The closed models of drivers. Every rule fires in one of them."""
    return closed_fencing(2, 3, 2), closed_fencing(2, 4, 1)
