"""The checkpoint coordinator of one job: it starts checkpoints, collects acknowledgements and ends them.

Rules: COORD-01 to COORD-31, COORD-33 to COORD-38, and SUB-01 to SUB-05 between pending checkpoints. Time is
virtual, in milliseconds from 0, and passes only by `advance`. Each method here is an event; its steps are in
`trigger`, `completion` and `timers`.

A checkpoint must be durable before any task is notified of its completion, and the core does no I/O. A
runtime therefore reads `awaiting` and `collected` before it passes on the last acknowledgement, and publishes
the checkpoint first. If this fails, it passes on a decline instead.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from impl.core.component import events_of, require_checkpoint_id
from impl.core.coordinator import events, timers
from impl.core.coordinator.completion import abort, abort_all, complete, discard, suspend
from impl.core.coordinator.inspection import InspectedCoordinator
from impl.core.coordinator.job import CANCELED, FAILED, FINISHED, RESTARTING, RUNNING, SUSPENDED
from impl.core.coordinator.options import CoordinatorOptions, number, options_from_config
from impl.core.coordinator.pending import PendingCheckpoint
from impl.core.coordinator.state import CoordinatorState
from impl.core.coordinator.trigger import answer, submit
from impl.core.effects import Fail
from impl.core.errors import ConfigError, ProtocolError
from impl.core.events import CheckpointType

BAD_STATE: Final = Fail("IllegalStateException")
_ENDS: Final = (FINISHED, CANCELED, FAILED, SUSPENDED)


class Coordinator(InspectedCoordinator):
    """The coordinator of a job. Effects for several tasks come in the order of `options.tasks`.

    A coordinator that takes over a job gets the next id, `first_id`, and the ids of the `completed`
    checkpoints, oldest first. It retains the newest `options.retain` of these; the caller deletes the files
    of the ids that the property `completed` does not have. Raises ConfigError if `first_id` is below 1.
    """

    def __init__(
        self, options: CoordinatorOptions, *, first_id: int = 1, completed: Iterable[int] = ()
    ) -> None:
        if first_id < 1:
            raise ConfigError(f"first_id must be at least 1, got {first_id}; correct it")
        self._state = CoordinatorState(options, first_id, completed)

    # ------------------------------------------------------------ the job

    def job_status(self, status: str) -> events.CoordinatorEffects:
        """The job changes its status. When it leaves RUNNING, requests and checkpoints end (COORD-12)."""
        self._state.job.status = status
        return tuple(timers.follow_job(self._state))

    def task_status(self, task: str, status: str) -> events.CoordinatorEffects:
        """A task changes its status; this may start or stop the scheduler."""
        state = self._state
        state.job.set_status(task, status)
        return (*timers.follow_tasks(state, (task,)), *timers.advance_to(state, state.now))

    def fail_tasks(self, tasks: tuple[str, ...]) -> events.CoordinatorEffects:
        """`tasks` fail, and the job restarts (COORD-12). Raises ProtocolError for an unknown task."""
        state = self._state
        for task in tasks:
            state.job.require(task)
        for task in tasks:
            state.job.set_status(task, FAILED)
        effects = timers.follow_tasks(state, tasks)
        state.job.status = RESTARTING
        return (*effects, *timers.follow_job(state))

    # ------------------------------------------------------------ requests and their master phase

    def trigger(
        self,
        type: CheckpointType,  # noqa: A002
        forced: bool = False,
        periodic: bool = False,
        drain: bool = False,
    ) -> events.CoordinatorEffects:
        """A checkpoint, a savepoint or a stop-with-savepoint is requested.

        Arguments as in `RequestCheckpoint`.
        """
        state = self._state
        if drain and type is not CheckpointType.STOP:
            return (timers.BAD_ARGUMENT,)
        effects: list[events.CoordinatorEffect] = []
        if type is CheckpointType.STOP:
            effects += timers.stop_scheduler(state)
        return (*effects, *submit(state, state.request(type, forced=forced, periodic=periodic)))

    def trigger_fails(self, task: str, checkpoint: int) -> events.CoordinatorEffects:
        """The message that triggers `task` was lost (COORD-24)."""
        self._state.job.require(task)
        pending = self._pending(checkpoint)
        if pending is None or pending.in_master_phase or task not in pending.plan.triggered:
            return ()
        if not self._state.profile.lost_triggers_abort:
            return ()
        return self._aborted(pending, events.TRIGGER_CHECKPOINT_FAILURE)

    def coordinator_done(self, name: str, checkpoint: int) -> events.CoordinatorEffects:
        """An operator coordinator has taken its part; after the last one the hooks are triggered."""
        return self._answered(name, checkpoint, of_hook=False, fails=False)

    def coordinator_fails(self, name: str, checkpoint: int) -> events.CoordinatorEffects:
        """An operator coordinator has failed to take its part."""
        return self._answered(name, checkpoint, of_hook=False, fails=True)

    def hook_done(self, name: str, checkpoint: int) -> events.CoordinatorEffects:
        """A master hook has taken its part; after the last one the tasks are triggered."""
        return self._answered(name, checkpoint, of_hook=True, fails=False)

    def hook_fails(self, name: str, checkpoint: int) -> events.CoordinatorEffects:
        """A master hook has failed to take its part."""
        return self._answered(name, checkpoint, of_hook=True, fails=True)

    # ------------------------------------------------------------ messages of tasks

    def acknowledge(
        self,
        task: str,
        checkpoint: int,
        handle: object = None,
        attempt: int | None = None,
        shared: tuple[str, ...] = (),
    ) -> events.CoordinatorEffects:
        """`task` acknowledges `checkpoint`. Arguments as in `Acknowledge`."""
        pending = self._pending(checkpoint, attempt)
        state = self._state
        if state.shut_down:
            return ()
        if pending is None or not pending.is_savepoint:
            state.retained.shared.acknowledged(checkpoint, shared)
        if pending is None:
            return tuple(discard(state, handle, shared))  # COORD-06
        result = events.AcknowledgeResult.UNKNOWN
        if state.job.is_current(task, attempt):
            result = pending.acknowledge(task, handle, shared)
        effects: list[events.CoordinatorEffect] = [events.Acknowledged(task, checkpoint, result)]
        if result is events.AcknowledgeResult.UNKNOWN:
            effects += discard(state, handle, shared)
        if pending.fully_acknowledged:  # COORD-07
            effects += complete(state, pending)
            effects += timers.give_turn(state)
        return tuple(effects)

    def decline(
        self, task: str, checkpoint: int, reason: str, attempt: int | None = None
    ) -> events.CoordinatorEffects:
        """`checkpoint` is declined (COORD-09). The task and the attempt make no difference."""
        pending = self._pending(checkpoint, attempt)
        if pending is None:
            return ()
        ended = abort(self._state, pending, reason, declined=True)
        return (*ended, *timers.give_turn_after_decline(self._state, checkpoint))

    # ------------------------------------------------------------ time

    def advance(self, ms: int) -> events.CoordinatorEffects:
        """`ms` milliseconds pass. Expiries and requests happen when due, expiries first (COORD-10)."""
        if ms < 0:
            raise ProtocolError(f"time does not go back, got {ms} ms; advance by 0 or more")
        return tuple(timers.advance_to(self._state, self._state.now + ms))

    # ------------------------------------------------------------ restoring and ending

    def store_fails(self, when: events.StoreFailure) -> events.CoordinatorEffects:
        """The next addition to the store will fail."""
        self._state.retained.fail_next(when)
        return ()

    def io_fails(self, what: events.IoStep) -> events.CoordinatorEffects:
        """The next operation `what` will fail. Raises ProtocolError unless `io_failures` is `injected`."""
        if not self._state.options.injects_io_failures:
            raise ProtocolError(
                "`io_fails` needs the option io_failures injected; set it or leave the event out"
            )
        self._state.failing_io.add(what)
        return ()

    def deleted(self) -> events.CoordinatorEffects:
        """The oldest deletion ends, and the queue gets its turn (COORD-33).

        Without a deletion there is no effect. Raises ProtocolError unless the option `cleaning` is `slow`.
        """
        state = self._state
        if not state.options.slow_cleaning:
            raise ProtocolError("`deleted` needs the option cleaning slow; set it or leave the event out")
        if not (state.deletions and state.deletions.popleft()) or state.shut_down:
            return ()
        return tuple(timers.give_turn(state))

    def restore(
        self, scope: events.RestoreScope = events.RestoreScope.ALL, tasks: tuple[str, ...] = ()
    ) -> events.CoordinatorEffects:
        """The restarting tasks get the newest retained checkpoint (ONCE-04). Pending checkpoints are aborted.

        Raises ProtocolError for an unknown task, for the scope REGION without tasks, and for the scope ALL
        while the job is RUNNING.
        """
        state = self._state
        for task in tasks:
            state.job.require(task)
        if scope is events.RestoreScope.REGION and not tasks:
            raise ProtocolError("expected the tasks of a region, got none; name at least one")
        if state.shut_down:
            return (BAD_STATE,)
        if scope is events.RestoreScope.ALL and state.job.status == RUNNING:
            raise ProtocolError("a job restores while it does not run, but it is RUNNING; stop it first")
        effects = abort_all(state, events.JOB_FAILOVER_REGION)
        if state.profile.restore_registers_anew:
            state.retained.register_anew()
        effects.append(events.Restored(state.retained.newest))
        effects += timers.replace_executions(
            state, state.job.tasks if scope is events.RestoreScope.ALL else tasks
        )
        ended = state.turns > 0
        return (*effects, *(timers.give_turn(state) if ended else timers.advance_to(state, state.now)))

    def coordinator_restart(self) -> events.CoordinatorEffects:
        """A new coordinator takes over the durable checkpoints and the next id (COORD-02, COORD-22)."""
        self._state.job.created_again()
        self._state.retained.take_over()
        self._state.begin()
        return ()

    def shutdown(self, status: str = FINISHED) -> events.CoordinatorEffects:
        """The job has ended in `status` (COORD-25).

        The checkpoints of a finished job are deleted, those of a cancelled or failed job too unless
        `keep_when_cancelled` is set. A suspended job keeps them for its next coordinator. Raises
        ProtocolError for any other status.
        """
        state = self._state
        if status not in _ENDS:
            raise ProtocolError(f"a job ends as one of {', '.join(_ENDS)}, got {status!r}; send one of those")
        if state.shut_down:
            return ()
        state.scheduler.stop()
        effects = suspend(state, events.COORDINATOR_SHUTDOWN)
        state.shut_down = True
        deletes = status in (CANCELED, FAILED) and not state.options.keep_when_cancelled
        ended = state.retained.end(delete=status == FINISHED or deletes, suspended=status == SUSPENDED)
        return (*effects, *ended)

    # ------------------------------------------------------------ steps

    def _pending(self, checkpoint: int, attempt: int | None = None) -> PendingCheckpoint | None:
        require_checkpoint_id(checkpoint)
        if attempt is not None and attempt < 0:
            raise ProtocolError(f"attempts are counted from 0 on, got {attempt}; send the task's attempt")
        return self._state.pending.get(checkpoint)

    def _answered(
        self, name: str, checkpoint: int, *, of_hook: bool, fails: bool
    ) -> events.CoordinatorEffects:
        require_checkpoint_id(checkpoint)
        options = self._state.options
        names = options.hooks if of_hook else options.operator_coordinators
        if name not in names:
            raise ProtocolError(f"expected one of {list(names)}, got {name!r}; send a configured name")
        return tuple(answer(self._state, name, checkpoint, of_hook=of_hook, fails=fails))

    def _aborted(self, pending: PendingCheckpoint, reason: str) -> events.CoordinatorEffects:
        ended = abort(self._state, pending, reason)
        return (*ended, *timers.give_turn(self._state))

    _events = events_of(events.CoordinatorEvent)


def coordinator_from_config(config: Mapping[str, object]) -> Coordinator:
    """A new coordinator with the options of a configuration of the wire.

    Raises ConfigError for an unknown key or a wrong value, UnsupportedError for an option that is not
    offered.
    """
    options = options_from_config(config)
    if "first_id" not in config:
        return Coordinator(options)
    if options.restored_savepoint is not None and config["first_id"] != 1:
        raise ConfigError("first_id: the first id follows restored_savepoint; leave one of the two out")
    return Coordinator(options, first_id=number(config, "first_id"))
