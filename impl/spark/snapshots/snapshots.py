"""The snapshots of one subtask: what the core's snapshot steps say, carried out.

The operator's state is taken here and now, between two frames (ONCE-01), and written beside the processing;
what the steps say to the coordinator is said, and what they say to the operator is done.
"""

from collections.abc import Callable, Mapping
from typing import Any

from impl.core import Subtask as SnapshotSteps
from impl.eventlog import EventLog, Recorded, Wire
from impl.faults import (
    ACKNOWLEDGEMENT_DUE,
    ACKNOWLEDGEMENT_SENT,
    BARRIER_DUE,
    BARRIER_SENT,
    SNAPSHOT_WRITTEN,
)
from impl.metrics import Stopwatch
from impl.spark.channels.frames import Kind
from impl.spark.channels.outputs import Outputs
from impl.spark.errors import GateFailedError, UnknownEffectError
from impl.spark.faults.worker import Striker
from impl.spark.savepoints.barrier_options import Orders
from impl.spark.snapshots.unaligned import OvertakingSnapshots
from impl.spark.snapshots.writer import SnapshotWriter
from impl.spark.worker.operators import Operator
from impl.spark.worker.sources import SourceOperator
from impl.state import StateHandle


class Snapshots:
    """Used by the subtask's one thread. `received`: records read in this attempt, by who sent them."""

    def __init__(
        self,
        operator: Operator | SourceOperator,
        outputs: Outputs,
        writer: SnapshotWriter,
        overtaking: OvertakingSnapshots | None,
        orders: Orders,
        striker: Striker,
        stopwatch: Stopwatch,
        say: Callable[[dict[str, Any]], None],
        log: EventLog | None,
        max_concurrent: int,
        received: Callable[[], Mapping[str, int]],
    ) -> None:
        self._operator = operator
        self._outputs = outputs
        self._writer = writer
        self._overtaking = overtaking
        self._orders = orders
        self._striker = striker
        self._stopwatch = stopwatch
        self._say = say
        self._received = received
        self._steps = SnapshotSteps(max_concurrent)
        self._recorded_steps = Recorded("subtask", self._steps, log)
        self._first_after_end: int | None = None
        self._why: dict[int, str] = {}
        self.data_ended = False
        """No record follows."""

    @property
    def nothing_is_left(self) -> bool:
        """The operator knows the checkpoint after its last record complete."""
        first = self._first_after_end
        return first is not None and self._steps.completed >= first

    def step(self, event: Wire) -> None:
        """An event of the snapshot steps, and everything that they say to it."""
        if event["kind"] == "checkpoint" and not self.data_ended:
            self._outputs.emit(self._operator.before_barrier())
        for effect in self._recorded_steps.apply(event, self._checkpoint_extras):
            match effect:
                case {"kind": "broadcast_barrier", "checkpoint": int(checkpoint)}:
                    with self._striker.around(BARRIER_DUE, BARRIER_SENT):
                        self._send_barrier(checkpoint)
                case {"kind": "broadcast_cancel", "checkpoint": int(checkpoint)}:
                    self._outputs.broadcast(Kind.CANCEL, checkpoint)
                case {"kind": "snapshot", "checkpoint": int(checkpoint)}:
                    self._snapshot(checkpoint)
                case {"kind": "acknowledge", "checkpoint": int(checkpoint)}:
                    said = {"say": "acknowledge", "checkpoint": checkpoint}
                    said["state"] = self._writer.handle_of(checkpoint)
                    said["measures"] = self._stopwatch.told(checkpoint)
                    with self._striker.around(ACKNOWLEDGEMENT_DUE, ACKNOWLEDGEMENT_SENT):
                        self._say(said)
                case {"kind": "decline", "checkpoint": int(checkpoint), "reason": reason}:
                    why = self._why.pop(checkpoint, None)
                    self._say({"say": "decline", "checkpoint": checkpoint, "reason": reason, "why": why})
                case {"kind": "notify_complete", "checkpoint": int(checkpoint)}:
                    self._operator.notify_complete(checkpoint)
                case {"kind": "notify_abort", "checkpoint": int(checkpoint)}:
                    self._operator.notify_abort(checkpoint)
                case {"kind": "cancel_async", "checkpoint": int(checkpoint)}:
                    if self._overtaking is not None:
                        self._overtaking.ended(checkpoint)
                    # what is being written is deleted once it is there: see `written`
                case {"kind": "notify_subsumed"}:
                    pass  # an operator keeps nothing of a completed checkpoint that it would have to drop
                case {"kind": "fail", "error": str(error)}:
                    raise GateFailedError(f"the snapshot steps refused {event['kind']}: {error}")
                case _:
                    raise UnknownEffectError.of("snapshot steps", effect)

    def _send_barrier(self, checkpoint: int) -> None:
        if self._overtaking is None:
            self._outputs.broadcast(Kind.BARRIER, checkpoint, self._orders.packed(checkpoint))
        else:
            self._overtaking.send(checkpoint)

    def _checkpoint_extras(self, effects: list[Wire]) -> dict[str, object]:
        if not any(effect["kind"] == "broadcast_barrier" for effect in effects):
            return {}
        extras: dict[str, object] = {"sent": self._outputs.sent()}
        if self._overtaking is not None and (received := self._received()):
            extras["received"] = received
        if isinstance(self._operator, SourceOperator):
            extras["offset"] = self._operator.offset
        return extras

    # ------------------------------------------------------------ snapshots

    def _snapshot(self, checkpoint: int) -> None:
        """The synchronous part here and now, the rest in the writer's thread."""
        order, folder = self._orders.of(checkpoint), self._orders.folder(checkpoint)
        if order is None or order.stops:
            self._last_of_all(checkpoint, stops=order is not None)
        state = self._operator.snapshot(checkpoint, folder.shared if folder else None)
        offset = self._operator.offset if isinstance(self._operator, SourceOperator) else None
        if self._overtaking is None:
            self._writer.submit(checkpoint, state, offset)
        else:
            self._overtaking.hold(checkpoint, state, offset)

    def _last_of_all(self, checkpoint: int, *, stops: bool) -> None:
        """When this one is complete, nothing is left to commit, if no record follows it."""
        if stops or (self.data_ended and self._first_after_end is None):
            self._first_after_end = checkpoint

    def written(self, checkpoint: int, handle: StateHandle) -> None:
        """A snapshot is durable."""
        self._striker.passing(SNAPSHOT_WRITTEN)
        if checkpoint not in self._steps.running:  # cancelled meanwhile (TASK-05): nobody will use it
            self._writer.discard(handle)
        else:
            self._writer.keep(handle)
        self.step({"kind": "async_done", "checkpoint": checkpoint})

    def not_written(self, checkpoint: int, why: str) -> None:
        """A snapshot could not be written."""
        self._why = {checkpoint: why}
        self.step({"kind": "async_failed", "checkpoint": checkpoint})

    def close(self) -> None:
        """Finish what is being written, and begin nothing."""
        self._writer.close()
