"""The checkpoint coordinator of a running job, on the driver.

It passes events to the core's coordinator, logs them, carries out the effects, reads the clock, and maintains
the checkpoint folder. It publishes a checkpoint in this folder before the core's coordinator gets the last
acknowledgement. So no task is notified of a checkpoint that is not durable.
"""

from collections.abc import Mapping
from typing import assert_never

from impl.core import CheckpointType, Coordinator
from impl.core.coordinator import events
from impl.core.coordinator.job import FINISHED, RUNNING
from impl.core.effects import Fail
from impl.core.events import Advance
from impl.core.gate.events import Abort
from impl.eventlog import Recorded
from impl.graph.plan import Role
from impl.metrics import SnapshotMeasures
from impl.savepoints import Savepoint
from impl.spark.channels.control_channel import Send
from impl.spark.channels.messages import (
    CheckpointAborted,
    CheckpointCompleted,
    Command,
    FinishTask,
    StartCheckpoint,
)
from impl.spark.coordination.checkpoint_publisher import CheckpointPublisher
from impl.spark.coordination.context import JobContext
from impl.spark.coordination.dead_checkpoints import abandon_checkpoints
from impl.spark.coordination.final_checkpoint import FinalCheckpoint
from impl.spark.coordination.history import CheckpointHistory
from impl.spark.coordination.job_clock import JobClock
from impl.spark.coordination.periodic_trigger import PeriodicTrigger
from impl.spark.coordination.restore import Restoring, bounds_of, options_of
from impl.spark.errors import AttemptFailedError, UnknownEffectError
from impl.state import Refused, StateHandle, StorageError, UncertainPublicationError, discard

_CLEARED_AGAIN = 3
"""Each completion deletes the files of the last aborted checkpoints again. This is their maximum number."""


