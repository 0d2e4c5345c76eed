"""The snapshots of one subtask. This module carries out the effects of the core's snapshot steps.

The *snapshot steps* are the protocol component `impl.core.subtask`.

The subtask's thread copies the operator's state between two frames (ONCE-01). Another thread writes the copy
while the subtask continues.
"""

from collections.abc import Callable, Mapping
from typing import assert_never

from impl.core.component import NO_CHECKPOINT
from impl.core.effects import Effect, Fail
from impl.core.subtask import events
from impl.core.subtask.subtask import Subtask
from impl.eventlog import Recorded
from impl.spark.channels.frames import Kind
from impl.spark.channels.messages import Acknowledged, Declined
from impl.spark.errors import GateFailedError
from impl.spark.snapshots.overtaking_snapshots import OvertakingSnapshots
from impl.spark.snapshots.writer import SnapshotWriter
from impl.spark.worker.context import TaskContext
from impl.spark.worker.listeners import Listeners
from impl.spark.worker.operators import Operator
from impl.state import StateHandle


class Snapshots:
    """The snapshots of one subtask. Used by the subtask's thread.

    `received`: a function that returns the number of records read in this attempt, by upstream subtask.
    """

    def __init__(
        self,
        context: TaskContext,
        operator: Operator,
        writer: SnapshotWriter,
        overtaking: OvertakingSnapshots | None,
        received: Callable[[], Mapping[str, int]],
    ) -> None:
        self._context = context
        self._operator = operator
        self._listeners = Listeners(operator.listeners)
        self._writer = writer
        self._overtaking = overtaking
        self._received = received
        restored = NO_CHECKPOINT if context.restored is None else context.restored
        self._steps = Subtask(context.max_concurrent, restored=restored)
        self._recorded_steps: Recorded[events.SubtaskEvent, events.SubtaskEffect] = Recorded(
            "subtask", self._steps, context.log
        )
        self._handles: dict[int, StateHandle] = {}
        self._first_after_end: int | None = None
        self._causes: dict[int, str] = {}
        self.data_ended = False
        """Whether the data has ended, so that no record follows."""

    @property
    def is_last(self) -> bool:
        """Whether no row follows: the data has ended, or the snapshot that stops the job was taken."""
        return self.data_ended or self._first_after_end is not None

    @property
    def nothing_is_left(self) -> bool:
        """Whether the checkpoint after the last record is complete."""
        first = self._first_after_end
        return first is not None and self._steps.completed >= first

    def step(self, event: events.SubtaskEvent) -> None:
        """Apply an event of the snapshot steps, and carry out the effects.

        Raises `GateFailedError` if the steps refuse the event.
        """
        if isinstance(event, events.TriggerCheckpoint) and not self.data_ended:
            self._context.outputs.emit(self._operator.before_barrier())
        for effect in self._recorded_steps.handle(event, self._checkpoint_fields):
            self.carry_out(effect)

    def carry_out(self, effect: events.SubtaskEffect) -> None:
        """Carry out one effect."""
        match effect:
            case events.BroadcastBarrier(checkpoint):
                self._send_barrier(checkpoint)
            case events.BroadcastCancel(checkpoint):
                self._context.outputs.broadcast(Kind.CANCEL, checkpoint)
            case events.TakeSnapshot(checkpoint):
                self._snapshot(checkpoint)
            case events.SendAcknowledge(checkpoint):
                handle = self._handles.pop(checkpoint)
                measures = self._context.stopwatch.measures(checkpoint)
                self._context.report(Acknowledged(handle, measures))
            case events.SendDecline(checkpoint, reason):
                self._context.report(Declined(checkpoint, reason, self._causes.pop(checkpoint, None)))
            case events.NotifyOperatorsComplete(checkpoint):
                self._operator.notify_complete(checkpoint)
                self._listeners.complete(checkpoint)
            case events.NotifyOperatorsAbort(checkpoint):
                self._operator.notify_abort(checkpoint)
                self._listeners.aborted(checkpoint)
            case events.CancelAsync(checkpoint):
                # a snapshot that is being written is deleted when it is durable: see `written`
                if self._overtaking is not None:
                    self._overtaking.ended(checkpoint)
            case events.NotifyOperatorsSubsumed():
                pass  # nothing to do: an operator keeps no data of a completed checkpoint
            case Fail(error):
                raise GateFailedError(f"the snapshot steps of {self._context.task} failed: {error}")
            case _:
                assert_never(effect)

    def _send_barrier(self, checkpoint: int) -> None:
        if self._overtaking is None:
            options = self._context.savepoints.packed(checkpoint)
            self._context.outputs.broadcast(Kind.BARRIER, checkpoint, options)
        else:
            self._overtaking.send(checkpoint)

    def _checkpoint_fields(self, effects: tuple[Effect, ...]) -> dict[str, object]:
        if not any(isinstance(effect, events.BroadcastBarrier) for effect in effects):
            return {}
        found: dict[str, object] = {"sent": self._context.outputs.sent()}
        if self._overtaking is not None and (received := self._received()):
            found["received"] = received
        if self._operator.offset is not None:
            found["offset"] = self._operator.offset
        return found

    # ------------------------------------------------------------ snapshots

    def _snapshot(self, checkpoint: int) -> None:
        """Run the synchronous part, and submit the asynchronous part to be written.

        If barriers overtake, it is written together with the in-flight records.
        """
        options, folder = self._context.savepoints.of(checkpoint), self._context.savepoints.folder(checkpoint)
        if options.stops if options is not None else self.data_ended and self._first_after_end is None:
            self._first_after_end = checkpoint  # the subtask may end when this checkpoint is complete
        began = self._context.stopwatch.now()
        state = self._operator.snapshot(checkpoint, folder.shared if folder else None)
        self._context.stopwatch.taken(checkpoint, began)
        offset = self._operator.offset
        if self._overtaking is None:
            self._writer.submit(checkpoint, state, offset)
        else:
            self._overtaking.submit(checkpoint, state, offset)

    def written(self, handle: StateHandle) -> None:
        """Handle a durable snapshot: acknowledge it, or delete it if it was cancelled (TASK-05)."""
        if handle.checkpoint in self._steps.running:
            self._handles[handle.checkpoint] = handle
        else:  # the checkpoint was cancelled during the writing (TASK-05)
            self._context.storage.discard(handle)
        self.step(events.AsyncDone(handle.checkpoint))

    def not_written(self, checkpoint: int, cause: str) -> None:
        """Handle a snapshot that could not be written. The decline that follows states `cause`."""
        self._causes = {checkpoint: cause}
        self.step(events.AsyncFailed(checkpoint))

    def close(self) -> None:
        """Wait for the snapshot that is being written, and write no further snapshot."""
        self._writer.close()
