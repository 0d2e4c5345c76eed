"""The checkpoint coordinator of one job: it starts checkpoints, collects acknowledgements and ends them.

Rules: COORD-01 to COORD-12, and SUB-01 to SUB-05 between pending checkpoints; which completed ones are
kept is `store`. Time is virtual, in milliseconds from 0, and passes only by `advance`.

A completed checkpoint has to be durable before anybody hears of it, and the core does no I/O. So a
runtime asks `awaiting` and `collected` before it hands over the last acknowledgement, publishes the
checkpoint, and hands the acknowledgement over; where publishing fails it hands over a decline instead.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from impl.core.component import (
    Component,
    Effects,
    only_keys,
    positive_int,
    require_checkpoint_id,
    steps,
    supported,
)
from impl.core.effects import (
    CHECKPOINT_EXPIRED,
    CHECKPOINT_SUBSUMED,
    COORDINATOR_SUSPEND,
    NOT_ALL_REQUIRED_TASKS_RUNNING,
    Abort,
    Acknowledged,
    AcknowledgeResult,
    Complete,
    DiscardState,
    Effect,
    NotifyTaskAbort,
    NotifyTaskComplete,
    NotifyTaskSubsumed,
    Rejected,
    Restored,
    Subsumed,
    TriggerTask,
)
from impl.core.errors import ConfigError, ProtocolError
from impl.core.events import (
    Acknowledge,
    Advance,
    CheckpointType,
    Decline,
    FailTasks,
    JobStatus,
    RequestCheckpoint,
    RestoreJob,
    TaskStatus,
)
from impl.core.pending import PendingCheckpoint
from impl.core.requests import RequestQueue
from impl.core.store import CompletedCheckpointStore

# Statuses are Flink's names, an open vocabulary: the coordinator tells RUNNING from anything else.
CREATED: Final = "CREATED"
RUNNING: Final = "RUNNING"
FAILED: Final = "FAILED"
RESTARTING: Final = "RESTARTING"

DEFAULT_TIMEOUT_MS: Final = 600_000


class Task(NamedTuple):
    """One task of the job. A source is told to begin a checkpoint; every task acknowledges it."""

    id: str
    source: bool


class Coordinator(Component):
    """The coordinator over `tasks`, whose order is the order of everything said task by task.

    `timeout_ms`: virtual ms until a pending checkpoint expires. `max_concurrent`: how many checkpoints
    may be pending. `retain`: how many completed ones are kept. A coordinator that takes over a job
    continues with `first_id` and the `completed` ids, oldest first; of more than `retain` the oldest are
    dropped, and whoever owns their files deletes what `completed` does not name afterwards.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        *,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        max_concurrent: int = 1,
        retain: int = 1,
        first_id: int = 1,
        completed: Iterable[int] = (),
    ) -> None:
        names = [task.id for task in tasks]
        if not names or len(set(names)) < len(names):
            raise ConfigError(
                f"tasks have to be some, each with an id of its own, came {names}; correct them"
            )
        if min(timeout_ms, max_concurrent, first_id) < 1:
            raise ConfigError(
                "timeout_ms, max_concurrent and first_id have to be at least 1, came "
                f"{timeout_ms}, {max_concurrent} and {first_id}; correct them"
            )
        self._tasks = tuple(names)
        self._sources = tuple(task.id for task in tasks if task.source)
        self._timeout_ms = timeout_ms
        self._max_concurrent = max_concurrent
        self._store = CompletedCheckpointStore(retain)
        for checkpoint in completed:
            self._store.add(checkpoint)
        self._now = 0
        self._status = CREATED
        self._task_status = dict.fromkeys(names, CREATED)
        self._next_id = first_id
        self._queue = RequestQueue()
        self._pending: dict[int, PendingCheckpoint] = {}  # ascending ids, as they are drawn

    # ------------------------------------------------------------ what a runtime asks

    @property
    def now(self) -> int:
        """Virtual milliseconds passed."""
        return self._now

    @property
    def next_deadline(self) -> int | None:
        """The virtual time at which the next pending checkpoint expires, None without one."""
        return min((one.deadline for one in self._pending.values()), default=None)

    @property
    def next_id(self) -> int:
        """The id that the next started checkpoint gets."""
        return self._next_id

    @property
    def waiting(self) -> tuple[CheckpointType, ...]:
        """The requests that wait for their turn, head first."""
        return self._queue.waiting

    @property
    def pending(self) -> tuple[int, ...]:
        """The pending ids, ascending."""
        return tuple(self._pending)

    @property
    def completed(self) -> tuple[int, ...]:
        """The retained completed ids, in the order of adding."""
        return self._store.completed

    def type_of(self, checkpoint: int) -> CheckpointType | None:
        """What was asked for, None if `checkpoint` is not pending."""
        pending = self._pending.get(checkpoint)
        return None if pending is None else pending.type

    def awaiting(self, checkpoint: int) -> tuple[str, ...]:
        """The tasks a pending checkpoint still awaits, in the order of tasks; none if it is not pending."""
        pending = self._pending.get(checkpoint)
        return () if pending is None else pending.awaited

    def collected(self, checkpoint: int) -> Mapping[str, object]:
        """The handles a pending checkpoint has collected, by task; none if it is not pending."""
        pending = self._pending.get(checkpoint)
        return {} if pending is None else pending.states

    # ------------------------------------------------------------ events

    def job_status(self, status: str) -> Effects:
        """The job changes its status; leaving RUNNING ends all that waits or is pending (COORD-12)."""
        self._status = status
        return () if status == RUNNING else tuple(self._suspend())

    def task_status(self, task: str, status: str) -> Effects:
        """A task changes its status."""
        self._require_task(task)
        self._task_status[task] = status
        return ()

    def trigger(self, type: CheckpointType) -> Effects:  # noqa: A002
        """Somebody asks for a checkpoint or a savepoint."""
        if type is CheckpointType.STOP:
            raise ProtocolError("checkpoint and savepoint can be asked for, came stop; ask for one of those")
        if not self._everything_runs():  # COORD-01
            return (Rejected(type, NOT_ALL_REQUIRED_TASKS_RUNNING),)
        self._queue.join(type)
        return tuple(self._start_waiting())

    def acknowledge(self, task: str, checkpoint: int, state: object = None) -> Effects:
        """`task` acknowledges `checkpoint` with a handle of its state, None for none."""
        require_checkpoint_id(checkpoint)
        pending = self._pending.get(checkpoint)
        if pending is None:  # COORD-06
            return () if state is None else (DiscardState(state),)
        result = pending.acknowledge(task, state)
        effects: list[Effect] = [Acknowledged(task, checkpoint, result)]
        if result is AcknowledgeResult.UNKNOWN and state is not None:
            effects.append(DiscardState(state))
        if pending.fully_acknowledged:  # COORD-07
            effects += self._complete(pending)
            effects += self._start_waiting()
        return tuple(effects)

    def decline(self, task: str, checkpoint: int, reason: str) -> Effects:
        """`task` declines `checkpoint` (COORD-09)."""
        require_checkpoint_id(checkpoint)
        pending = self._pending.get(checkpoint)
        if pending is None:
            return ()
        return (*self._abort(pending, reason), *self._start_waiting())

    def advance(self, ms: int) -> Effects:
        """`ms` pass; checkpoints expire one after the other, each at its own moment (COORD-10)."""
        if ms < 0:
            raise ProtocolError(f"time does not go back, came {ms} ms; advance by 0 or more")
        until = self._now + ms
        effects: list[Effect] = []
        while (expired := self._next_expired(until)) is not None:
            self._now = expired.deadline
            effects += self._abort(expired, CHECKPOINT_EXPIRED)
            effects += self._start_waiting()
        self._now = until
        return tuple(effects)

    def fail_tasks(self, tasks: tuple[str, ...]) -> Effects:
        """`tasks` fail, and the job restarts (COORD-12)."""
        for task in tasks:
            self._require_task(task)
        for task in tasks:
            self._task_status[task] = FAILED
        return self.job_status(RESTARTING)

    def restore(self) -> Effects:
        """The restarting job gets the newest retained checkpoint (ONCE-04)."""
        if self._status == RUNNING:
            raise ProtocolError("a job is restored while it does not run, but it is RUNNING; stop it first")
        return (Restored(self._store.newest),)

    def observe(self) -> dict[str, Any]:
        """`status`, `pending` (id to the tasks awaited), `completed`, `next_id`, `queued` (head first)."""
        return {
            "status": self._status,
            "pending": {str(one.checkpoint): list(one.awaited) for one in self._pending.values()},
            "completed": list(self._store.completed),
            "next_id": self._next_id,
            "queued": [one.value for one in self._queue.waiting],
        }

    # ------------------------------------------------------------ steps

    def _start_waiting(self) -> list[Effect]:
        """COORD-11: requests start from the head on, as far as COORD-03 allows."""
        effects: list[Effect] = []
        while (head := self._queue.head) is not None:
            forced = head is CheckpointType.SAVEPOINT
            if not forced and len(self._pending) >= self._max_concurrent:
                break
            self._queue.leave()
            if self._everything_runs():
                effects += self._start(head)
            else:  # COORD-01 holds at the start too, not only when the request was made
                effects.append(Rejected(head, NOT_ALL_REQUIRED_TASKS_RUNNING))
        return effects

    def _start(self, requested: CheckpointType) -> list[Effect]:
        """COORD-02, COORD-04: the next id, pending on every task, one trigger for each source."""
        checkpoint = self._next_id
        self._next_id += 1
        deadline = self._now + self._timeout_ms
        self._pending[checkpoint] = PendingCheckpoint(checkpoint, requested, self._tasks, deadline)
        return [TriggerTask(source, checkpoint, requested) for source in self._sources]

    def _complete(self, pending: PendingCheckpoint) -> list[Effect]:
        """COORD-08: into the store, older pending ones out, and only then tell the tasks."""
        checkpoint = pending.checkpoint
        pending.complete()
        del self._pending[checkpoint]
        if not pending.can_be_subsumed:  # SUB-05: a savepoint is its user's, it replaces nothing
            return [Complete(checkpoint)]
        dropped = self._store.add(checkpoint)
        effects: list[Effect] = [one for one in dropped if not isinstance(one, Subsumed)]
        effects.append(Complete(checkpoint))
        for older in [one for one in self._pending.values() if one.checkpoint < checkpoint]:
            if older.can_be_subsumed:  # SUB-02, SUB-04
                effects += self._abort(older, CHECKPOINT_SUBSUMED)
        subsumed = [one.checkpoint for one in dropped if isinstance(one, Subsumed)]
        for task in self._tasks:
            effects.append(NotifyTaskComplete(task, checkpoint))
            effects += [NotifyTaskSubsumed(task, one) for one in subsumed]
        return effects

    def _abort(self, pending: PendingCheckpoint, reason: str) -> list[Effect]:
        """A pending checkpoint ends: its states go, and every task is told."""
        pending.abort()
        del self._pending[pending.checkpoint]
        return [
            Abort(pending.checkpoint, reason),
            *(DiscardState(state) for state in pending.states.values()),
            *(NotifyTaskAbort(task, pending.checkpoint) for task in self._tasks),
        ]

    def _suspend(self) -> list[Effect]:
        """COORD-12: first what waits, then what is pending, so that no end starts anything."""
        effects: list[Effect] = [Rejected(one, COORDINATOR_SUSPEND) for one in self._queue.clear()]
        for pending in tuple(self._pending.values()):
            effects += self._abort(pending, COORDINATOR_SUSPEND)
        return effects

    def _next_expired(self, until: int) -> PendingCheckpoint | None:
        """The pending checkpoint with the earliest deadline up to `until`; of equal ones the smaller id."""
        due = [one for one in self._pending.values() if one.deadline <= until]
        return min(due, key=lambda one: (one.deadline, one.checkpoint), default=None)

    def _everything_runs(self) -> bool:
        return self._status == RUNNING and all(one == RUNNING for one in self._task_status.values())

    def _require_task(self, task: str) -> None:
        if task not in self._task_status:
            raise ProtocolError(
                f"the job has the tasks {list(self._tasks)}, came {task!r}; name one of those"
            )

    _steps = steps(
        {
            JobStatus: job_status,
            TaskStatus: task_status,
            RequestCheckpoint: trigger,
            Acknowledge: acknowledge,
            Decline: decline,
            Advance: advance,
            FailTasks: fail_tasks,
            RestoreJob: restore,
        }
    )


def coordinator_from_config(config: Mapping[str, object]) -> Coordinator:
    """The coordinator that a wire configuration asks for."""
    only_keys(config, ("tasks", "profile", "timeout_ms", "max_concurrent", "retain"))
    supported(config, "profile", ("2.3",), "2.3")
    return Coordinator(
        [_task(one) for one in _listed(config.get("tasks"))],
        timeout_ms=positive_int(config, "timeout_ms", DEFAULT_TIMEOUT_MS),
        max_concurrent=positive_int(config, "max_concurrent", 1),
        retain=positive_int(config, "retain", 1),
    )


def _listed(tasks: object) -> list[object]:
    if not isinstance(tasks, list | tuple):
        raise ConfigError(
            f'tasks has to be a list of {{"id": ..., "source": ...}}, came {tasks!r}; correct it'
        )
    return list(tasks)


def _task(entry: object) -> Task:
    if isinstance(entry, Mapping):
        name, source = entry.get("id"), entry.get("source", False)
        if isinstance(name, str) and isinstance(source, bool) and set(entry) <= {"id", "source"}:
            return Task(name, source)
    raise ConfigError(f'a task has to be {{"id": "src-0", "source": true}}, came {entry!r}; correct it')
