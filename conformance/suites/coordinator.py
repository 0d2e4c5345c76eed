"""The alphabets of the checkpoint coordinator, for few tasks and few checkpoints.

It chooses the ids itself.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.adapters.protocol import Wire
from conformance.suites.alphabet import NOON, Alphabet, Clock, Letter, letter

ATTEMPTS = 1
"""Maximum number of restores and restarts of one instance."""
_SOURCE: Wire = {"id": "src-0", "source": True}
_SMALL: Wire = {
    "tasks": [_SOURCE],
    "timeout_ms": 300,
    "max_concurrent": 1,
    "retain": 1,
    "tolerable_failures": 0,
}
SHAPES: Mapping[str, Wire] = {
    "one task": _SMALL,
    "a scheduler": {**_SMALL, "timeout_ms": 150, "interval_ms": 100, "min_pause_ms": 100},
    "two tasks": {**_SMALL, "tasks": [_SOURCE, {"id": "map-0", "source": False}]},
}
"""The configurations that have an alphabet, of the newest and of the oldest profile."""
LEFT_OUT = "only one or two tasks, of the newest and the oldest profile, have an alphabet"


def coordinator_alphabets(config: Wire) -> Iterator[Alphabet]:
    """A coordinator: events of the job and its tasks, requests, messages of tasks, time and faults."""
    if config.get("interval_ms"):
        yield _alphabet(config, 2, ())
        return
    ends = (letter("store_fails", when="before"), *_statuses(config, "FINISHED"))
    yield _alphabet(config, 1, (*_FAILOVER, *ends))
    if len(config["tasks"]) == 1:
        yield _alphabet(config, 2, _FAILOVER)


def _statuses(config: Wire, status: str) -> list[Letter]:
    return [letter("task_status", task=task["id"], status=status) for task in config["tasks"]]


def _alphabet(config: Wire, highest: int, others: tuple[Letter, ...]) -> Alphabet:
    tasks = [task["id"] for task in config["tasks"]]
    letters = [letter("job_status", status="RUNNING"), *_statuses(config, "RUNNING")]
    letters += (letter("trigger", type=kind) for kind in ("checkpoint", "savepoint"))
    letters += (
        Letter(f"{kind} {task} {one}", {"kind": kind, "task": task, "checkpoint": one, **fields})
        for kind, fields in _ANSWERS.items()
        for task in tasks
        for one in range(1, highest + 1)
    )
    letters.append(letter("advance", ms=config.get("interval_ms") or config["timeout_ms"]))
    letters += (letter("fail_tasks", tasks=tasks[:1]), *others)

    def allows(state: Any, event: Wire) -> bool:  # noqa: ANN401 - the model's own state
        coordinator = state.coordinator
        drawn = coordinator.next_id + len(coordinator.queue)
        match event["kind"]:
            case "trigger":
                return bool(drawn <= highest)
            case "advance" if coordinator.scheduler.runs:
                return bool(drawn <= highest + 1)
            case "restore" | "coordinator_restart":
                return bool(max(state.attempts) < ATTEMPTS)
        return True

    bound = f"ids to {highest}, {ATTEMPTS} restore or restart"
    clock = Clock(_now, 2 * config["timeout_ms"] + 1, {"kind": "advance", "ms": NOON})
    return Alphabet("coordinator", config, tuple(letters), bound, allows, clock=clock)


_FAILOVER = (
    letter("restore"),
    letter("coordinator_restart"),
    letter("trigger", type="stop"),
    letter("shutdown", status="FINISHED"),
)
_ANSWERS: Mapping[str, Wire] = {
    "acknowledge": {},
    "decline": {"reason": "CHECKPOINT_DECLINED"},
    "trigger_fails": {},
}


def _now(state: Any) -> int:  # noqa: ANN401 - the model's own state
    now: int = state.coordinator.now
    return now
