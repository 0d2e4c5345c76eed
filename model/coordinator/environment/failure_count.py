"""The closed model of the coordinator's count of failed checkpoints.

FailuresModel.tla specifies the same system, with the failed ids as a set.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from model.checker.closed_model import ClosedModel, Environment
from model.coordinator import failures
from model.coordinator.events import FailJob
from model.coordinator.failures import Failure, Failures
from model.coordinator.generations import failure_steps
from model.coordinator.profiles import CoordinatorProfile
from model.events import NONE, Effects, Event, Step
from model.store.store import CHECKPOINT, SAVEPOINT


class CheckpointFails(NamedTuple):
    """A checkpoint has failed."""

    checkpoint: int
    type: int
    reason: str
    by_task: bool
    kind: str = "fail"


class CheckpointSucceeds(NamedTuple):
    """A checkpoint is complete."""

    checkpoint: int
    kind: str = "succeed"


def closed_failures(
    profile: CoordinatorProfile, tolerable: int, ids: int, reasons: tuple[str, ...]
) -> ClosedModel:
    """The closed model of the count. Each id may fail and succeed repeatedly. A failure may have no id."""

    def offers(counted: Failures) -> Iterator[tuple[str, Event]]:
        for checkpoint in range(1, ids + 1):
            yield "Succeed", CheckpointSucceeds(checkpoint)
            for kind, reason, by_task in product((CHECKPOINT, SAVEPOINT), reasons, (False, True)):
                yield "Fail", CheckpointFails(checkpoint, kind, reason, by_task)
        for reason in reasons:
            yield "Fail", CheckpointFails(NONE, CHECKPOINT, reason, False)

    def allows(succeeded: Environment, event: Event) -> Environment:
        if type(event) is CheckpointSucceeds:
            return (*succeeded[: event.checkpoint - 1], 1, *succeeded[event.checkpoint :])
        return succeeded

    steps = failure_steps(profile)

    def step(counted: Failures, event: Event) -> Step[Failures]:
        if type(event) is CheckpointSucceeds:
            after = steps.on_success(counted, tolerable, event.checkpoint)
            return Step(after, (), steps.rules[-1:])
        assert type(event) is CheckpointFails
        after, too_many = steps.on_failure(counted, profile, tolerable, Failure(*event[:-1]))
        effects: Effects = (FailJob(event.reason),) if too_many else ()
        return Step(in_order(after), effects, ("COORD-15", "COORD-16"))

    return ClosedModel(
        f"failures of {profile.name}, ids to {ids}, {tolerable} tolerated",
        "failures",
        failures.new_failures(),
        (0,) * ids,
        offers,
        allows,
        step,
        toured=False,
    )


def in_order(counted: Failures) -> Failures:
    """The same count, with the ids of failed checkpoints in ascending order."""
    return counted._replace(counted=tuple(sorted(counted.counted)))