class Coordination:
    """The coordinator of one job over all its attempts. Used by one thread.

    `publisher`: publishes checkpoints and savepoints. `takes_over`: whether it continues an earlier log.
    """

    def __init__(
        self, context: JobContext, publisher: CheckpointPublisher, *, takes_over: bool = False
    ) -> None:
        self._context = context
        self._publisher = publisher
        self._savepoints = publisher.savepoints
        self._requests = publisher.savepoints.manual
        self._restoring = Restoring(context, takes_over=takes_over)
        self._storage = context.storage
        self._tasks = context.plan.ids()
        self._periodic = PeriodicTrigger(
            context.config.checkpointing_interval_ms,
            min_pause_ms=context.config.min_pause_between_checkpoints_ms,
            initial_delay_ms=context.config.first_delay_ms,
        )
        self.clock = JobClock(context.clock)
        self._send: Send = _drop
        self._attempt = 0
        self._reserved = 0
        """The highest checkpoint id whose folder this driver has created."""
        self._running: set[str] = set()
        self._final = FinalCheckpoint()
        self._failure: str | None = None
        self._history = CheckpointHistory(context, publisher.savepoints.folder_of)
        self.tracker = self._history.tracker
        self.completions = self._history.completions
        self.aborted = self._history.aborted
        first = self._storage.next_checkpoint_id()
        if first > 1 and not self._storage.completed_ids():  # an earlier driver has completed no checkpoint
            context.line(kind="coordinator_started", first_id=first, completed=[])
        self._use(Coordinator(options_of(context), first_id=first))

    # ------------------------------------------------------------ attempts

    def begin_attempt(self, attempt: int, send: Send) -> tuple[int | None, Mapping[str, StateHandle]]:
        """Start `attempt`. Returns the id of the checkpoint to restore, or None, and its handles by task.

        If the newest checkpoint was altered, an older one is restored (ONCE-04). An earlier driver may have
        published the checkpoint. Raises `SupersededError` if a newer attempt exists.
        """
        self._attempt = attempt
        self.clock.begin_attempt()
        if self._context.log:
            self._context.log.attempt = attempt
        self._send = send
        self._running.clear()
        self._final = FinalCheckpoint()
        self._failure = None
        self._savepoints.clear_left(attempt)
        states, published = self._restoring.newest(self._coordinator.completed)
        first = self._reserved_id()
        if published is not None or first != self._coordinator.next_id:
            self._take_over(self._coordinator.completed if published is None else published, first)
        restored = self._restore()
        self._storage.record_restored(attempt, restored)
        self._history.restored(restored, states)
        self._context.line(kind="configured", **bounds_of(self._context.config))
        self._context.line(
            kind="attempt_started",
            restored=restored,
            tasks=list(self._tasks),
            edges=self._context.plan.edges(),
            exchanges=self._context.plan.exchanges(),
            states=list(states),
        )
        return restored, states

    def fail_attempt(self, reason: str) -> None:
        """End a failed attempt. All its tasks fail, and all pending checkpoints are aborted (COORD-12)."""
        self._send = _drop
        self._periodic.stop()
        self._final.cancel()
        self._context.line(kind="attempt_failed", reason=reason)
        self._savepoints.attempt_failed(reason)
        self._requests.refused(reason)
        self._failure = None  # the attempt has already failed
        self._act(events.FailTasks(self._tasks))

    def finish(self) -> tuple[tuple[Savepoint, ...], str | None]:
        """End the job after every task has finished. Returns its savepoints, and the error of the cleanup.

        Answers the request that has stopped the job. A full disk does not fail the job, because its output is
        committed. Raises `SupersededError` if a newer attempt exists before or directly after the cleanup.
        """
        self._send = _drop
        failure = self._end(FINISHED)
        self._savepoints.finished()
        return tuple(self._savepoints.completed), failure

    def job_ended(self, status: str) -> str | None:
        """Delete all that is not retained after a failure, cancellation or suspension of the job (COORD-25).

        Returns the error of the deletion, or None. Raises `SupersededError` if a newer attempt exists.
        """
        return self._end(status) if self._context.config.shuts_down(status) else None

    def _end(self, status: str) -> str | None:
        self._storage.require_newest("ending the job", self._attempt)
        failure, last = None, self._attempt
        try:
            if self._context.config.deletes_checkpoints(status):
                last = abandon_checkpoints(self._storage, self._attempt)
            self._clean_up(status)
        except StorageError as failed:
            failure = str(failed)
        self._storage.require_newest("ending the job", last)  # a newer attempt may have begun in between
        return failure

    def _clean_up(self, status: str) -> None:
        """Delete all files that are not retained. No task writes any file at this time."""
        for effect in self._recorded.handle(events.JobStatus(status)):
            self._carry_out(effect)
        if self._context.config.shuts_down(status):
            for effect in self._recorded.handle(events.ShutDownCoordinator(status)):
                self._carry_out(effect)
        self._publisher.clear([*(checkpoint for checkpoint, _ in self.aborted), self._coordinator.next_id])
        self._storage.sweep(self._attempt + 1)
        if status != FINISHED:
            self._storage.use_up(self._coordinator.next_id - 1)
        self._context.line(kind="finished")

    # ------------------------------------------------------------ reports of tasks

    def running(self, task: str) -> None:
        """Handle the report that `task` runs. When all tasks run, periodic checkpoints start."""
        self._running.add(task)
        self._act(events.TaskStatus(task, RUNNING))
        if self.all_running:
            self._act(events.JobStatus(RUNNING))
            self._periodic.start(self.clock.now())

    @property
    def all_running(self) -> bool:
        """Whether every task of the attempt runs."""
        return len(self._running) == len(self._tasks)

    @property
    def refused(self) -> list[Refused]:
        """The checkpoints that are not restored, because they were altered or are dead."""
        return self._restoring.refused

    @property
    def pending(self) -> int | None:
        """The oldest pending checkpoint; None if there is none."""
        return next(iter(self._coordinator.pending), None)

    def acknowledge(self, task: str, state: StateHandle, measures: SnapshotMeasures | None = None) -> None:
        """Handle an acknowledgement. Before the last one, publish the checkpoint; decline it if that fails.

        Raises UncertainPublicationError if it is unknown whether it is published; the next attempt finds out.
        """
        checkpoint = state.checkpoint
        self._history.acknowledged(task, state, measures)
        if self._coordinator.awaiting(checkpoint) == (task,):
            if not self._savepoints.has(checkpoint):  # logged first: the driver may die after the publication
                self._context.line(kind="publishing", checkpoint=checkpoint)
            handles = [*map(_handle, self._coordinator.collected(checkpoint).values()), state]
            try:
                self._publisher.publish(checkpoint, self._attempt, handles)
            except UncertainPublicationError:
                raise
            except StorageError as failed:
                self._context.line(kind="publication_failed", checkpoint=checkpoint, reason=str(failed))
                self.decline(task, checkpoint, events.FINALIZE_CHECKPOINT_FAILURE)
                return
        self._act(events.Acknowledge(task, checkpoint, state))

    def decline(self, task: str, checkpoint: int, reason: str, cause: str | None = None) -> None:
        """Handle the decline of `task`. `cause`: the error that caused `reason`, or None."""
        self._history.declined(task, checkpoint, cause)
        self._act(events.Decline(task, checkpoint, reason))

    def end_of_data(self, task: str) -> None:
        """Handle the end of the data of `task`. After that of the last task, the final checkpoint is due."""
        if self._final.ended(task, len(self._tasks)):
            self._periodic.stop()
            if not self._savepoints.stopping:  # a savepoint that stops the job replaces the final checkpoint
                self._final.begin_with(self._coordinator.next_id)

    # ------------------------------------------------------------ time

    def tick(self) -> float:
        """Do all that is due by the clock. Returns the seconds until the next call may be needed.

        Raises `JobCancelledError` or `JobSuspendedError` if a user has ended the job.
        """
        now = self.clock.now()
        deadline = self._coordinator.next_deadline
        if deadline is not None and now >= deadline:
            self._advance()
        self._savepoints.raise_if_ended(now)
        self._request_savepoints(now)
        decision = self._periodic.poll(now, waiting=bool(self._coordinator.waiting))
        if self._savepoints.stopping:
            self._requests.refused("the job is being stopped with a savepoint")
        elif decision.trigger or self._final.due or (self.all_running and self._requests.due()):
            self._final.due = False
            self._advance()
            self._act(events.RequestCheckpoint(CheckpointType.CHECKPOINT))
        due = [at for at in (decision.next_poll, self._coordinator.next_deadline) if at is not None]
        return max(min(due, default=now + 200) - self.clock.now(), 0) / 1_000

    def _request_savepoints(self, now: int) -> None:
        """If all tasks run, request the savepoints of users. A stop ends the schedule of checkpoints."""
        if not self.all_running:
            return
        while (event := self._savepoints.due(now)) is not None:
            self._advance()
            if self._savepoints.stopping:
                self._periodic.stop()
                self._final.cancel()
            self._act(event)

    def _advance(self) -> None:
        """Advance the virtual time of the core's coordinator to the time of the clock."""
        passed = self.clock.now() - self._coordinator.now
        if passed > 0:
            self._act(Advance(passed))

    # ------------------------------------------------------------ events and effects

    def _act(self, event: events.CoordinatorEvent) -> None:
        for effect in self._recorded.handle(event):
            self._carry_out(effect)
        if self._failure is not None:
            raise AttemptFailedError(self._failure)

    def _restore(self) -> int | None:
        """Restore the core's coordinator, and return the checkpoint of its effect `Restored`."""
        effects: events.CoordinatorEffects = self._recorded.handle(events.RestoreJob())
        (restored,) = (effect for effect in effects if isinstance(effect, events.Restored))
        for effect in effects:
            if effect is not restored:
                self._carry_out(effect)
        return restored.checkpoint

    def _carry_out(self, effect: events.CoordinatorEffect) -> None:  # noqa: C901 - an arm for each effect
        match effect:
            case events.TriggerTask(task, checkpoint, kind):
                self._trigger(task, checkpoint, kind.of_checkpoint)
            case events.Rejected(CheckpointType.CHECKPOINT, reason):
                self._requests.refused(reason)
            case events.Rejected(kind, reason):
                self._savepoints.rejected(kind, reason)
            case events.Complete(checkpoint):
                self._completed(checkpoint)
            case Abort(checkpoint, reason):
                self._aborted(checkpoint, reason)
            case events.FailJob(reason):
                self._failure = self._failure or self._history.too_many_failures(reason)
            case events.DiscardCheckpoint(checkpoint):
                discard(self._storage, checkpoint)
                self.tracker.discarded(checkpoint)
            case events.DiscardState(state):
                self._publisher.discard_state(_handle(state))
            case events.NotifyTaskComplete(task, checkpoint):
                self._send(task, CheckpointCompleted(checkpoint))
                self._end_if_final(task, checkpoint)
            case events.NotifyTaskAbort(task, checkpoint):
                completed = self._coordinator.completed
                self._send(task, CheckpointAborted(checkpoint, completed[-1] if completed else -1))
            case events.Acknowledged():
                pass  # nothing to do: the last acknowledgement also has the effect `Complete`
            case events.NotifyTaskSubsumed():
                pass  # tasks keep nothing of completed checkpoints; `DiscardCheckpoint` deletes the files
            case Fail(error):
                raise AttemptFailedError(f"the checkpoint coordinator refused an event: {error}")
            case (
                events.Restored()
                | events.CheckpointOperatorCoordinator()
                | events.TriggerHook()
                | events.NotifyCoordinator()
            ):
                # only `RestoreJob` has the effect `Restored`; no job here has operator coordinators or hooks
                raise UnknownEffectError.of("checkpoint coordinator", effect)
            case _:
                assert_never(effect)

    def _trigger(self, task: str, checkpoint: int, kind: CheckpointType) -> None:
        if self._history.triggered(checkpoint, self._attempt, kind):
            if self._storage.reserve(checkpoint + 1):
                self._reserved = checkpoint + 1
            self._storage.require_newest(f"triggering checkpoint {checkpoint}", self._attempt)
            if kind is CheckpointType.CHECKPOINT:
                self._requests.triggered(checkpoint)
        options = self._savepoints.options(checkpoint, kind)
        self._send(task, StartCheckpoint(checkpoint, self.clock.passed_ms(), options))

    def _completed(self, checkpoint: int) -> None:
        is_savepoint = self._savepoints.has(checkpoint)
        self._history.completed(checkpoint, self._attempt, is_savepoint=is_savepoint)
        self._periodic.completed(self.clock.now())
        if is_savepoint:
            self._savepoints.complete(checkpoint)
            return
        self._requests.completed(checkpoint)
        self._publisher.clear([one for one, _ in self.aborted[-_CLEARED_AGAIN:] if one < checkpoint])

    def _aborted(self, checkpoint: int, reason: str) -> None:
        self._history.abort(checkpoint, reason)
        if self._savepoints.has(checkpoint):
            stop = self._savepoints.is_stop(checkpoint)
            self._savepoints.aborted(checkpoint, reason)
            if stop:  # the sources have stopped for this savepoint
                self._failure = f"savepoint {checkpoint} was to stop the job and was aborted with {reason}"
            return
        self._requests.aborted(checkpoint, reason)
        self._final.aborted(checkpoint)

    def _end_if_final(self, task: str, checkpoint: int) -> None:
        final = self._final.covers(checkpoint) or self._savepoints.is_stop(checkpoint)
        if final and task in self._context.plan.of_role(Role.SOURCE):
            self._send(task, FinishTask())

    # ------------------------------------------------------------ taking over

    def _use(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._recorded: Recorded[events.CoordinatorEvent, events.CoordinatorEffect] = Recorded(
            "coordinator", coordinator, self._context.log
        )

    def _reserved_id(self) -> int:
        """The id of the next checkpoint, which no other driver uses (COORD-02)."""
        first = self._coordinator.next_id
        if self._reserved == first and self._storage.next_checkpoint_id() <= first + 1:
            self._storage.reserve(first)  # a sweep may have removed the folder
            return first
        first = max(first, self._storage.next_checkpoint_id())
        while not self._storage.reserve(first):
            first = max(first + 1, self._storage.next_checkpoint_id())
        self._reserved = first
        return first

    def _take_over(self, completed: tuple[int, ...], first: int) -> None:
        """Replace the core's coordinator by one that knows `completed` and continues with id `first`."""
        self._use(Coordinator(options_of(self._context), first_id=first, completed=completed))
        kept = self._coordinator.completed
        self._context.line(kind="coordinator_started", first_id=first, completed=list(kept))
        for checkpoint in completed:
            if checkpoint not in kept:
                discard(self._storage, checkpoint)  # the new coordinator does not delete its files


def _drop(task: str, command: Command) -> None:
    """Ignore a command. Used between attempts, when there is no task."""


def _handle(state: object) -> StateHandle:
    assert isinstance(state, StateHandle)  # the core's coordinator does not know the type
    return state
