"""The job as its coordinator knows it: statuses, attempts, and the tasks that take part in a checkpoint.

Rules: COORD-01 (the tasks that must run), COORD-04 (sources are triggered, running tasks are awaited).
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from impl.core.coordinator.profiles import CoordinatorProfile
from impl.core.errors import ConfigError, ProtocolError

# A status of the job or of a task is any name that Flink has for it. The coordinator distinguishes these.
CREATED: Final = "CREATED"
RUNNING: Final = "RUNNING"
FINISHED: Final = "FINISHED"
FAILED: Final = "FAILED"
RESTARTING: Final = "RESTARTING"
CANCELED: Final = "CANCELED"
SUSPENDED: Final = "SUSPENDED"


class Task(NamedTuple):
    """One task of the job. `external`: an externally induced source, triggered and awaited like any other."""

    id: str
    source: bool
    external: bool = False


class Plan(NamedTuple):
    """The tasks of one checkpoint: those to trigger, and those that must acknowledge and are notified."""

    triggered: tuple[str, ...]
    tasks: tuple[str, ...]


class Job:
    """Statuses and attempts of `tasks`. `finished_tasks`: checkpoints continue after tasks have finished.

    Raises ConfigError if there is no task, or two tasks have the same id.
    """

    def __init__(self, tasks: Sequence[Task], profile: CoordinatorProfile, finished_tasks: bool) -> None:
        names = [task.id for task in tasks]
        if not names or len(set(names)) < len(names):
            raise ConfigError(
                f"expected at least one task, and different ids, got {names}; correct the tasks"
            )
        self.tasks = tuple(names)
        self.status = CREATED
        self._sources = tuple(task.id for task in tasks if task.source)
        self._profile = profile
        self._finished_tasks = finished_tasks
        self._statuses = dict.fromkeys(names, CREATED)
        self._attempts = dict.fromkeys(names, 0)

    def deployed(self, tasks: Sequence[str]) -> list[str]:
        """Those of `tasks` that are deployed. The coordinator sends notifications only to them."""
        return [task for task in tasks if self._statuses[task] != CREATED]

    def is_up(self, task: str) -> bool:
        """Whether `task` runs or has finished, by its last status."""
        return self._statuses[task] in (RUNNING, FINISHED)

    def runs(self, task: str) -> bool:
        """Whether the last status of `task` is RUNNING."""
        return self._statuses[task] == RUNNING

    def set_status(self, task: str, status: str) -> None:
        """`task` has this status now."""
        self.require(task)
        self._statuses[task] = status

    def is_current(self, task: str, attempt: int | None) -> bool:
        """Whether `attempt` is the current execution of `task`; None stands for the current one."""
        return attempt is None or self._attempts.get(task) == attempt

    def begin_attempts(self, tasks: Iterable[str]) -> None:
        """New executions of `tasks`; acknowledgements of earlier ones do not count."""
        for task in tasks:
            self._attempts[task] += 1

    def created_again(self) -> None:
        """The job and its tasks are created again, under a new coordinator."""
        self.status = CREATED
        self._statuses = dict.fromkeys(self.tasks, CREATED)
        self.begin_attempts(self.tasks)

    def plan(self) -> Plan | None:
        """The tasks of a checkpoint that starts now; None if no checkpoint can start.

        No checkpoint can start if the job or a task that must run is not RUNNING, or if a task has finished
        and the generation does not allow this. A plan without tasks: all tasks have finished.
        """
        if self.status != RUNNING:
            return None
        if not self._profile.every_task_must_run:
            started = all(self._statuses[task] == RUNNING for task in self._sources)
            if self._profile.finished_tasks_prevent_start and FINISHED in self._statuses.values():
                return None
            return Plan(self._sources, self.tasks) if started else None
        running = [task for task in self.tasks if self._statuses[task] == RUNNING]
        if len(running) < len(self.tasks) and not self._others_have_finished():
            return None
        heads = [task for task in running if task in self._sources]
        if not heads and self._sources:  # every predecessor has finished
            heads = running
        return Plan(tuple(heads), tuple(running))

    def require(self, task: str) -> None:
        """Raise `ProtocolError` for a task that the job does not have."""
        if task not in self._statuses:
            raise ProtocolError(f"the job has the tasks {list(self.tasks)}, got {task!r}; name one of those")

    def _others_have_finished(self) -> bool:
        statuses = self._statuses.values()
        return self._finished_tasks and all(one in (RUNNING, FINISHED) for one in statuses)
