"""The checkpoint coordinator of one job: it starts checkpoints, collects acknowledgements and ends them.

Rules: COORD-01 to COORD-12, and SUB-01 to SUB-05 between pending checkpoints; which completed ones are
kept is `retained`. Time is virtual, in milliseconds from 0, and passes only by `advance`. The steps are in
`starting` and `ending`; here is what happens to the coordinator, event by event.

A completed checkpoint has to be durable before anybody hears of it, and the core does no I/O. So a
runtime asks `awaiting` and `collected` before it hands over the last acknowledgement, publishes the
checkpoint, and hands the acknowledgement over; where publishing fails it hands over a decline instead.
"""

from collections.abc import Iterable, Mapping
from typing import Final, assert_never

from impl.core.component import events_of, require_checkpoint_id
from impl.core.coordinator.completion import abort, abort_all, complete, lost, suspend
from impl.core.coordinator.events import (
    COORDINATOR_SHUTDOWN,
    JOB_FAILOVER_REGION,
    TRIGGER_CHECKPOINT_FAILURE,
    Acknowledge,
    Acknowledged,
    AcknowledgeResult,
    CoordinatorDone,
    CoordinatorEffect,
    CoordinatorEffects,
    CoordinatorEvent,
    CoordinatorFails,
    Decline,
    FailTasks,
    HookDone,
    HookFails,
    JobStatus,
    RequestCheckpoint,
    RestartCoordinator,
    Restored,
    RestoreJob,
    RestoreScope,
    ShutDownCoordinator,
    StoreFails,
    StoreFailure,
    TaskStatus,
    TriggerFails,
)
from impl.core.coordinator.inspection import InspectedCoordinator
from impl.core.coordinator.job import CANCELED, FAILED, FINISHED, RESTARTING, RUNNING, SUSPENDED
from impl.core.coordinator.options import CoordinatorOptions, options_from_config
from impl.core.coordinator.pending import PendingCheckpoint
from impl.core.coordinator.state import Books
from impl.core.coordinator.timers import (
    BAD_ARGUMENT,
    give_turn,
    give_turn_after_decline,
    hear_of_job,
    hear_of_tasks,
    pass_until,
    replace_executions,
    stop_scheduler,
)
from impl.core.coordinator.trigger import answer, ask
from impl.core.effects import Fail
from impl.core.errors import ConfigError, ProtocolError
from impl.core.events import Advance, CheckpointType

BAD_STATE: Final = Fail("IllegalStateException")


