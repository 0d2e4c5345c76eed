"""Tests the coordinator of a release, and its store alone, with histories of a job and its checkpoints.

Random histories leave out events that no release can receive (`is_left_out`, `is_stored`).
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from conformance.adapters.protocol import Wire
from conformance.components.coordinator.walks import (
    IO_FAILURES,
    PROFILES,
    SLOW,
    has_slow_cleaning,
    restored,
    varied,
)
from conformance.drive.stream import Case
from conformance.released.comparison import BATCHES, Search
from conformance.released.failure_counts import reasons
from conformance.released.results import Target
from model.coordinator.requests import QUEUE_LIMIT

COMPONENTS = ("coordinator", "store")
LENGTH = 50
"""Maximum number of events of a history."""
BATCHES_OF_50 = (*BATCHES[:-1], BATCHES[-1] + LENGTH - sum(BATCHES))
IDS = 3
"""Maximum number of checkpoints in the toured models."""
CONFIGS = 24
"""The number of configurations of random histories, without their variants:

- from 1.12 on, a third of them is repeated with slow deletions;
- in all releases, a third is repeated with `io_fails`;
- from 1.13 on, a third is repeated with a restored savepoint.
"""


@dataclass(frozen=True)
class CoordinatorTarget(Target):
    """The coordinator or the store of one release."""

    @property
    def draws(self) -> Hashable:
        """As in `Target`: a history has only reasons that the release has."""
        return super().draws, reasons(self.minor)

    def configs(self) -> list[Wire]:
        """The configurations of random histories, which take turns."""
        if self.component == "store":
            return [{"retain": retain, "profile": self.profile} for retain in (1, 2, 3)]
        configs = [varied(self.profile, Random(f"released {number}")) for number in range(CONFIGS)]
        if has_slow_cleaning(self.profile):
            configs += ({**config, **SLOW} for config in configs[::3])
        configs += [{**config, **IO_FAILURES} for config in configs[1::3]]
        if not restored(self.profile, 0):
            return configs
        third = configs[2:CONFIGS:3]
        starts = ({**config, **restored(self.profile, place)} for place, config in enumerate(third))
        return [*configs, *starts]


def target(version: str, profile: str, component: str) -> CoordinatorTarget:
    """The target for a release."""
    return CoordinatorTarget(version, profile, component, "", after_finish=True, component=component)


def is_left_out(event: Wire, known: Collection[str]) -> bool:
    """Whether a history leaves the event out. `known`: the reasons of failures that the release has.

    No release has a request for a checkpoint that drains. A task cannot decline with a reason that its
    release does not have.
    """
    if event["kind"] == "decline":
        return event["reason"] not in known
    return bool(event.get("drain")) and event.get("type") != "stop"


def is_stored(config: Wire, observed: Wire, event: Wire) -> bool:
    """Whether a coordinator can send this event to its store.

    A coordinator adds checkpoints with ascending ids, and from 1.15 on it adds no savepoint.
    """
    if event["kind"] != "add":
        return True
    plain = event["type"] == "checkpoint" or PROFILES.index(config["profile"]) < PROFILES.index("1.15.0")
    return plain and event["checkpoint"] > max(observed["completed"], default=0)


class CoordinatorSearch(Search):
    """Tours of small models, and random histories."""

    length = LENGTH
    tries = 2 * LENGTH
    batches = BATCHES_OF_50

    def small(self) -> list[Wire]:
        """The configurations of the toured models (the function `small_configs`)."""
        return small_configs(self._target)

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """The events of the toured models, as in the function `alphabet`."""
        return alphabet(config, observed)

    def directed(self, scripts: Iterable[Sequence[Wire]]) -> Iterator[Case]:
        """Yield histories with more requests than the queue holds, then the given histories."""
        if self._target.component == "coordinator":
            for more, flood in floods():
                yield self._case(self._oracle({**self.small()[0], **more}), flood, (1,) * len(flood))
        yield from super().directed(scripts)

    def allows(self, config: Wire) -> Callable[[Wire, Wire], bool]:
        """As in `Search`: only events that the release, or a coordinator's store, can receive."""
        if self._target.component == "store":
            return lambda observed, event: is_stored(config, observed, event)
        known = reasons(self._target.minor)
        return lambda observed, event: not is_left_out(event, known)


# ---------------------------------------------------------------- small state graphs


_TASKS = [{"id": "src-0", "source": True}, {"id": "map-0", "source": False}]


def small_configs(one: Target) -> list[Wire]:
    """The configurations of the toured models: two tasks, or the configurations of the store."""
    if one.component == "store":
        return one.configs()
    base = {"tasks": _TASKS, "profile": one.profile, "timeout_ms": 100, "max_concurrent": 2}
    return [
        {**base, "retain": retain, "tolerable_failures": tolerable}
        for retain, tolerable in product((1, 2), (-1, 0))
    ]


def alphabet(config: Wire, observed: Wire) -> Iterator[Wire]:
    """The events of the toured models: ids up to `IDS`, one handle for each task."""
    if "tasks" not in config:
        added = (
            {"kind": "add", "checkpoint": number, "type": kind}
            for number, kind in product(range(1, 6), ("checkpoint", "savepoint", "stop"))
        )
        yield from (event for event in added if is_stored(config, observed, event))
        yield {"kind": "latest"}
        return
    names = [task["id"] for task in config["tasks"]]
    yield {"kind": "job_status", "status": "RUNNING"}
    yield {"kind": "fail_tasks", "tasks": names[:1]}
    yield {"kind": "restore"}
    yield from ({"kind": "task_status", "task": name, "status": "RUNNING"} for name in names)
    if observed["next_id"] + len(observed["queued"]) <= IDS:
        yield from ({"kind": "trigger", "type": kind} for kind in ("checkpoint", "savepoint", "stop"))
    for checkpoint in range(1, min(IDS + 1, observed["next_id"] + 1)):
        for name in names:
            yield {
                "kind": "acknowledge",
                "task": name,
                "checkpoint": checkpoint,
                "state": f"{name} {checkpoint}",
            }
        yield {
            "kind": "decline",
            "task": names[-1],
            "checkpoint": checkpoint,
            "reason": "CHECKPOINT_DECLINED",
        }
    if observed["pending"]:
        yield {"kind": "advance", "ms": config["timeout_ms"]}


# ---------------------------------------------------------------- more requests than the queue holds


def floods() -> Iterator[tuple[Wire, list[Wire]]]:
    """Two histories that overflow the queue of requests, each with its options.

    The first one has manual requests only, the second one also a periodic request.
    """
    names = [task["id"] for task in _TASKS]
    begins: list[Wire] = [{"kind": "job_status", "status": "RUNNING"}]
    begins += ({"kind": "task_status", "task": name, "status": "RUNNING"} for name in names)
    ends: list[Wire] = [
        {"kind": "acknowledge", "task": name, "checkpoint": 1, "state": f"{name} 1"} for name in names
    ]
    request: Wire = {"kind": "trigger", "type": "checkpoint"}
    savepoint: Wire = {"kind": "trigger", "type": "savepoint"}
    stop: Wire = {"kind": "trigger", "type": "stop"}
    fill = [request] * (QUEUE_LIMIT - 1)  # these wait behind a request that starts
    one: Wire = {"max_concurrent": 1, "timeout_ms": 1_000}
    yield one, [*begins, request, *fill, *[request] * 3, savepoint, *ends, request, savepoint, stop]
    time: Wire = {"kind": "advance", "ms": 10}
    yield {**one, "interval_ms": 10}, [*begins, *fill, time, time, request, request, savepoint, *ends]
