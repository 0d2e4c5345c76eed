"""The job status listener, which starts and stops the scheduler from 2.3 on: the executions that it awaits.

It awaits every execution that was reported, until that runs or has finished. An execution that failed and was
replaced sends no further report and is awaited for ever. New executions are reported once the job runs.
"""

from collections.abc import Iterable, Sequence


class JobStatusListener:
    """The executions of `tasks`, all of them created."""

    def __init__(self, tasks: Sequence[str]) -> None:
        self.started = False
        self._awaited = set(tasks)
        self._awaits_replaced = False
        self._new: set[str] = set()

    @property
    def awaits_none(self) -> bool:
        """Whether every reported execution runs or has finished."""
        return not self._awaited and not self._awaits_replaced

    def report(self, task: str, *, is_up: bool) -> None:
        """The current execution of `task` reports a status. `is_up`: it runs or has finished."""
        self._new.discard(task)
        if is_up:
            self._awaited.discard(task)
        else:
            self._awaited.add(task)

    def replace(self, tasks: Iterable[str]) -> None:
        """New executions replace those of `tasks`."""
        renewed = set(tasks)
        self._awaits_replaced = self._awaits_replaced or bool(self._awaited & renewed)
        self._awaited -= renewed
        self._new |= renewed

    def await_new(self, order: Sequence[str]) -> list[str]:
        """Await the new executions; returns their tasks in the given order."""
        new = [task for task in order if task in self._new]
        self._new.clear()
        self._awaited.update(new)
        return new