class Coordinator(InspectedCoordinator):
    """The coordinator over a job's tasks, whose order is the order of everything said task by task.

    A coordinator that takes over a job continues with `first_id` and the `completed` ids, oldest first; of
    more than are to be retained the oldest are dropped, and whoever owns their files deletes what
    `completed` does not name afterwards.
    """

    def __init__(
        self, options: CoordinatorOptions, *, first_id: int = 1, completed: Iterable[int] = ()
    ) -> None:
        if first_id < 1:
            raise ConfigError(f"first_id has to be at least 1, came {first_id}; correct it")
        self._books = Books(options, first_id, completed)

    # ------------------------------------------------------------ the job

    def job_status(self, status: str) -> CoordinatorEffects:
        """The job changes its status; leaving RUNNING ends all that waits or is pending (COORD-12)."""
        self._books.job.status = status
        return tuple(hear_of_job(self._books))

    def task_status(self, task: str, status: str) -> CoordinatorEffects:
        """A task changes its status; the scheduler may have waited for that, or have to stop."""
        books = self._books
        books.job.set_status(task, status)
        return (*hear_of_tasks(books, (task,)), *pass_until(books, books.now))

    def fail_tasks(self, tasks: tuple[str, ...]) -> CoordinatorEffects:
        """`tasks` fail, and the job restarts (COORD-12)."""
        books = self._books
        for task in tasks:
            books.job.require(task)
        for task in tasks:
            books.job.set_status(task, FAILED)
        effects = hear_of_tasks(books, tasks)
        books.job.status = RESTARTING
        return (*effects, *hear_of_job(books))

    # ------------------------------------------------------------ requests and their master phase

    def trigger(
        self,
        type: CheckpointType,  # noqa: A002
        forced: bool = False,
        periodic: bool = False,
        drain: bool = False,
    ) -> CoordinatorEffects:
        """Somebody asks for a checkpoint, a savepoint, or one that stops the job."""
        books = self._books
        if drain and type is not CheckpointType.STOP:
            return (BAD_ARGUMENT,)
        effects: list[CoordinatorEffect] = []
        if type is CheckpointType.STOP:
            effects += stop_scheduler(books)
        return (*effects, *ask(books, books.request(type, forced=forced, periodic=periodic)))

    def trigger_fails(self, task: str, checkpoint: int) -> CoordinatorEffects:
        """The message that triggers `task` was lost: no barrier of `checkpoint` will come from it."""
        self._books.job.require(task)
        pending = self._pending(checkpoint)
        if pending is None or pending.in_master_phase or task not in pending.plan.triggered:
            return ()
        if not self._books.generation.lost_triggers_abort:
            return ()
        return self._aborted(pending, TRIGGER_CHECKPOINT_FAILURE)

    def coordinator_done(self, name: str, checkpoint: int) -> CoordinatorEffects:
        """An operator coordinator has taken its part; with the last one the hooks are asked."""
        return self._answered(name, checkpoint, of_hook=False, fails=False)

    def coordinator_fails(self, name: str, checkpoint: int) -> CoordinatorEffects:
        """An operator coordinator could not take its part."""
        return self._answered(name, checkpoint, of_hook=False, fails=True)

    def hook_done(self, name: str, checkpoint: int) -> CoordinatorEffects:
        """A master hook has taken its part; with the last one the tasks are triggered."""
        return self._answered(name, checkpoint, of_hook=True, fails=False)

    def hook_fails(self, name: str, checkpoint: int) -> CoordinatorEffects:
        """A master hook could not take its part."""
        return self._answered(name, checkpoint, of_hook=True, fails=True)

    # ------------------------------------------------------------ what tasks say

    def acknowledge(
        self,
        task: str,
        checkpoint: int,
        state: object = None,
        attempt: int | None = None,
        shared: tuple[str, ...] = (),
    ) -> CoordinatorEffects:
        """`task` acknowledges `checkpoint` with a handle of its state, None for none, and shared ones."""
        pending = self._pending(checkpoint)
        books = self._books
        if books.shut_down:
            return ()
        if pending is None or not pending.is_savepoint:
            books.retained.shared.acknowledged(checkpoint, shared)
        if pending is None:
            return tuple(lost(books, state, shared))  # COORD-06
        result = AcknowledgeResult.UNKNOWN
        if books.job.is_current(task, attempt):
            result = pending.acknowledge(task, state, shared)
        effects: list[CoordinatorEffect] = [Acknowledged(task, checkpoint, result)]
        if result is AcknowledgeResult.UNKNOWN:
            effects += lost(books, state, shared)
        if pending.fully_acknowledged:  # COORD-07
            effects += complete(books, pending)
            effects += give_turn(books)
        return tuple(effects)

    def decline(
        self, task: str, checkpoint: int, reason: str, attempt: int | None = None
    ) -> CoordinatorEffects:
        """Somebody declines `checkpoint` (COORD-09); nobody asks who, or of which attempt."""
        pending = self._pending(checkpoint)
        if pending is None:
            return ()
        ended = abort(self._books, pending, reason, declined=True)
        return (*ended, *give_turn_after_decline(self._books, checkpoint))

    # ------------------------------------------------------------ time

    def advance(self, ms: int) -> CoordinatorEffects:
        """`ms` pass; what is due happens at its own moment, expiries first (COORD-10)."""
        if ms < 0:
            raise ProtocolError(f"time does not go back, came {ms} ms; advance by 0 or more")
        return tuple(pass_until(self._books, self._books.now + ms))

    # ------------------------------------------------------------ restoring and ending

    def store_fails(self, when: StoreFailure) -> CoordinatorEffects:
        """The next addition to the store will fail."""
        self._books.retained.fail_next(when)
        return ()

    def restore(
        self, scope: RestoreScope = RestoreScope.ALL, tasks: tuple[str, ...] = ()
    ) -> CoordinatorEffects:
        """The restarting tasks get the newest retained checkpoint (ONCE-04); a region ends pending ones."""
        books = self._books
        for task in tasks:
            books.job.require(task)
        if books.shut_down:
            return (BAD_STATE,)
        if scope is RestoreScope.ALL and books.job.status == RUNNING:
            raise ProtocolError("a job restores while it does not run, but it is RUNNING; stop it first")
        effects = abort_all(books, JOB_FAILOVER_REGION)
        if not books.generation.restores_keep_the_registry:
            books.retained.register_anew()
        effects.append(Restored(books.retained.newest))
        effects += replace_executions(books, books.job.tasks if scope is RestoreScope.ALL else tasks)
        ended = books.turns > 0
        return (*effects, *(give_turn(books) if ended else pass_until(books, books.now)))

    def coordinator_restart(self) -> CoordinatorEffects:
        """This coordinator dies in silence; a new one goes on with what is durable (COORD-02)."""
        self._books.job.created_again()
        self._books.retained.take_over()
        self._books.begin()
        return ()

    def shutdown(self, status: str = FINISHED) -> CoordinatorEffects:
        """The job has ended in `status`; only a suspended one will go on from what is durable."""
        books = self._books
        if books.shut_down:
            return ()
        books.scheduler.stop()
        effects = suspend(books, COORDINATOR_SHUTDOWN)
        books.shut_down = True
        given_up = status in (CANCELED, FAILED) and not books.options.keep_when_cancelled
        ended = books.retained.end(delete=status == FINISHED or given_up, suspended=status == SUSPENDED)
        return (*effects, *ended)

    # ------------------------------------------------------------ steps

    def _pending(self, checkpoint: int) -> PendingCheckpoint | None:
        require_checkpoint_id(checkpoint)
        return self._books.pending.get(checkpoint)

    def _answered(self, name: str, checkpoint: int, *, of_hook: bool, fails: bool) -> CoordinatorEffects:
        require_checkpoint_id(checkpoint)
        options = self._books.options
        names = options.hooks if of_hook else options.operator_coordinators
        if name not in names:
            raise ProtocolError(f"the coordinator knows {list(names)} here, came {name!r}; name one of those")
        return tuple(answer(self._books, name, checkpoint, of_hook=of_hook, fails=fails))

    def _aborted(self, pending: PendingCheckpoint, reason: str) -> CoordinatorEffects:
        ended = abort(self._books, pending, reason)
        return (*ended, *give_turn(self._books))

    def handle(self, event: CoordinatorEvent) -> CoordinatorEffects:  # noqa: C901 - an arm for each event
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
        match event:
            case JobStatus(status):
                return self.job_status(status)
            case TaskStatus(task, status):
                return self.task_status(task, status)
            case FailTasks(tasks):
                return self.fail_tasks(tasks)
            case RequestCheckpoint(type, forced, periodic, drain):
                return self.trigger(type, forced, periodic, drain)
            case TriggerFails(task, checkpoint):
                return self.trigger_fails(task, checkpoint)
            case CoordinatorDone(name, checkpoint):
                return self.coordinator_done(name, checkpoint)
            case CoordinatorFails(name, checkpoint):
                return self.coordinator_fails(name, checkpoint)
            case HookDone(name, checkpoint):
                return self.hook_done(name, checkpoint)
            case HookFails(name, checkpoint):
                return self.hook_fails(name, checkpoint)
            case Acknowledge(task, checkpoint, state, attempt, shared):
                return self.acknowledge(task, checkpoint, state, attempt, shared)
            case Decline(task, checkpoint, reason, attempt):
                return self.decline(task, checkpoint, reason, attempt)
            case Advance(ms):
                return self.advance(ms)
            case StoreFails(when):
                return self.store_fails(when)
            case RestoreJob(scope, tasks):
                return self.restore(scope, tasks)
            case RestartCoordinator():
                return self.coordinator_restart()
            case ShutDownCoordinator(status):
                return self.shutdown(status)
            case _:
                assert_never(event)

    _events = events_of(CoordinatorEvent)


def coordinator_from_config(config: Mapping[str, object]) -> Coordinator:
    """The coordinator that a wire configuration asks for."""
    return Coordinator(options_from_config(config))
