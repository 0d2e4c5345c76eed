"""One running subtask: a single thread that takes mail and frames, asks the core, and does what it says.

The gate and the snapshot steps are the core's (`impl.core`); this room is their hands. Everything a
subtask does to its state happens in the one thread of `run`, so a snapshot's synchronous part falls
between two frames and never into one: state is a function of what stood before the barrier (ONCE-01).
Only the writing of the snapshot happens beside it.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from impl.config import ALTERNATING, UNALIGNED
from impl.core import COMPONENTS, Component
from impl.eventlog import EventLog, Recorded, Wire
from impl.faults import (
    ALIGNMENT_IN_PROGRESS,
    NOTIFICATION_HANDLED,
    NOTIFICATION_RECEIVED,
)
from impl.metrics import Stopwatch
from impl.spark.channels.frames import Kind, order_in, unpack_id, unpack_rows
from impl.spark.channels.inbox import Frame, Inbox, Mail
from impl.spark.channels.outputs import Outputs
from impl.spark.channels.unaligned import OvertakingInbox, OvertakingOutputs
from impl.spark.errors import (
    ConnectionLostError,
    FrameError,
    GateFailedError,
    InjectedFaultError,
    UnknownEffectError,
)
from impl.spark.faults.worker import Striker
from impl.spark.savepoints.barrier_options import Orders, SavepointOrder
from impl.spark.snapshots.snapshots import Snapshots
from impl.spark.snapshots.unaligned import OvertakingSnapshots
from impl.spark.snapshots.writer import SnapshotWriter
from impl.spark.worker.operators import Operator
from impl.spark.worker.sources import SourceOperator
from impl.state import CheckpointStorage

Say = Callable[[dict[str, Any]], None]


class RunningSubtask:
    """The loop of one subtask.

    `upstream`: the ids behind the gate's channels, none for a source; `inputs`: for each of them the
    operator's input that its rows are for, None: the only one.
    """

    def __init__(
        self,
        task: str,
        attempt: int,
        upstream: tuple[str, ...],
        operator: Operator | SourceOperator,
        inbox: Inbox,
        outputs: Outputs,
        storage: CheckpointStorage,
        say: Say,
        striker: Striker,
        log: EventLog | None,
        max_concurrent: int,
        mode: str,
        patience_ms: int = 0,
        epoch: int = 0,
        inputs: Sequence[int] | None = None,
    ) -> None:
        self._task = task
        self._upstream = upstream
        self._operator = operator
        self._inbox = inbox
        self._outputs = outputs
        self._process = tuple(operator.inputs[number] for number in inputs or (0,) * len(upstream))
        self._say = say
        self._striker = striker
        self._passing = striker.passing
        self._log = log
        if upstream:
            self._component = _gate(len(upstream), mode, patience_ms)
        self._gate = Recorded("gate", self._component, log) if upstream else None
        self._orders = Orders()
        stopwatch = self._stopwatch = Stopwatch()
        writer = SnapshotWriter(task, attempt, storage, inbox.post, striker, stopwatch, self._orders)
        self._overtaking: OvertakingSnapshots | None = None
        if isinstance(inbox, OvertakingInbox) and isinstance(outputs, OvertakingOutputs):
            self._overtaking = OvertakingSnapshots(
                mode, patience_ms, epoch, upstream, inbox, outputs, writer.submit, log, self._orders
            )
        self._snapshots = Snapshots(
            operator,
            outputs,
            writer,
            self._overtaking,
            self._orders,
            striker,
            stopwatch,
            say,
            log,
            max_concurrent,
            self._read_so_far,
        )
        self._step = self._snapshots.step
        self._received = [0] * len(upstream)
        self._blocked: set[int] = set()
        self._at_end: set[int] = set()
        self._closed = 0
        self._finishing = False
        self.records = 0

    def run(self) -> None:
        """Run until the input has ended and the last checkpoint is committed.

        Raises `InboxClosedError` when the attempt has ended, and whatever makes this subtask fail.
        """
        try:
            while not self._finished():
                room = self._outputs.has_room
                wait = self._idle_seconds() if room else None
                if self._overtaking is not None:
                    wait = self._overtaking.wait(wait)
                    self._time_out(self._overtaking)
                taken = self._inbox.take(self._blocked, 0, urgent_only=not room)
                if taken is None and wait != 0:
                    self._outputs.flush()
                    taken = self._inbox.take(self._blocked, wait, urgent_only=not room)
                if isinstance(taken, dict):
                    self._read(taken)
                elif taken is not None:
                    self._frame(*taken)
                elif isinstance(self._operator, SourceOperator) and room and not self._snapshots.data_ended:
                    self._produce(self._operator)
            self._outputs.drain()
        finally:
            self._snapshots.close()
            self._operator.close()

    def _finished(self) -> bool:
        """The partition has ended, and the operator knows the checkpoint after its last record complete."""
        return self._finishing and self._snapshots.nothing_is_left

    # ------------------------------------------------------------ what a source does by itself

    def _idle_seconds(self) -> float | None:
        """How long there is nothing to do but to wait for others; None: for as long as it takes."""
        if not isinstance(self._operator, SourceOperator) or self._snapshots.data_ended:
            return None
        return self._operator.pause(time.monotonic())

    def _produce(self, source: SourceOperator) -> None:
        rows = source.read()
        if rows is None:
            self._end_of_data()
            return
        self.records += len(rows)
        self._outputs.emit(rows)

    # ------------------------------------------------------------ frames

    def _frame(self, channel: int, frame: Frame) -> None:
        kind, payload = frame
        if kind is Kind.RECORDS:
            rows = unpack_rows(payload)
            self._received[channel] += len(rows)
            self.records += len(rows)
            self._outputs.emit(self._process[channel](rows))
        elif kind in (Kind.BARRIER, Kind.ANNOUNCEMENT):
            self._barrier(kind, self._barrier_event(kind, channel, payload), channel)
        elif kind is Kind.CANCEL:
            self._at_gate({"kind": "cancel", "channel": channel, "checkpoint": unpack_id(payload)})
        elif kind is Kind.END_OF_DATA:
            self._at_end.add(channel)
            if len(self._at_end) == len(self._upstream):
                self._end_of_data()
        elif kind is Kind.END_OF_PARTITION:
            self._at_gate({"kind": "end_of_partition", "channel": channel})
            self._closed += 1
            if self._closed == len(self._upstream):
                self._end_partition()
        else:
            raise FrameError(f"expected data or barriers from {self._upstream[channel]}, {kind.name} came")

    def _barrier(self, kind: Kind, event: Wire, channel: int) -> None:
        checkpoint = event["checkpoint"] if kind is Kind.BARRIER else None
        if isinstance(checkpoint, int):
            self._stopwatch.barrier(checkpoint)
        with self._striker.barrier(checkpoint, len(self._upstream)):  # type: ignore[arg-type]
            effects = self._at_gate(event)
        if self._awaits_others(channel, [effect["kind"] for effect in effects]):
            self._passing(ALIGNMENT_IN_PROGRESS)

    def _barrier_event(self, kind: Kind, channel: int, payload: bytes) -> Wire:
        if self._overtaking is not None:
            return self._overtaking.event(kind, channel, payload)
        self._orders.hear(unpack_id(payload), SavepointOrder.unpack(order_in(payload)))
        return {"kind": "barrier", "channel": channel, "checkpoint": unpack_id(payload)}

    def _time_out(self, overtaking: OvertakingSnapshots) -> None:
        """What still waits in the outputs overtakes, and the gate's timer fires, if the time is out.

        Between two frames only: the gate may ask for a barrier that was announced and is still unread.
        """
        if overtaking.time_out() and self._gate is not None:
            passed = overtaking.advance()
            if passed is not None:
                self._at_gate(passed)

    def _awaits_others(self, channel: int, said: list[object]) -> bool:
        """A barrier has come and its checkpoint waits for those of other channels."""
        if "start_persisting" in said:
            return "stop_persisting" not in said
        return channel in self._blocked and "trigger" not in said

    def _end_of_data(self) -> None:
        """No record follows: the operator finishes, and the next checkpoint holds all it has done."""
        self._snapshots.data_ended = True
        self._outputs.emit(self._operator.before_barrier())
        self._outputs.emit(self._operator.finish())
        self._outputs.broadcast(Kind.END_OF_DATA)
        self._say({"say": "end_of_data"})

    def _stop_if_asked(self, checkpoint: int) -> None:
        """A source is triggered: behind the savepoint that stops the job it sends no record."""
        order = self._orders.of(checkpoint)
        if order is None or not order.stops or self._snapshots.data_ended:
            return
        if order.drains:
            self._end_of_data()
        self._snapshots.data_ended = True

    def _end_partition(self) -> None:
        self._outputs.broadcast(Kind.END_OF_PARTITION)
        self._finishing = True

    # ------------------------------------------------------------ mail

    def _read(self, mail: Mail) -> None:
        match mail:
            case {"do": "left", "checkpoint": int(checkpoint), "peer": str(peer)}:
                assert self._overtaking is not None
                self._overtaking.left(checkpoint, peer)
            case {"do": "trigger", "checkpoint": int(checkpoint), "timestamp": int(timestamp)}:
                self._orders.hear(checkpoint, SavepointOrder.of(mail.get("savepoint")))
                if self._overtaking is not None:
                    self._overtaking.injected(checkpoint, timestamp)
                self._stop_if_asked(checkpoint)
                self._step({"kind": "checkpoint", "checkpoint": checkpoint})
            case {"do": "complete", "checkpoint": int(checkpoint)}:
                self._passing(NOTIFICATION_RECEIVED)
                self._step({"kind": "complete_notification", "checkpoint": checkpoint})
                self._passing(NOTIFICATION_HANDLED)
            case {"do": "abort", "checkpoint": int(checkpoint), "completed": int(completed)}:
                if self._overtaking is not None:
                    self._overtaking.ended(checkpoint)
                event: Wire = {"kind": "abort_notification", "checkpoint": checkpoint, "completed": completed}
                self._step(event)
            case {"do": "written", "checkpoint": int(checkpoint), "handle": handle}:
                self._snapshots.written(checkpoint, handle)
            case {"do": "not_written", "checkpoint": int(checkpoint), "why": why}:
                self._snapshots.not_written(checkpoint, why)
            case {"do": "finish"}:
                self._end_partition()
            case {"do": "strike", "point": point}:
                raise InjectedFaultError(f"a fault of the plan struck {self._task} at {point}")
            case {"do": "channel_lost", "peer": peer, "why": why}:
                raise ConnectionLostError(f"the channel from {peer} broke: {why}")
            case _:
                raise ValueError(f"expected mail that the driver sends to subtasks, came {mail!r}")

    # ------------------------------------------------------------ the core's effects

    def _at_gate(self, event: Wire) -> list[Wire]:
        assert self._gate is not None
        effects = self._gate.apply(event, self._barrier_extras(event))
        for effect in effects:
            match effect:
                case {"kind": "block", "channel": int(channel)}:
                    self._blocked.add(channel)
                case {"kind": "resume", "channel": int(channel)}:
                    self._blocked.discard(channel)
                case {"kind": "trigger", "checkpoint": int(checkpoint)}:
                    self._step(self._of_trigger(checkpoint, overtakes="unaligned" in effect))
                case {"kind": "start_persisting" | "stop_persisting" | "prioritise"}:
                    self._of_flight(effect)
                case {"kind": "abort", "checkpoint": checkpoint, "reason": reason}:
                    self._step({"kind": "abort_on_barrier", "checkpoint": checkpoint, "reason": reason})
                case {"kind": "fail", "error": str(error)}:
                    raise GateFailedError(f"the gate of {self._task} refused {event['kind']}: {error}")
                case _:
                    raise UnknownEffectError.of("gate", effect)
        return effects

    def _barrier_extras(self, event: Wire) -> Callable[[list[Wire]], dict[str, object]] | None:
        if event["kind"] != "barrier":
            return None
        channel = event["channel"]
        assert isinstance(channel, int)
        return lambda effects: {"records": self._received[channel]}

    def _read_so_far(self) -> dict[str, int]:
        """Records read in this attempt, by who sent them."""
        return dict(zip(self._upstream, self._received, strict=True))

    def _of_trigger(self, checkpoint: int, *, overtakes: bool) -> Wire:
        if self._overtaking is not None:
            return self._overtaking.triggered(checkpoint, overtakes=overtakes)
        return {"kind": "checkpoint", "checkpoint": checkpoint}

    def _of_flight(self, effect: Wire) -> None:
        """What the gate says of records in flight."""
        if self._overtaking is None:
            raise UnknownEffectError.of("gate of a job whose barriers do not overtake", effect)
        match effect:
            case {"kind": "start_persisting", "checkpoint": int(checkpoint)}:
                self._overtaking.start(checkpoint)
            case {"kind": "stop_persisting", "checkpoint": int(checkpoint)}:
                self._overtaking.stop(checkpoint)
            case {"kind": "prioritise", "channel": int(channel)}:
                self._overtaking.prioritise(channel, self._component.observe()["current"])
            case _:
                raise UnknownEffectError.of("gate", effect)


def gate_of(mode: str) -> str:
    """The mode of the gate itself: also where barriers overtake at once, those of savepoints align."""
    return ALTERNATING if mode == UNALIGNED else mode


def _gate(channels: int, mode: str, patience_ms: int) -> Component:
    """The gate of a task: the handler alone, because the inbox holds blocked channels back."""
    config: dict[str, object] = {"channels": channels, "mode": gate_of(mode), "level": "handler"}
    if patience_ms:
        config["alignment_timeout_ms"] = patience_ms
    return COMPONENTS["gate"](config)
