"""Conforming a released coordinator, and its store alone: histories of a job and its checkpoints.

As `conformance.drive.released_gate` does it for gates. What no release can be asked is left out of the random
ones; each place says why.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

from conformance.adapters.protocol import Wire
from conformance.drive import generate
from conformance.drive.generate_coordinator import PROFILES, varied
from conformance.drive.oracle import Edge, Oracle
from conformance.drive.released import Target
from conformance.drive.search import BATCHES, Search
from conformance.drive.stream import Case, has_failed

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

    def small(self) -> list[Wire]:
        """Two tasks, by what is retained and what is tolerated; or the store."""
        return _small(self._target)

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """See the function of that name."""
        return alphabet(config, observed)

    def _walk(self, oracle: Oracle, config: Wire, rng: Random) -> Case:
        choose = generate.chooser(self._target.component, config, rng)
        edges: list[tuple[Wire, Edge]] = []
        node = oracle.start
        for _ in range(2 * LENGTH):
            event = choose(node.observed)
            if event is None or len(edges) == LENGTH:
                break
            if is_left_out(event) or (
                self._target.component == "store" and not is_stored(config, node.observed, event)
            ):
                continue
            edge = oracle.step(node, event)
            if edge.refused is None:
                edges.append((event, edge))
                node = edge.after
                if has_failed(edge):
                    break
        return self._prepare.case(oracle, edges, BATCHES_OF_50)


# ---------------------------------------------------------------- small state graphs


def _small(one: Target) -> list[Wire]:
    """The configurations of the toured models."""
    if one.component == "store":
        return one.configs()
    tasks = [{"id": "src-0", "source": True}, {"id": "map-0", "source": False}]
    base = {"tasks": tasks, "profile": one.profile, "timeout_ms": 100, "max_concurrent": 2}
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
