"""Conforming a released coordinator, and its store alone: histories of a job and its checkpoints.

As `conformance.drive.released` does it for gates. What no release can be asked, or what would say the same
known divergence in every other history, is left out of the random ones; each place says why.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from conformance.adapters.protocol import Wire
from conformance.drive import generate
from conformance.drive.around import Transition, ways_around
from conformance.drive.generate_coordinator import CONFIGS, PROFILES
from conformance.drive.oracle import Edge, Oracle
from conformance.drive.released import BATCHES, Search, Target, edges_of
from conformance.drive.stream import Case, has_failed

COMPONENTS = ("coordinator", "store")
LENGTH = 50
"""Events of a history at most."""
BATCHES_OF_50 = (*BATCHES[:-1], BATCHES[-1] + LENGTH - sum(BATCHES))
IDS = 3
"""Checkpoints of the toured models at most."""
STARTED_BY_TASKS = "2.3"
"""The profile in which a job's scheduler follows its tasks. After a failure it is the execution graph, which
the harness does not play, that starts it again when a task runs; the listener alone never does."""


@dataclass(frozen=True)
class MasterTarget(Target):
    """The coordinator or the store of one release."""

    def configs(self) -> list[Wire]:
        """Those that random histories go through, in turn."""
        if self.component == "store":
            return [{"retain": retain, "profile": self.profile} for retain in (1, 2, 3)]
        return [_drivable(config) for config in CONFIGS if config["profile"] == self.profile]


def target(version: str, profile: str, component: str) -> MasterTarget:
    """What is conformed of a release."""
    return MasterTarget(version, profile, component, "", after_finish=True, component=component)


def _drivable(config: Wire) -> Wire:
    """What of a random configuration the model describes as the releases do.

    Not described yet, and therefore left out: how often the queue is asked again after an end (several times
    from 1.12 on, which shows where the min pause removes a waiting request each time); a master phase that
    outlives its aborted checkpoint (up to 1.15) or whose failure is counted twice (from 1.17 on); up to 1.10
    when the scheduler forgets a request that was put off.
    """
    drivable = dict(config)
    generation = PROFILES.index(config["profile"])
    if config.get("unaligned"):
        drivable["max_concurrent"] = 1  # every release refuses more
    if generation >= PROFILES.index("1.12"):
        drivable["min_pause_ms"] = 0
    if config["profile"] == "1.9":
        drivable.pop("interval_ms", None)
        drivable.pop("initial_delay_ms", None)
    if "operator_coordinators" in config or "hooks" in config:
        if generation >= PROFILES.index("1.17"):
            drivable["tolerable_failures"] = -1
        else:
            drivable.pop("operator_coordinators", None)
            drivable.pop("hooks", None)
    return drivable


def is_left_out(config: Wire, event: Wire) -> bool:
    """No release is asked this in a random history."""
    if "tasks" not in config:
        return False
    kind = event["kind"]
    if event.get("drain") and event.get("type") != "stop":
        return True  # there is no way to ask for it
    if kind == "shutdown":
        return (
            True  # not described yet: what becomes of the registry's files, and of a failed job's checkpoints
        )
    region = event.get("scope") == "region"
    if kind == "restore" and region and config["profile"] == "1.9":
        return True  # as above: a request that was put off
    failed = kind == "restore" and config["profile"] == STARTED_BY_TASKS
    return failed and config.get("interval_ms") is not None


def described(config: Wire, event: Wire) -> Wire:
    """The event without what the model does not describe as the releases do.

    From 1.15 on every addition to the store deletes the shared files that no retained checkpoint uses, not
    only one that drops a checkpoint: files of aborted checkpoints go earlier than the model says.
    """
    if "shared" in event and PROFILES.index(config["profile"]) >= PROFILES.index("1.15"):
        return {name: value for name, value in event.items() if name != "shared"}
    return event


def is_stored(config: Wire, observed: Wire, event: Wire) -> bool:
    """A coordinator adds so: ids count up, and from 1.15 on it stores no savepoints."""
    if event["kind"] != "add":
        return True
    plain = event["type"] == "checkpoint" or PROFILES.index(config["profile"]) < PROFILES.index("1.15")
    return plain and event["checkpoint"] > max(observed["completed"], default=0)


class MasterSearch(Search):
    """Tours of small models, and random histories."""

    def tours(self, nodes: int) -> Iterator[Case]:
        """Tours over every transition of a small model's state graph, as far as so many states go."""
        for config in _small(self._target):
            oracle = self._oracle(config)
            found = edges_of(oracle, nodes, alphabet)
            transitions = [
                Transition(source, event, to, has_failed(edge)) for source, event, to, edge in found
            ]
            self._done.transitions += len(transitions)
            for way in ways_around(transitions, LENGTH):
                yield self._case(oracle, way, (1,) * len(way))

    def directed(self, scripts: Iterable[Sequence[Wire]]) -> Iterator[Case]:
        """Given histories, each in the plainest configuration."""
        oracle = self._oracle(_small(self._target)[0])
        for script in scripts:
            yield self._case(oracle, script, (1,) * len(script))

    def _walk(self, oracle: Oracle, config: Wire, rng: Random) -> Case:
        choose = generate.chooser(self._target.component, config, rng)
        edges: list[tuple[Wire, Edge]] = []
        node = oracle.start
        for _ in range(2 * LENGTH):
            event = choose(node.observed)
            if event is None or len(edges) == LENGTH:
                break
            if is_left_out(config, event) or (
                self._target.component == "store" and not is_stored(config, node.observed, event)
            ):
                continue
            event = described(config, event)
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
