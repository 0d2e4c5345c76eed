"""The job as its coordinator knows it: statuses, attempts, and who takes part in a checkpoint.

Rules: COORD-01 (who has to run), COORD-04 (sources are triggered, all that run are awaited).
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from impl.core.coordinator.profiles import CoordinatorGeneration
from impl.core.errors import ConfigError, ProtocolError

# Statuses are Flink's names, an open vocabulary; these are the ones that make a difference here.
CREATED: Final = "CREATED"
RUNNING: Final = "RUNNING"
FINISHED: Final = "FINISHED"
FAILED: Final = "FAILED"
RESTARTING: Final = "RESTARTING"
CANCELED: Final = "CANCELED"
SUSPENDED: Final = "SUSPENDED"


class Task(NamedTuple):
    """One task of the job. A source begins checkpoints; an `external` one is told to, and only answers."""

    id: str
    source: bool
    external: bool = False


class Plan(NamedTuple):
    """Who is told to begin a checkpoint, and who has to acknowledge it and is told of its end."""

    triggered: tuple[str, ...]
    tasks: tuple[str, ...]


class Job:
    """Statuses and attempts of `tasks`, whose order is the order of everything said task by task."""

    def __init__(
        self, tasks: Sequence[Task], generation: CoordinatorGeneration, finished_tasks: bool
    ) -> None:
        names = [task.id for task in tasks]
        if not names or len(set(names)) < len(names):
            raise ConfigError(
                f"tasks have to be some, each with an id of its own, came {names}; correct them"
            )
        self.tasks = tuple(names)
        self.status = CREATED
        self._sources = tuple(task.id for task in tasks if task.source)
        self._generation = generation
        self._finished_tasks = finished_tasks
        self._statuses = dict.fromkeys(names, CREATED)
        self._attempts = dict.fromkeys(names, 0)

    def reached(self, tasks: Sequence[str]) -> list[str]:
        """Those of `tasks` that were deployed, so that there is somebody to tell."""
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
        """Whether a message of `task` comes from its current execution; None is taken for that."""
        return attempt is None or self._attempts.get(task) == attempt

    def begin_attempts(self, tasks: Iterable[str]) -> None:
        """New executions of `tasks`: what the ones before say is a stranger's word."""
        for task in tasks:
            self._attempts[task] += 1

    def created_again(self) -> None:
        """Job and tasks are deployed anew under a new coordinator."""
        self.status = CREATED
        self._statuses = dict.fromkeys(self.tasks, CREATED)
        self.begin_attempts(self.tasks)

    def plan(self) -> Plan | None:
        """Who takes part in a checkpoint that starts now; None if not everybody does who has to.

        A plan without tasks means that all have finished.
        """
        if self.status != RUNNING:
            return None
        if not self._generation.everybody_has_to_run:
            started = all(self._statuses[task] == RUNNING for task in self._sources)
            if self._generation.finished_tasks_hinder and FINISHED in self._statuses.values():
                return None
            return Plan(self._sources, self.tasks) if started else None
        running = [task for task in self.tasks if self._statuses[task] == RUNNING]
        if len(running) < len(self.tasks) and not self._rest_has_finished():
            return None
        heads = [task for task in running if task in self._sources]
        if not heads and self._sources:  # every predecessor has finished
            heads = running
        return Plan(tuple(heads), tuple(running))

    def require(self, task: str) -> None:
        """Raise `ProtocolError` for a task that the job does not have."""
        if task not in self._statuses:
            raise ProtocolError(f"the job has the tasks {list(self.tasks)}, came {task!r}; name one of those")

    def _rest_has_finished(self) -> bool:
        statuses = self._statuses.values()
        return self._finished_tasks and all(one in (RUNNING, FINISHED) for one in statuses)
