"""The count of failing checkpoints, alone, on the wire: the part that released generations are tested for."""

from typing import NamedTuple

from model import fields
from model.coordinator import failures
from model.coordinator.failures import Failures
from model.coordinator.profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR, CoordinatorProfile
from model.events import Step
from model.fields import Wire, WireError
from model.store.wire import TYPES


class FailJob(NamedTuple):
    """More failures were counted than are tolerated."""

    kind: str = "fail_job"


class Counting(NamedTuple):
    """The count and its configuration."""

    failures: Failures
    profile: CoordinatorProfile
    tolerable: int


def new_counting(config: Wire) -> Counting:
    """A count with the configured `tolerable_failures` and `profile`.

    Raises WireError if they are not valid.
    """
    fields.only(config, ("tolerable_failures", "profile"), "config")
    named = fields.choice(config, "profile", tuple(COORDINATOR_PROFILES), default=NEWEST_COORDINATOR.name)
    tolerable = fields.integer(config, "tolerable_failures", at_least=-1, default=0)
    return Counting(failures.new_failures(), COORDINATOR_PROFILES[named], tolerable)


def step_counting(state: Counting, event: Wire) -> Step[Counting]:
    """The step of a failure of a task or of the coordinator, or of a success (COORD-17, COORD-18)."""
    kind = fields.kind_of(event, ("failure", "success"))
    checkpoint = fields.checkpoint(event)
    if kind == "success":
        counted = failures.on_success(state.failures, state.profile, state.tolerable, checkpoint)
        return Step(state._replace(failures=counted), (), ())
    type_ = TYPES.index(fields.choice(event, "type", TYPES))
    if type_ and not state.profile.savepoints_fail_alone:
        raise WireError("up to 1.13 the coordinator itself deals with savepoints that fail")
    counted, fails = failures.on_failure(
        state.failures,
        state.profile,
        state.tolerable,
        checkpoint,
        type_,
        fields.text(event, "reason"),
        by_task=fields.boolean(event, "by_task"),
    )
    return Step(state._replace(failures=counted), (FailJob(),) if fails else (), ())


def observe_counting(state: Counting) -> dict[str, object]:
    """`counted`: number of failures that count now."""
    return {"counted": len(state.failures.counted)}
