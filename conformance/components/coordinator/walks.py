"""Random events and configurations for walks of the coordinator. In most events the job runs."""

from collections.abc import Collection
from itertools import product
from random import Random

from conformance.adapters.protocol import Wire
from conformance.generators.chooser import Chooser
from model.coordinator.profiles import COORDINATOR_PROFILES

PROFILES = tuple(COORDINATOR_PROFILES)
"""The generations of the coordinator and of its store, oldest first."""

_INDUCED: Wire = {"id": "src-1", "source": True, "external": True}

_TASKS: tuple[list[Wire], ...] = (
    [{"id": "src-0", "source": True}, {"id": "map-0", "source": False}],
    [{"id": "src-0", "source": True}],
    [{"id": "src-0", "source": True}, _INDUCED, {"id": "sink-0", "source": False}],
)

_PLAIN: list[Wire] = [
    {"tasks": tasks, "profile": "2.3", "timeout_ms": 1000, "max_concurrent": max_concurrent, "retain": retain}
    for tasks, max_concurrent, retain in product(_TASKS, (2, 1, 3), (1, 2))
]


def is_from_1_14(profile: str) -> bool:
    """Whether checkpoints may continue after tasks finish, and whether failed I/O has a separate reason."""
    return PROFILES.index(profile) >= PROFILES.index("1.14.0")


def varied(profile: str, rng: Random) -> Wire:
    """A configuration of a generation, with random values for its options."""
    config: dict[str, object] = {
        "tasks": rng.choice(_TASKS),
        "profile": profile,
        "timeout_ms": rng.choice((1000, 300)),
        "max_concurrent": rng.choice((1, 1, 2, 3)),
        "retain": rng.choice((1, 2, 3)),
        "tolerable_failures": rng.choice((-1, 0, 1, 2)),
        "externalized": rng.choice(("delete", "retain")),
    }
    if rng.random() < 0.6:
        config["interval_ms"] = rng.choice((100, 250))
        config["min_pause_ms"] = rng.choice((0, 60, 150))
        if rng.random() < 0.5:
            config["initial_delay_ms"] = rng.choice((0, 40))
    if profile != "1.9":
        config["unaligned"] = rng.random() < 0.3
        if config["unaligned"]:
            config["max_concurrent"] = 1
        if rng.random() < 0.3:
            config["operator_coordinators"] = rng.choice((["reader"], ["reader", "writer"]))
        if rng.random() < 0.2:
            config["hooks"] = rng.choice((["hook"], ["hook", "other"]))
    if is_from_1_14(profile):
        config["finished_tasks"] = rng.random() < 0.6
    return config


_VARIED: list[Wire] = [
    varied(profile, Random(f"coordinator {profile} {number}")) for number in range(6) for profile in PROFILES
]

_FINISHING: list[Wire] = [
    {
        "tasks": [*_TASKS[0], {"id": "sink-0", "source": False}],
        "profile": profile,
        "timeout_ms": 1000,
        "max_concurrent": 2,
        "retain": 2,
        "finished_tasks": True,
    }
    for profile in ("1.14", "1.18", "2.3")
]
"""Two tasks behind one source. The coordinator triggers them after the source has finished (COORD-27)."""

SLOW: Wire = {"cleaning": "slow"}
"""The option with which each deletion lasts until the event `deleted`."""


def has_slow_cleaning(profile: str) -> bool:
    """Whether the generation counts the deletions that have not ended."""
    return COORDINATOR_PROFILES[profile].limits_deletions


_CLEANING: list[Wire] = [
    {**varied(profile, Random(f"cleaning {profile}")), **SLOW}
    for profile in PROFILES
    if has_slow_cleaning(profile)
]

IO_FAILURES: Wire = {"io_failures": "injected"}
"""The option with which the event `io_fails` makes the coordinator's I/O fail."""

_IO_FAILURES: list[Wire] = [
    {**varied(profile, Random(f"input and output {profile} {number}")), **IO_FAILURES}
    for number in range(2)
    for profile in PROFILES
]

CLAIM_MODES = ("CLAIM", "NO_CLAIM", "LEGACY")


def restored(profile: str, number: int) -> Wire:
    """The options of a job that starts from a savepoint. `number` determines its claim mode, from 1.15 on.

    Empty for a profile before 1.13, because the model does not describe these options there.
    """
    generation = COORDINATOR_PROFILES[profile]
    if not generation.restores_savepoints:
        return {}
    savepoint: Wire = {"restored_savepoint": 1 + number % 4}
    mode = (*CLAIM_MODES, None)[number % 4]
    return savepoint if mode is None or not generation.has_claim_modes else {**savepoint, "claim_mode": mode}


