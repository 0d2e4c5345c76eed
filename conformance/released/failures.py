"""The count of failing checkpoints of a release, alone: every reason, every type, any order.

Within a coordinator only reasons occur that some event leads to, each for the types that it can have.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from random import Random

from conformance.adapters.protocol import Wire
from conformance.generators.chooser import Chooser
from conformance.released.results import Target
from conformance.released.sequences import Search
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.events import NONE

TYPES = ("checkpoint", "savepoint", "stop")
EVERYWHERE = (
    "CHECKPOINT_DECLINED",
    "CHECKPOINT_EXPIRED",
    "CHECKPOINT_SUBSUMED",
    "COORDINATOR_SHUTDOWN",
    "COORDINATOR_SUSPEND",
    "FINALIZE_CHECKPOINT_FAILURE",
    "INPUT_END_OF_STREAM",
    "JOB_FAILOVER_REGION",
    "MINIMUM_TIME_BETWEEN_CHECKPOINTS",
    "NOT_ALL_REQUIRED_TASKS_RUNNING",
    "ON_CANCELLATION_BARRIER",
    "PERIODIC_SCHEDULER_SHUTDOWN",
    "SUBSUMED",
    "TASK_CHECKPOINT_FAILURE",
    "TASK_NOT_READY",
    "TRIGGER_CHECKPOINT_FAILURE",
)
"""Reasons that every listed release has."""
_EVER = (10, 0)
FROM_UNTIL: Mapping[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "ALIGNMENT_LIMIT_EXCEEDED": ((1, 9), (1, 17)),
    "ALREADY_QUEUED": ((1, 9), (1, 11)),
    "ASYNC_EXCEPTION": ((1, 10), _EVER),
    "EXCEPTION": ((1, 9), (1, 14)),
    "JOB_FAILURE": ((1, 9), (1, 17)),
    "TASK_NOT_CHECKPOINTING": ((1, 9), (1, 17)),
    "TOO_MANY_CONCURRENT_CHECKPOINTS": ((1, 9), (1, 17)),
    "TASK_CLOSING": ((1, 11), _EVER),
    "TASK_FAILURE": ((1, 11), _EVER),
    "TOO_MANY_CHECKPOINT_REQUESTS": ((1, 11), _EVER),
    "UNKNOWN_TASK_CHECKPOINT_NOTIFICATION_FAILURE": ((1, 11), _EVER),
    "IO_EXCEPTION": ((1, 14), _EVER),
    "BLOCKING_OUTPUT_EXIST": ((1, 20), _EVER),
    "CHANNEL_STATE_SHARED_STREAM_EXCEPTION": ((1, 17), _EVER),
}
"""The others: from this release on and before that one, as the listed releases have them."""


def reasons(minor: tuple[int, int]) -> tuple[str, ...]:
    """Every reason that a release has."""
    own = (name for name, (first, end) in FROM_UNTIL.items() if first <= minor < end)
    return (*EVERYWHERE, *own)


@dataclass(frozen=True)
class FailuresTarget(Target):
    """The count of one release."""

    def configs(self) -> list[Wire]:
        """No failure, some failures, and all are tolerated."""
        return [{"profile": self.profile, "tolerable_failures": tolerable} for tolerable in (0, 1, 2, -1)]

    def failures(self, checkpoint: int) -> Iterator[Wire]:
        """Every way in which a checkpoint can fail, of every type that the count itself distinguishes."""
        types = TYPES if COORDINATOR_PROFILES[self.profile].declines_count_for_all_types else TYPES[:1]
        for reason, type_, by_task in product(reasons(self.minor), types, (True, False)):
            failed = {"checkpoint": checkpoint, "type": type_, "reason": reason, "by_task": by_task}
            yield {"kind": "failure", **failed}

    def failures_without_id(self) -> Iterator[Wire]:
        """Every failure of the coordinator itself without a checkpoint id."""
        yield from (failure for failure in self.failures(NONE) if not failure["by_task"])


def target(version: str, profile: str) -> FailuresTarget:
    """The target for a release."""
    return FailuresTarget(version, profile, "failures", "", after_finish=True, component="failures")


class FailuresSearch(Search):
    """Every reason in small models, and random histories."""

    def small(self) -> list[Wire]:
        """All configurations."""
        return self._target.configs()

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """Two checkpoints, every way to fail, success."""
        assert isinstance(self._target, FailuresTarget)
        for checkpoint in (1, 2):
            yield from self._target.failures(checkpoint)
            yield {"kind": "success", "checkpoint": checkpoint}
        yield from self._target.failures_without_id()

    def chooser(self, config: Wire, rng: Random) -> Chooser:
        """Checkpoints near the newest one; most of them fail, half of these for one of two reasons."""
        assert isinstance(self._target, FailuresTarget)
        ways = list(self._target.failures(0))
        likely = [way for way in ways if way["reason"] in ("CHECKPOINT_DECLINED", "IO_EXCEPTION")]
        unnamed = list(self._target.failures_without_id())
        newest = 1

        def choose(observed: Wire) -> Wire:
            nonlocal newest
            newest += rng.random() < 0.4
            checkpoint = max(0, newest - int(rng.random() ** 2 * 4))
            if rng.random() < 0.1:
                return rng.choice(unnamed)
            if rng.random() < 0.8:
                return {**rng.choice(likely if rng.random() < 0.5 else ways), "checkpoint": checkpoint}
            return {"kind": "success", "checkpoint": checkpoint}

        return choose
