"""The count of failed checkpoints as a component, so that the suite can compare it with released Flinks."""

from typing import Any, NamedTuple

from model.component import Component
from model.coordinator import failures
from model.coordinator.failures import Failure, Failures
from model.coordinator.generations import failure_steps
from model.coordinator.profiles import COORDINATOR_PROFILES, CoordinatorProfile
from model.events import Step
from model.fields import Wire, WireError, Words
from spec.vocabulary import parse, types

_VOCABULARY = {
    "title": "The count of failing checkpoints",
    "config": {
        "tolerable_failures": {"type": "integer_or_minus_one", "default": 0},
        "profile": {"type": "coordinator_profile", "default": "2.3"},
    },
    "event": [
        {
            "kind": "failure",
            "description": "A checkpoint fails; -1: the failure names no checkpoint.",
            "fields": {
                "checkpoint": "checkpoint_or_minus_one",
                "type": "checkpoint_type",
                "reason": "text",
                "by_task": "boolean",
            },
        },
        {
            "kind": "success",
            "description": "A checkpoint is complete.",
            "fields": {"checkpoint": "checkpoint"},
        },
    ],
    "effect": [{"kind": "fail_job", "description": "The job fails."}],
}
WORDS = Words(parse("failures", _VOCABULARY, types()))


class FailJob(NamedTuple):
    """The count of failures exceeds the tolerated number."""

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
    given = WORDS.config(config)
    return Counting(
        failures.new_failures(), COORDINATOR_PROFILES[given["profile"]], given["tolerable_failures"]
    )


def step_counting(state: Counting, event: Wire) -> Step[Counting]:
    """The step of a failure of a task or of the coordinator, or of a success (COORD-17, COORD-18)."""
    kind, given = WORDS.event(event)
    steps = failure_steps(state.profile)
    if kind == "success":
        counted = steps.on_success(state.failures, state.tolerable, given["checkpoint"])
        return Step(state._replace(failures=counted), (), ())
    if given["type"] and not state.profile.declines_count_for_all_types:
        raise WireError("up to 1.14.2 this component counts no failure of a savepoint; leave it out")
    failure = Failure(given["checkpoint"], given["type"], given["reason"], given["by_task"])
    counted, fails = steps.on_failure(state.failures, state.profile, state.tolerable, failure)
    return Step(state._replace(failures=counted), (FailJob(),) if fails else (), ())


def observe_counting(state: Counting) -> dict[str, object]:
    """The observable state: `counted`, the number of counted failures."""
    return {"counted": len(state.failures.counted)}


def config_of_counting(state: Counting) -> dict[str, Any]:
    """The configuration of a count."""
    return {"profile": state.profile.name, "tolerable_failures": state.tolerable}


COMPONENT = Component("failures", WORDS, new_counting, step_counting, observe_counting, config_of_counting)
