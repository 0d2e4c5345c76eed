"""Tests the count of failures of a release alone: failures of every reason and type, in any order.

In a coordinator only some of these failures can occur, because an event has to cause each reason.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from random import Random

from conformance.adapters.protocol import Wire
from conformance.generators.chooser import Chooser
from conformance.released.comparison import Search
from conformance.released.results import Target
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
"""By other reason: the first release that has it, and the first later release that lacks it."""


def reasons(minor: tuple[int, int]) -> tuple[str, ...]:
    """Every reason that a release has. `minor`: the first two numbers of its version."""
    own = (name for name, (first, end) in FROM_UNTIL.items() if first <= minor < end)
    return (*EVERYWHERE, *own)


@dataclass(frozen=True)
class FailuresTarget(Target):
    """The count of one release."""

    @property
    def draws(self) -> Hashable:
        """As in `Target`: a history has only reasons that the release has."""
        return super().draws, reasons(self.minor)

    def configs(self) -> list[Wire]:
        """The configurations: they tolerate no, one, two, and all failures."""
        return [{"profile": self.profile, "tolerable_failures": tolerable} for tolerable in (0, 1, 2, -1)]

    def failures(self, checkpoint: int) -> Iterator[Wire]:
        """Yield every failure of a checkpoint, of each type that the count itself distinguishes."""
        types = TYPES if COORDINATOR_PROFILES[self.profile].declines_count_for_all_types else TYPES[:1]
        for reason, type_, by_task in product(reasons(self.minor), types, (True, False)):
            failed = {"checkpoint": checkpoint, "type": type_, "reason": reason, "by_task": by_task}
            yield {"kind": "failure", **failed}

    def failures_without_id(self) -> Iterator[Wire]:
        """Yield every failure that the coordinator itself causes, without a checkpoint id."""
        yield from (failure for failure in self.failures(NONE) if not failure["by_task"])


def target(version: str, profile: str) -> FailuresTarget:
    """The target for a release."""
    return FailuresTarget(version, profile, "failures", "", after_finish=True, component="failures")


class FailuresSearch(Search):
    """Tours of small models with every reason, and random histories."""

    def small(self) -> list[Wire]:
        """All configurations."""
        return self._target.configs()

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """Yield every failure, and success, of two checkpoints."""
        assert isinstance(self._target, FailuresTarget)
        for checkpoint in (1, 2):
            yield from self._target.failures(checkpoint)
            yield {"kind": "success", "checkpoint": checkpoint}
        yield from self._target.failures_without_id()

    def chooser(self, config: Wire, rng: Random) -> Chooser:
        """As in `Search`. Ids are near the newest one, and most events are failures.

        About half of the failures with an id have one of two reasons.
        """
        assert isinstance(self._target, FailuresTarget)
        failures = list(self._target.failures(0))
        likely = [
            failure for failure in failures if failure["reason"] in ("CHECKPOINT_DECLINED", "IO_EXCEPTION")
        ]
        unnamed = list(self._target.failures_without_id())
        newest = 1

        def choose(observed: Wire) -> Wire:
            nonlocal newest
            newest += rng.random() < 0.4
            checkpoint = max(0, newest - int(rng.random() ** 2 * 4))
            if rng.random() < 0.1:
                return rng.choice(unnamed)
            if rng.random() < 0.8:
                return {**rng.choice(likely if rng.random() < 0.5 else failures), "checkpoint": checkpoint}
            return {"kind": "success", "checkpoint": checkpoint}

        return choose
