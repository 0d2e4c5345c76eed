"""The snapshots of a subtask in a job whose barriers overtake, with their in-flight records.

In mode `unaligned` every barrier of a checkpoint overtakes. In mode `alternating` barriers keep their order
at first. When `alignment_timeout_ms` have passed since the trigger, the gate prioritises the announced
barriers, and barriers that still wait in the outputs overtake the records there. The barriers of savepoints
never overtake. Times are milliseconds since the attempt began, by the driver's clock.
"""

from collections.abc import Callable

from impl.config import ALTERNATING
from impl.core.events import Advance
from impl.core.gate.unaligned_events import Alignment, Announcement, BarrierWithOptions
from impl.core.subtask.events import AbortOnBarrier, TriggerCheckpoint
from impl.spark.channels.frames import Kind, unpack_barrier
from impl.spark.channels.overtaking_channels import OvertakingInbox, OvertakingOutputs
from impl.spark.savepoints.savepoint_options import SavepointOptions
from impl.spark.snapshots.in_flight import IncompleteSnapshots, rows_in
from impl.spark.worker.context import TaskContext
from impl.state import AsynchronousPart

_REMEMBERED = 16
"""The number of checkpoints whose trigger times are kept. For an older checkpoint, the trigger time is 0."""
Write = Callable[[int, AsynchronousPart, int | None], None]