_RESTORED: list[Wire] = [
    {**varied(profile, Random(f"restored {profile} {number}")), **restored(profile, number)}
    for number in range(4)
    for profile in PROFILES
    if restored(profile, number)
]

CONFIGS: list[Wire] = [
    *(
        config
        for number, varied in enumerate(_VARIED)
        for config in (varied, *_PLAIN[number % len(_PLAIN) :][: number % 2])
    ),
    *_FINISHING,
    *_CLEANING,
    *_IO_FAILURES,
    *_RESTORED,
]
"""The configurations of walks. Every second one of the varied ones is followed by a plain one."""


def walk_coordinator(config: Wire, rng: Random, injects: bool) -> Chooser:
    """A function that draws requests, acknowledgements, declines, time, failures, restores and restarts."""
    return _Coordinator(config, rng).choose


class _Coordinator:
    """Chooses events. Remembers which tasks run, because the observable state does not show it."""

    def __init__(self, config: Wire, rng: Random) -> None:
        self._draw = rng.random
        self._tasks: list[str] = [task["id"] for task in config["tasks"]]
        self._timeout: int = config.get("timeout_ms", 600_000)
        self._interval: int = config.get("interval_ms", 0)
        self._profile: str = config.get("profile", "2.3")
        self._coordinators: list[str] = config.get("operator_coordinators", [])
        self._hooks: list[str] = config.get("hooks", [])
        self._eventful = any(name in config for name in ("externalized", "tolerable_failures"))
        self._finishing: bool = config.get("finished_tasks", False)
        self._cleaning = SLOW.items() <= config.items()
        self._fails = IO_FAILURES.items() <= config.items()
        self._shares = self._draw() < 0.4
        self._running: set[str] = set()
        self._handles = 0
        self._over = False

    def choose(self, observed: Wire) -> Wire:
        """The next event."""
        if self._over and self._draw() < 0.4:
            self._over = False
            return self._restart()
        if observed["status"] != "RUNNING" or len(self._running) < len(self._tasks):
            if self._draw() < 0.85:
                return self._toward_running(observed)
        elif self._draw() < 0.03:
            return self._trouble()
        if self._cleaning and self._draw() < 0.2:
            return {"kind": "deleted"}
        if self._fails and self._draw() < 0.1:
            return {"kind": "io_fails", "what": self._some(["metadata", "location", "id"])}
        pending, completed = observed["pending"], list(observed["completed"])
        if self._eventful and completed != sorted(completed) and self._draw() < 0.1:
            return self._restart()  # a restart sorts the requests (COORD-22)
        newest = max(completed, default=0)
        newer = [checkpoint for checkpoint in pending if int(checkpoint) > newest]
        if self._eventful and newer and len(newer) < len(pending) and self._draw() < 0.3:
            # a success of an older checkpoint does not clear the failure (COORD-17)
            return self._decline(newer, observed["next_id"])
        if self._eventful and self._draw() < 0.05:
            return self._rarity(observed)
        if (self._coordinators or self._hooks) and self._draw() < (0.45 if pending else 0.2):
            return self._master(pending, observed["next_id"])
        return self._ordinary(observed, pending)

    def _ordinary(self, observed: Wire, pending: Wire) -> Wire:
        luck = self._draw()
        if luck < 0.22 or not pending:
            if self._interval and self._draw() < 0.5:
                return {"kind": "advance", "ms": int(self._draw() * 2 * self._interval)}
            return self._trigger()
        if luck < 0.72:
            return self._acknowledge(pending, observed["next_id"])
        if luck < 0.82:
            furthest = min(self._timeout, 4 * self._interval) if self._interval else self._timeout
            return {"kind": "advance", "ms": int(self._draw() ** 2 * furthest)}
        if luck < 0.88:
            return self._decline(pending, observed["next_id"])
        if luck < 0.9:
            return self._stray(self._draw())
        return self._acknowledge(pending, observed["next_id"])

    def _trigger(self) -> Wire:
        luck = self._draw()
        kind = "stop" if luck < 0.03 else "savepoint" if luck < 0.25 else "checkpoint"
        event: dict[str, object] = {"kind": "trigger", "type": kind}
        if self._eventful:
            for flag, chance in (("forced", 0.08), ("periodic", 0.12), ("drain", 0.01)):
                if self._draw() < chance:
                    event[flag] = True
        return event

    def _restart(self) -> Wire:
        self._running.clear()
        return {"kind": "coordinator_restart"}

    def _toward_running(self, observed: Wire) -> Wire:
        if observed["status"] != "RUNNING":
            if self._draw() < 0.3:
                return {"kind": "restore"}
            return {"kind": "job_status", "status": "RUNNING"}
        task = next(name for name in self._tasks if name not in self._running)
        self._running.add(task)
        return {"kind": "task_status", "task": task, "status": "RUNNING"}

    def _trouble(self) -> Wire:
        luck = self._draw()
        task = self._some(self._tasks)
        if luck < 0.35:
            if not (self._finishing and luck < 0.25):  # else it stays finished
                self._running.discard(task)
            return {"kind": "task_status", "task": task, "status": "FINISHED" if luck < 0.25 else "FAILED"}
        if luck < 0.7:
            self._running.discard(task)
            return {"kind": "fail_tasks", "tasks": [task]}
        return {"kind": "job_status", "status": "RESTARTING" if luck < 0.9 else "FAILING"}

    def _rarity(self, observed: Wire) -> Wire:
        luck = self._draw()
        if luck < 0.35:
            return {"kind": "store_fails", "when": self._some(["before", "after", "maybe"])}
        if luck < 0.55:
            return {"kind": "restore", "scope": "region", "tasks": [self._some(self._tasks)]}
        if luck < 0.85:
            checkpoint = self._id(observed["pending"], observed["next_id"])
            return {"kind": "trigger_fails", "task": self._some(self._tasks), "checkpoint": checkpoint}
        if luck < 0.93:
            return self._restart()
        self._running.clear()
        self._over = True
        return {"kind": "shutdown", "status": self._some(["FINISHED", "CANCELED", "FAILED", "SUSPENDED"])}

    def _master(self, pending: Wire, next_id: int) -> Wire:
        """An answer of a master. Most are about the newest checkpoint: only this one may wait for masters."""
        of_hook = bool(self._hooks) and (not self._coordinators or self._draw() < 0.5)
        outcome = "fails" if self._draw() < 0.05 else "done"
        newest = max(map(int, pending), default=max(1, next_id - 1))
        return {
            "kind": f"hook_{outcome}" if of_hook else f"coordinator_{outcome}",
            "name": self._some(self._hooks if of_hook else self._coordinators),
            "checkpoint": newest if self._draw() < 0.95 else self._id(pending, next_id),
        }

    def _acknowledge(self, pending: Wire, next_id: int) -> Wire:
        checkpoint = self._id(pending, next_id)
        missing = pending.get(str(checkpoint)) or self._tasks
        luck = self._draw()
        task = self._some(missing) if luck < 0.85 else self._some(self._tasks)
        if luck > 0.95:
            task = "stranger-0"
        event: dict[str, object] = {"kind": "acknowledge", "task": task, "checkpoint": checkpoint}
        if self._draw() < 0.7:
            self._handles += 1
            event["state"] = f"handle-{self._handles}"
        if self._shares and self._draw() < 0.6:
            newest = checkpoint + int(self._draw() * 2)
            event["shared"] = [f"file-{number}" for number in range(max(0, newest - 2), newest)]
        if self._eventful and self._draw() < 0.03:
            event["attempt"] = int(self._draw() * 3)
        return event

    def _decline(self, pending: Collection[str], next_id: int) -> Wire:
        reasons = ["ASYNC_EXCEPTION"]
        if self._eventful:
            reasons += ["CHECKPOINT_DECLINED", "TASK_NOT_READY"]
            if is_from_1_14(self._profile):
                reasons.append("IO_EXCEPTION")
        return {
            "kind": "decline",
            "task": self._some(self._tasks),
            "checkpoint": self._id(pending, next_id),
            "reason": self._some(reasons),
        }

    def _id(self, pending: Collection[str], next_id: int) -> int:
        """An id of a checkpoint: in most cases pending, in the others ended or never used."""
        if pending and self._draw() < 0.9:
            return int(self._some(list(pending)))
        return 1 + int(self._draw() * (next_id + 1))

    def _some(self, names: list[str]) -> str:
        return names[int(self._draw() * len(names))]

    def _stray(self, luck: float) -> Wire:
        if luck < 0.3:
            return {"kind": "restore"}  # refused while the job runs
        if luck < 0.6:
            return {"kind": "task_status", "task": "stranger-0", "status": "RUNNING"}
        if luck < 0.75:
            return {"kind": "trigger_fails", "task": "stranger-0", "checkpoint": 1}
        return {"kind": "no_such_event"}
