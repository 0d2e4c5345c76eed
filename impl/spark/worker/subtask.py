"""One running subtask: a single thread that reads mail and frames, and carries out the core's effects.

The core (`impl.core`) has the gate and the snapshot steps. Only the thread of `run` changes the state of the
subtask, so the synchronous part of a snapshot happens between two frames. The copied state therefore depends
only on the records before the barrier (ONCE-01). Another thread writes the snapshot.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, TypeVar, assert_never

from impl.config import ALTERNATING, AT_LEAST_ONCE, MODES, UNALIGNED
from impl.core.effects import Fail
from impl.core.events import Event
from impl.core.gate.aligned import AlignedGate
from impl.core.gate.alternating import AlternatingGate
from impl.core.gate.events import Abort, Barrier, Block, Cancel, EndOfPartition, Process, Resume, Trigger
from impl.core.gate.tracking import BarrierTracker
from impl.core.gate.unaligned_events import (
    GateEffect,
    GateEffects,
    PersistRecord,
    Prioritise,
    StartPersisting,
    StopPersisting,
    TriggerWithOptions,
    UnalignedEvent,
)
from impl.core.subtask.events import (
    AbortNotification,
    AbortOnBarrier,
    CompleteNotification,
    TriggerCheckpoint,
)
from impl.eventlog import Fields, Recorded
from impl.metrics import TaskLoad, WaitingTime
from impl.spark.channels.frames import Kind, options_in, unpack_id, unpack_rows
from impl.spark.channels.inbox import Frame
from impl.spark.channels.messages import (
    BarrierLeft,
    CheckpointAborted,
    CheckpointCompleted,
    DataEnded,
    FinishTask,
    Mail,
    SnapshotFailed,
    SnapshotWritten,
    StartCheckpoint,
    TaskFailed,
)
from impl.spark.channels.overtaking_channels import OvertakingInbox, OvertakingOutputs
from impl.spark.errors import FrameError, GateFailedError, UnknownEffectError
from impl.spark.savepoints.savepoint_options import SavepointOptions
from impl.spark.snapshots.overtaking_snapshots import OvertakingSnapshots
from impl.spark.snapshots.snapshots import Snapshots
from impl.spark.snapshots.writer import SnapshotWriter
from impl.spark.worker.context import TaskContext
from impl.spark.worker.operators import Operator, Timers
from impl.spark.worker.sources import SourceOperator

InOrderEvent: TypeAlias = Barrier | Cancel | EndOfPartition
"""The events of a gate whose barriers do not overtake."""
EventT = TypeVar("EventT", bound=Event)
_TIMERS_AT_ONCE: Final = 1_000
"""The maximum number of timers that fire before the next frame or mail is read."""


class RunningSubtask:
    """The loop of one subtask.

    `inputs`: for each channel of the gate, the number of the operator's input that gets its rows.
    `snapshots`: the class that carries out the snapshot steps.
    """

    def __init__(
        self,
        context: TaskContext,
        operator: Operator,
        inputs: Sequence[int],
        snapshots: Callable[..., Snapshots] = Snapshots,
    ) -> None:
        self._context = context
        self._operator = operator
        self._timers = operator.timers
        self._inbox = context.inbox
        self._outputs = context.outputs
        self._process = tuple(operator.inputs[number] for number in inputs)
        writer = SnapshotWriter(context.task, context.storage, context.inbox.post, context.stopwatch)
        self._overtaking: OvertakingSnapshots | None = None
        if isinstance(context.inbox, OvertakingInbox) and isinstance(context.outputs, OvertakingOutputs):
            self._overtaking = OvertakingSnapshots(context, context.inbox, context.outputs, writer.submit)
        self._snapshots = snapshots(context, operator, writer, self._overtaking, self._read_so_far)
        channels = len(context.upstream)
        self._gate: Recorded[Cancel | EndOfPartition, GateEffect] | None = None
        if channels and self._overtaking is None:
            in_order = (BarrierTracker if context.mode == MODES[AT_LEAST_ONCE] else AlignedGate)(channels)
            self._in_order: Recorded[InOrderEvent, GateEffect] = Recorded("gate", in_order, context.log)
            self._gate = self._in_order
        elif channels:
            self._alternating = AlternatingGate(channels, timeout_ms=context.alignment_timeout_ms)
            self._reordered: Recorded[UnalignedEvent, GateEffect] = Recorded(
                "gate", self._alternating, context.log
            )
            self._gate = self._reordered
        self._received = [0] * channels
        self._blocked: set[int] = set()
        self._at_end: set[int] = set()
        self._closed = 0
        self._finishing = False
        self._begun = time.monotonic()
        self._idle = WaitingTime()
        self.records = 0

    def run(self) -> None:
        """Run until the input has ended and the last checkpoint is complete.

        Raises `InboxClosedError` when the attempt has ended, and the error that makes this subtask fail.
        """
        try:
            while not self._finished():
                if self._timers is not None:
                    self.fire_timers(self._timers)
                available = self._outputs.is_available
                wait = self._idle_seconds() if available else None
                if self._overtaking is not None:
                    wait = self._overtaking.wait(wait)
                    self._time_out(self._overtaking)
                taken = self._inbox.take(self._blocked, 0, urgent_only=not available)
                if taken is None and wait != 0:
                    self._outputs.flush()
                    with self._idle if available else self._outputs.backpressured:
                        taken = self._inbox.take(self._blocked, wait, urgent_only=not available)
                if isinstance(taken, tuple):
                    self.read_frame(*taken)
                elif taken is not None:
                    self.read_mail(taken)
                elif (
                    isinstance(self._operator, SourceOperator)
                    and available
                    and not self._snapshots.data_ended
                ):
                    self._produce(self._operator)
            self._outputs.drain()
        finally:
            self._snapshots.close()
            self._operator.close()

    @property
    def load(self) -> TaskLoad:
        """The emitted rows and the times of this subtask until now. Any thread may read this."""
        running = round((time.monotonic() - self._begun) * 1_000, 1)
        return TaskLoad(self._outputs.emitted, running, self._idle.ms, self._outputs.backpressured.ms)

    def _finished(self) -> bool:
        """Whether the partition has ended, and the checkpoint after the last record is complete."""
        return self._finishing and self._snapshots.nothing_is_left

    # ------------------------------------------------------------ a source, or timers

    def _idle_seconds(self) -> float | None:
        """The seconds for which the subtask may wait for mail and frames; None: without limit."""
        if isinstance(self._operator, SourceOperator):
            return None if self._snapshots.data_ended else self._operator.pause(time.monotonic())
        if self._timers is None or self._snapshots.is_last:
            return None
        return self._timers.wait()

    def fire_timers(self, timers: Timers) -> None:
        """Fire due timers if the outputs can accept rows. No timer fires after the last row."""
        if self._outputs.is_available and not self._snapshots.is_last:
            rows = timers.fire(_TIMERS_AT_ONCE)
            if rows:
                self._outputs.emit(rows)

    def _produce(self, source: SourceOperator) -> None:
        rows = source.read()
        if rows is None:
            self._end_data()
            return
        self.records += len(rows)
        self._outputs.emit(rows)

    # ------------------------------------------------------------ frames

    def read_frame(self, channel: int, frame: Frame) -> None:
        """Handle one frame. Raises `FrameError` for a kind of frame that is not allowed in a channel."""
        kind, payload = frame
        if kind is Kind.RECORDS:
            rows = unpack_rows(payload)
            self._received[channel] += len(rows)
            self.records += len(rows)
            self._outputs.emit(self._process[channel](rows))
        elif kind is Kind.BARRIER:
            self._context.stopwatch.barrier(unpack_id(payload))
            if self._overtaking is None:
                checkpoint = unpack_id(payload)
                self._context.savepoints.add(checkpoint, SavepointOptions.unpack(options_in(payload)))
                barrier = Barrier(channel, checkpoint)
                self._at_gate(self._in_order, barrier, lambda effects: self._barrier_fields(channel))
            else:
                event = self._overtaking.event(kind, channel, payload)
                self._at_gate(self._reordered, event, lambda effects: self._barrier_fields(channel))
        elif kind is Kind.ANNOUNCEMENT and self._overtaking is not None:
            self._at_gate(self._reordered, self._overtaking.event(kind, channel, payload))
        elif kind is Kind.CANCEL:
            self._at_gate(self._gate, Cancel(channel, unpack_id(payload)))
        elif kind is Kind.END_OF_DATA:
            self._at_end.add(channel)
            if len(self._at_end) == len(self._received):
                self._end_data()
        elif kind is Kind.END_OF_PARTITION:
            self._at_gate(self._gate, EndOfPartition(channel))
            self._closed += 1
            if self._closed == len(self._received):
                self._end_partition()
        else:
            peer = self._context.upstream[channel]
            raise FrameError(f"expected records or barriers from {peer}, got {kind.name}; this is a defect")

    def _barrier_fields(self, channel: int) -> dict[str, object]:
        return {"records": self._received[channel]}

    def _read_so_far(self) -> dict[str, int]:
        """The number of records read in this attempt, by upstream subtask."""
        return dict(zip(self._context.upstream, self._received, strict=True))

    def _time_out(self, overtaking: OvertakingSnapshots) -> None:
        """Let barriers overtake whose alignment has timed out, in the outputs and at the gate.

        It must be called between two frames, because the gate may prioritise a barrier that was announced and
        not read.
        """
        if overtaking.time_out() and self._gate is not None:
            passed = overtaking.advance()
            if passed is not None:
                self._at_gate(self._reordered, passed)

    def _end_data(self) -> None:
        """End the data: the operator finishes. The next checkpoint contains all its effects."""
        self._snapshots.data_ended = True
        self._outputs.emit(self._operator.finish())
        self._outputs.broadcast(Kind.END_OF_DATA)
        self._context.report(DataEnded())

    def _stop_if_requested(self, checkpoint: int) -> None:
        """If the triggered savepoint stops the job, let the source send no further record."""
        options = self._context.savepoints.of(checkpoint)
        if options is None or not options.stops or self._snapshots.data_ended:
            return
        if options.drains:
            self._end_data()
        self._snapshots.data_ended = True

    def _end_partition(self) -> None:
        self._outputs.broadcast(Kind.END_OF_PARTITION)
        self._finishing = True

    # ------------------------------------------------------------ mail

    def read_mail(self, mail: Mail) -> None:
        """Handle one piece of mail. Raises the error of a `TaskFailed`."""
        match mail:
            case StartCheckpoint(checkpoint, timestamp, savepoint):
                self._context.savepoints.add(checkpoint, savepoint)
                if self._overtaking is not None:
                    self._overtaking.triggered_by_driver(checkpoint, timestamp)
                self._stop_if_requested(checkpoint)
                self._snapshots.step(TriggerCheckpoint(checkpoint))
            case CheckpointCompleted(checkpoint):
                self._snapshots.step(CompleteNotification(checkpoint))
            case CheckpointAborted(checkpoint, completed):
                if self._overtaking is not None:
                    self._overtaking.ended(checkpoint)
                self._snapshots.step(AbortNotification(checkpoint, completed))
            case SnapshotWritten(handle):
                self._snapshots.written(handle)
            case SnapshotFailed(checkpoint, cause):
                self._snapshots.not_written(checkpoint, cause)
            case BarrierLeft(checkpoint, peer):
                assert self._overtaking is not None
                self._overtaking.left(checkpoint, peer)
            case FinishTask():
                self._end_partition()
            case TaskFailed(error):
                raise error
            case _:
                assert_never(mail)

    # ------------------------------------------------------------ the gate's effects

    def _at_gate(
        self, gate: Recorded[EventT, GateEffect] | None, event: EventT, fields: Fields | None = None
    ) -> None:
        assert gate is not None
        effects: GateEffects = gate.handle(event, fields)
        for effect in effects:
            self.carry_out(effect)

    def carry_out(self, effect: GateEffect) -> None:
        """Carry out one effect of the gate.

        Raises `GateFailedError` if the gate refused the event, `UnknownEffectError` for an effect that no
        gate of this mode has.
        """
        match effect:
            case Block(channel):
                self._blocked.add(channel)
            case Resume(channel):
                self._blocked.discard(channel)
            case Trigger(checkpoint):
                self._snapshots.step(TriggerCheckpoint(checkpoint))
            case TriggerWithOptions(checkpoint, unaligned):
                triggered = self._of_overtaking(effect).triggered(checkpoint, overtakes=unaligned)
                self._snapshots.step(triggered)
            case StartPersisting(checkpoint):
                self._of_overtaking(effect).start(checkpoint)
            case StopPersisting(checkpoint):
                self._of_overtaking(effect).stop(checkpoint)
            case Prioritise(channel):
                self._of_overtaking(effect).prioritise(channel, self._alternating.observe()["current"])
            case Abort(checkpoint, reason):
                self._snapshots.step(AbortOnBarrier(checkpoint, reason))
            case Fail(error):
                raise GateFailedError(f"the gate of {self._context.task} failed: {error}")
            case Process() | PersistRecord():  # only polled gates have these effects
                raise UnknownEffectError.of("gate", effect)
            case _:
                assert_never(effect)

    def _of_overtaking(self, effect: GateEffect) -> OvertakingSnapshots:
        if self._overtaking is None:
            raise UnknownEffectError.of("gate of a job whose barriers do not overtake", effect)
        return self._overtaking


def gate_mode(mode: str) -> str:
    """The mode of the gate in a job of `mode`. For unaligned it is alternating, because savepoints align."""
    return ALTERNATING if mode == UNALIGNED else mode