class OvertakingSnapshots:
    """The snapshots of one subtask. Used by its thread. `write`: a function that stores a whole snapshot."""

    def __init__(
        self, context: TaskContext, inbox: OvertakingInbox, outputs: OvertakingOutputs, write: Write
    ) -> None:
        self._savepoints = context.savepoints
        self._first = Alignment.TIMEOUT if context.mode == ALTERNATING else Alignment.UNALIGNED
        self._timeout_ms = context.alignment_timeout_ms
        self.now = context.now
        """Returns the milliseconds since the driver began the attempt."""
        self._inbox = inbox
        self._outputs = outputs
        self._write = write
        self._log = context.log
        self._stopwatch = context.stopwatch
        self._incomplete = IncompleteSnapshots(context.upstream)
        self._persisted: set[int] = set()
        self._declined: dict[int, str] = {}
        self._alignment: dict[int, Alignment] = {}
        self._timestamp: dict[int, int] = {}
        self._due: dict[int, int] = {}
        self._gate_time = 0

    # ------------------------------------------------------------ time

    def wait(self, seconds: float | None) -> float | None:
        """The seconds to wait: `seconds`, or less if a time-out is due before."""
        if not self._due:
            return seconds
        left = max(0.0, (min(self._due.values()) - self.now()) / 1_000)
        return left if seconds is None else min(seconds, left)

    def advance(self) -> Advance | None:
        """The event that brings the gate's time up to now; None if no time has passed."""
        passed = self.now() - self._gate_time
        if passed <= 0:
            return None
        self._gate_time += passed
        return Advance(passed)

    def time_out(self) -> bool:
        """Let barriers overtake if their time-out has passed. Returns whether any time-out has passed."""
        now = self.now()
        due = [checkpoint for checkpoint, at in self._due.items() if at <= now]
        for checkpoint in due:
            del self._due[checkpoint]
            for peer, frames in self._outputs.time_out(checkpoint).items():
                if frames is not None:
                    self._stopwatch.overtakes(checkpoint)
                    self._incomplete.left(checkpoint, peer, frames)
            self._finish(checkpoint)
        return bool(due)

    # ------------------------------------------------------------ the gate

    def event(self, kind: Kind, channel: int, payload: bytes) -> BarrierWithOptions | Announcement:
        """The event of the gate for the frame of a barrier or an announcement."""
        checkpoint, alignment, timestamp, options = unpack_barrier(payload)
        savepoint = self._savepoints.add(checkpoint, SavepointOptions.unpack(options))
        self._triggered_at(checkpoint, timestamp)
        event = BarrierWithOptions if kind is Kind.BARRIER else Announcement
        return event(channel, checkpoint, Alignment(alignment), savepoint, timestamp)

    def start(self, checkpoint: int) -> None:
        """Begin to store the records before the barriers, unless restored records are unread (UNAL-36)."""
        declined = self._inbox.start(checkpoint)
        self._persisted = {checkpoint}
        self._declined = {} if declined is None else {checkpoint: declined}

    def stop(self, checkpoint: int) -> None:
        """Stop storing records, because all in-flight records of the inputs have arrived."""
        self._incomplete.received(checkpoint, self._inbox.stop(checkpoint))
        self._finish(checkpoint)

    def prioritise(self, channel: int, checkpoint: int) -> None:
        """Let the announced barrier of a channel overtake."""
        self._inbox.prioritise(channel, checkpoint)

    def triggered(self, checkpoint: int, *, overtakes: bool) -> TriggerCheckpoint | AbortOnBarrier:
        """The event of the snapshot steps when the gate triggers. It is an abort if `start` was declined."""
        reason = self._declined.pop(checkpoint, None)
        if reason is not None:
            if self._log is not None:
                self._log.line({"kind": "start_declined", "checkpoint": checkpoint, "reason": reason})
            return AbortOnBarrier(checkpoint, reason)
        self._alignment = {checkpoint: Alignment.UNALIGNED if overtakes else self._first_of(checkpoint)}
        if checkpoint not in self._persisted:  # aligned: the inputs have no in-flight records
            self._incomplete.received(checkpoint, self._inbox.stop(checkpoint))
        return TriggerCheckpoint(checkpoint)

    def triggered_by_driver(self, checkpoint: int, timestamp: int) -> None:
        """Prepare the snapshot of a source. `timestamp`: the trigger, in ms since the attempt began."""
        self._triggered_at(checkpoint, timestamp)
        self._alignment = {checkpoint: self._first_of(checkpoint)}
        self._incomplete.received(checkpoint, [])

    def _first_of(self, checkpoint: int) -> Alignment:
        """The alignment with which the barrier starts. A savepoint's barrier is always aligned."""
        return self._first if self._savepoints.of(checkpoint) is None else Alignment.ALIGNED

    def _triggered_at(self, checkpoint: int, timestamp: int) -> None:
        if checkpoint in self._timestamp:
            return
        if self._first_of(checkpoint) is Alignment.TIMEOUT:
            self._due[checkpoint] = timestamp + self._timeout_ms
        self._timestamp[checkpoint] = timestamp
        if len(self._timestamp) > _REMEMBERED:
            del self._timestamp[min(self._timestamp)]

    # ------------------------------------------------------------ the snapshot steps

    def send(self, checkpoint: int) -> None:
        """Send the barrier. It overtakes the records in the outputs at once, at its time-out, or never."""
        alignment, timestamp = self._alignment.pop(checkpoint), self._timestamp.get(checkpoint, 0)
        if alignment is Alignment.UNALIGNED:
            self._stopwatch.overtakes(checkpoint)
        overtaken = self._outputs.barrier(
            checkpoint, alignment, timestamp, self._savepoints.packed(checkpoint)
        )
        self._incomplete.sent(checkpoint, overtaken)
        if any(frames is None for frames in overtaken.values()) and checkpoint not in self._due:
            self._due[checkpoint] = self.now()  # the alignment at the gate has already timed out

    def submit(self, checkpoint: int, operator: AsynchronousPart, offset: int | None) -> None:
        """Add the operator's snapshot. It is written when all in-flight records have arrived."""
        self._incomplete.taken(checkpoint, operator, offset)
        self._finish(checkpoint)

    def left(self, checkpoint: int, peer: str) -> None:
        """Record that the barrier was sent to `peer` and has overtaken nothing."""
        self._incomplete.left(checkpoint, peer, ())
        self._finish(checkpoint)

    def ended(self, checkpoint: int) -> None:
        """Discard the snapshot of a checkpoint that has ended. Its barriers overtake nothing any more."""
        self._incomplete.give_up(checkpoint)
        self._outputs.give_up(checkpoint)
        self._due.pop(checkpoint, None)

    def _finish(self, checkpoint: int) -> None:
        whole = self._incomplete.whole(checkpoint)
        if whole is None:
            return
        self._due.pop(checkpoint, None)
        if self._log is not None:
            rows = {"stored": rows_in(whole.received), "overtaken": rows_in(whole.overtaken)}
            self._log.line({"kind": "gathered", "checkpoint": checkpoint, **rows})
        self._write(checkpoint, whole.sections, whole.offset)
