"""Checks the states of a job's tasks that the job manager and the task managers log at INFO."""

from collections import defaultdict
from collections.abc import Callable, Iterator

from conformance.observe.flink.grammar import EXECUTION, LogLine
from conformance.observe.monitor.reports import Alarm, DeferredAlarms, Place

_ENDED = frozenset({"FINISHED", "CANCELED", "FAILED"})
_KEPT = 4
"""Maximum ratio of kept executions to tasks. Above it, the oldest former executions are dropped."""


class Executions:
    """The executions of one job: the state of each, and the current one of each task."""

    def __init__(self, job: str, raise_alarm: Callable[[Alarm], None], deferred: DeferredAlarms) -> None:
        self.current: dict[str, str] = {}
        """By task: its newest execution."""
        self.states: dict[str, str] = {}
        """By execution: its state in the log of the job manager."""
        self._job = job
        self._raise = raise_alarm
        self._names: dict[str, str] = {}
        self._on_workers: dict[str, str] = {}
        self._early: dict[str, set[tuple[str, str]]] = defaultdict(set)
        """By execution: changes in a task manager's log whose previous change another thread logs later."""
        self._deferred = deferred
        self._left: set[str] = set()
        """The executions that have left RUNNING since the newest trigger."""
        self._complete = False
        """Whether the log has shown the start of the job, so that every execution is known."""

    def begin(self) -> None:
        """Record the start of the job. From now on every execution begins with CREATED."""
        self.current.clear()
        self.states.clear()
        self._names.clear()
        self._on_workers.clear()
        self._left.clear()
        self._complete = True

    @property
    def is_complete(self) -> bool:
        """Whether the start of every task was seen."""
        return self._complete

    def idle(self) -> Iterator[str]:
        """The tasks that neither run nor have finished."""
        for task, execution in self.current.items():
            if self.states.get(execution) not in {"RUNNING", "FINISHED"}:
                yield task

    def triggered(self) -> frozenset[str]:
        """Record a trigger. Returns the executions that have left RUNNING since the previous trigger."""
        left = frozenset(self._left)
        self._left.clear()
        return left

    def knows(self, execution: str) -> bool:
        """Whether the execution belongs to this job."""
        return execution in self._names

    def switched(self, line: LogLine, place: Place) -> None:
        """Check a line of the job manager or of a task manager in which an execution changes its state."""
        before, _, after = line.detail.partition(">")
        task, execution = line.task.rpartition("#")[0] or line.task, line.execution
        name = self._names.get(execution)
        of_manager = line.kind == EXECUTION
        if name is None:
            if self._complete and of_manager and before != "CREATED":
                self._alarm("", f"{task} leaves {before}, but no line shows that its execution began", place)
            if of_manager:
                self._names[execution] = task
        elif name != task:
            self._alarm("", f"execution {execution} is of {name}, but the line names {task}", place)
            task = name
        if not of_manager:
            self._on_worker(execution, task, (before, after), place)
            return
        known = self.states.get(execution)
        if known is not None and known != before:
            sentence = f"{task} leaves {before}, but its state is {known}: a line is missing or altered"
            self._alarm("COORD-01", sentence, place)
        self.states[execution] = after
        if before == "RUNNING":
            self._left.add(execution)
        if before == "CREATED":
            self.current[task] = execution
        if after in _ENDED:
            self._forget()

    def _on_worker(self, execution: str, task: str, change: tuple[str, str], place: Place) -> None:
        """Check a change in a task manager's log, where two threads may log two changes in reverse order."""
        is_new = self._complete and execution in self._names  # if not, a former job manager may have begun it
        begins = "CREATED" if is_new else None
        known, early = self._on_workers.get(execution, begins), self._early[execution]
        if known is not None and known != change[0]:
            early.add(change)
            sentence = f"{task} leaves {change[0]}, but its state is {known}: a line is missing or altered"
            waits = self._early
            self._deferred.add(
                lambda: change not in waits.get(execution, ()),
                Alarm(self._job, "", sentence, place),
                "two threads of a task log its states in another order",
            )
            return
        state = change[1]
        while (following := next((one for one in early if one[0] == state), None)) is not None:
            early.remove(following)
            state = following[1]
        self._on_workers[execution] = state
        if not early:
            del self._early[execution]
        if state in _ENDED:
            self._on_workers.pop(execution, None)

    def _forget(self) -> None:
        """Drop the oldest executions that are not current."""
        if len(self._names) > _KEPT * max(len(self.current), 8):
            current = set(self.current.values())
            for old in [one for one in self._names if one not in current][: len(self._names) // 2]:
                self._names.pop(old)
                self.states.pop(old, None)
                self._on_workers.pop(old, None)
                self._early.pop(old, None)

    def _alarm(self, rule: str, sentence: str, place: Place) -> None:
        self._raise(Alarm(self._job, rule, sentence, place))
