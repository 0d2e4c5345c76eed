"""What the job's listener knows of executions, where the scheduler follows them (from 2.3 on).

It awaits every execution that it has heard of, until that runs or has finished. An execution that failed and
was replaced says nothing more, and is awaited for ever. New executions are heard of once the job runs.
"""

from collections.abc import Iterable, Sequence


class ExecutionListener:
    """The executions of `tasks`, all of them created."""

    def __init__(self, tasks: Sequence[str]) -> None:
        self.started = False
        self._awaited = set(tasks)
        self._awaits_replaced = False
        self._fresh: set[str] = set()

    @property
    def awaits_nobody(self) -> bool:
        """Whether all that it has heard of run or have finished."""
        return not self._awaited and not self._awaits_replaced

    def heard(self, task: str, *, is_up: bool) -> None:
        """The current execution of `task` has a status; `is_up`: it runs or has finished."""
        self._fresh.discard(task)
        if is_up:
            self._awaited.discard(task)
        else:
            self._awaited.add(task)

    def replaced(self, tasks: Iterable[str]) -> None:
        """New executions take the place of those of `tasks`."""
        renewed = set(tasks)
        self._awaits_replaced = self._awaits_replaced or bool(self._awaited & renewed)
        self._awaited -= renewed
        self._fresh |= renewed

    def deploy(self, order: Sequence[str]) -> list[str]:
        """The new executions are scheduled, all of them; answers their tasks in the given order."""
        fresh = [task for task in order if task in self._fresh]
        self._fresh.clear()
        self._awaited.update(fresh)
        return fresh
