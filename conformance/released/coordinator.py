"""Conforming a released coordinator, and its store alone: histories of a job and its checkpoints.

As `conformance.released.gate` does it for gates. What no release can be asked is left out of the random
ones; each place says why.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from conformance.adapters.protocol import Wire
from conformance.drive.stream import Case
from conformance.generators.coordinator import PROFILES, varied
from conformance.released.results import Target
from conformance.released.sequences import BATCHES, Search
from model.coordinator.requests import QUEUE_LIMIT

COMPONENTS = ("coordinator", "store")
LENGTH = 50
"""Events of a history at most."""
BATCHES_OF_50 = (*BATCHES[:-1], BATCHES[-1] + LENGTH - sum(BATCHES))
IDS = 3
"""Checkpoints of the toured models at most."""
CONFIGS = 24
"""Configurations that random histories go through."""


@dataclass(frozen=True)
class MasterTarget(Target):
    """The coordinator or the store of one release."""

    def configs(self) -> list[Wire]:
        """Those that random histories go through, in turn."""
        if self.component == "store":
            return [{"retain": retain, "profile": self.profile} for retain in (1, 2, 3)]
        return [varied(self.profile, Random(f"released {number}")) for number in range(CONFIGS)]


def target(version: str, profile: str, component: str) -> MasterTarget:
    """What is conformed of a release."""
    return MasterTarget(version, profile, component, "", after_finish=True, component=component)


def is_left_out(event: Wire) -> bool:
    """Nothing else of a history is: there is no way to ask a release for a checkpoint that drains."""
    return bool(event.get("drain")) and event.get("type") != "stop"


def is_stored(config: Wire, observed: Wire, event: Wire) -> bool:
    """A coordinator adds so: ids count up, and from 1.15 on it stores no savepoints."""
    if event["kind"] != "add":
        return True
    plain = event["type"] == "checkpoint" or PROFILES.index(config["profile"]) < PROFILES.index("1.15")
    return plain and event["checkpoint"] > max(observed["completed"], default=0)


class MasterSearch(Search):
    """Tours of small models, and random histories."""

    length = LENGTH
    draws = 2 * LENGTH
    batches = BATCHES_OF_50

    def small(self) -> list[Wire]:
        """Two tasks, by what is retained and what is tolerated; or the store."""
        return small_configs(self._target)

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """See the function of that name."""
        return alphabet(config, observed)

    def directed(self, scripts: Iterable[Sequence[Wire]]) -> Iterator[Case]:
        """More requests than may wait, then given histories."""
        if self._target.component == "coordinator":
            for more, flood in floods():
                yield self._case(self._oracle({**self.small()[0], **more}), flood, (1,) * len(flood))
        yield from super().directed(scripts)

    def keeps(self) -> Callable[[Wire, Wire, Wire], bool]:
        """What a release can get; of a store what a coordinator adds."""
        is_store = self._target.component == "store"
        return lambda config, observed, event: (
            not is_left_out(event) and (not is_store or is_stored(config, observed, event))
        )


# ---------------------------------------------------------------- small state graphs


_TASKS = [{"id": "src-0", "source": True}, {"id": "map-0", "source": False}]


def small_configs(one: Target) -> list[Wire]:
    """The configurations of the toured models."""
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


# ---------------------------------------------------------------- more requests than may wait


def floods() -> Iterator[tuple[Wire, list[Wire]]]:
    """Options, and a history in which so many wait that one has to go: all asked for, and one periodic."""
    names = [task["id"] for task in _TASKS]
    begins: list[Wire] = [{"kind": "job_status", "status": "RUNNING"}]
    begins += ({"kind": "task_status", "task": name, "status": "RUNNING"} for name in names)
    ends: list[Wire] = [
        {"kind": "acknowledge", "task": name, "checkpoint": 1, "state": f"{name} 1"} for name in names
    ]
    asked: Wire = {"kind": "trigger", "type": "checkpoint"}
    savepoint: Wire = {"kind": "trigger", "type": "savepoint"}
    stop: Wire = {"kind": "trigger", "type": "stop"}
    fill = [asked] * (QUEUE_LIMIT - 1)  # behind one that starts: the first of them, or a periodic one
    one: Wire = {"max_concurrent": 1, "timeout_ms": 1_000}
    yield one, [*begins, asked, *fill, asked, asked, asked, savepoint, *ends, asked, savepoint, stop]
    time: Wire = {"kind": "advance", "ms": 10}
    yield {**one, "interval_ms": 10}, [*begins, *fill, time, time, asked, asked, savepoint, *ends]
