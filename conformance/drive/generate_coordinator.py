"""Events for walks of the coordinator: a job that mostly runs, and all that befalls its checkpoints."""

from collections.abc import Callable
from random import Random

from conformance.adapters.protocol import Wire


def coordinator_chooser(config: Wire, rng: Random) -> Callable[[Wire], Wire]:
    """Requests, acknowledgements of every kind, declines, time, failures and restores."""
    return _Coordinator(config, rng).choose


class _Coordinator:
    """Remembers which tasks run, which the observable state does not tell."""

    def __init__(self, config: Wire, rng: Random) -> None:
        self._draw = rng.random
        self._tasks: list[str] = [task["id"] for task in config["tasks"]]
        self._timeout: int = config.get("timeout_ms", 600_000)
        self._running: set[str] = set()
        self._handles = 0

    def choose(self, observed: Wire) -> Wire:
        """The next event."""
        if observed["status"] != "RUNNING" or len(self._running) < len(self._tasks):
            if self._draw() < 0.85:
                return self._toward_running(observed)
        elif self._draw() < 0.03:
            return self._trouble()
        luck = self._draw()
        pending = observed["pending"]
        if luck < 0.22 or not pending:
            kind = "savepoint" if self._draw() < 0.25 else "checkpoint"
            return {"kind": "trigger", "type": kind}
        if luck < 0.72:
            return self._acknowledge(pending, observed["next_id"])
        if luck < 0.82:
            return {"kind": "advance", "ms": int(self._draw() ** 2 * self._timeout)}
        if luck < 0.88:
            return {
                "kind": "decline",
                "task": self._some(self._tasks),
                "checkpoint": self._id(pending, observed["next_id"]),
                "reason": "ASYNC_EXCEPTION",
            }
        if luck < 0.9:
            return self._stray(self._draw())
        return self._acknowledge(pending, observed["next_id"])

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
            self._running.discard(task)
            return {"kind": "task_status", "task": task, "status": "FINISHED"}
        if luck < 0.7:
            self._running.discard(task)
            return {"kind": "fail_tasks", "tasks": [task]}
        return {"kind": "job_status", "status": "RESTARTING" if luck < 0.9 else "FAILING"}

    def _acknowledge(self, pending: Wire, next_id: int) -> Wire:
        checkpoint = self._id(pending, next_id)
        missing = pending.get(str(checkpoint), self._tasks)
        luck = self._draw()
        task = self._some(missing) if luck < 0.85 else self._some(self._tasks)
        if luck > 0.95:
            task = "stranger-0"
        event: dict[str, object] = {"kind": "acknowledge", "task": task, "checkpoint": checkpoint}
        if self._draw() < 0.7:
            self._handles += 1
            event["state"] = f"handle-{self._handles}"
        return event

    def _id(self, pending: Wire, next_id: int) -> int:
        """Mostly a pending id; now and then one that has ended or was never drawn."""
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
        return {"kind": "no_such_event"}
