"""A subtask's snapshots where barriers overtake: what the core says is done to inbox, outputs and snapshots.

In mode `unaligned` every barrier overtakes. In mode `alternating` barriers go in order at first; when
`patience_ms` have passed since the trigger, the gate asks for those that were announced, and what still waits
in the outputs overtakes there. Time is the driver's: milliseconds since the attempt began.
"""

import time
from collections.abc import Callable

from impl.config import ALTERNATING
from impl.core.gate.unaligned_events import Alignment
from impl.eventlog import EventLog, Wire
from impl.spark.channels.frames import Kind, unpack_barrier
from impl.spark.channels.unaligned import OvertakingInbox, OvertakingOutputs
from impl.spark.savepoints.barrier_options import Orders, SavepointOrder
from impl.spark.snapshots.in_flight import Gathering, rows_in
from impl.state import AsynchronousPart

_REMEMBERED = 16
"""Checkpoints whose time is known; a barrier that comes later than that has none."""
Write = Callable[[int, AsynchronousPart, int | None], None]


class OvertakingSnapshots:
    """The hands of one subtask for everything that concerns records in flight. Used by one thread.

    `write` stores a whole snapshot; `epoch` is when the attempt began, in ms of the wall clock.
    """

    def __init__(
        self,
        mode: str,
        patience_ms: int,
        epoch: int,
        upstream: tuple[str, ...],
        inbox: OvertakingInbox,
        outputs: OvertakingOutputs,
        write: Write,
        log: EventLog | None,
        orders: Orders,
    ) -> None:
        self._orders = orders
        self._first = Alignment.TIMEOUT if mode == ALTERNATING else Alignment.UNALIGNED
        self._patience = patience_ms
        self._epoch = epoch
        self._inbox = inbox
        self._outputs = outputs
        self._write = write
        self._log = log
        self._gathering = Gathering(upstream)
        self._persisted: set[int] = set()
        self._declined: dict[int, str] = {}
        self._alignment: dict[int, Alignment] = {}
        self._timestamp: dict[int, int] = {}
        self._due: dict[int, int] = {}
        self._gate_time = 0

    # ------------------------------------------------------------ time

    def now(self) -> int:
        """Milliseconds since the attempt began."""
        return max(0, int(time.time() * 1_000) - self._epoch)

    def wait(self, seconds: float | None) -> float | None:
        """No longer than until a time-out is due."""
        if not self._due:
            return seconds
        left = max(0.0, (min(self._due.values()) - self.now()) / 1_000)
        return left if seconds is None else min(seconds, left)

    def advance(self) -> Wire | None:
        """The event that brings the gate's time up to now; None if none has passed."""
        passed = self.now() - self._gate_time
        if passed <= 0:
            return None
        self._gate_time += passed
        return {"kind": "advance", "ms": passed}

    def time_out(self) -> bool:
        """What still waits in the outputs overtakes, if its time is out; whether any was due."""
        now = self.now()
        due = [checkpoint for checkpoint, at in self._due.items() if at <= now]
        for checkpoint in due:
            del self._due[checkpoint]
            for peer, frames in self._outputs.time_out(checkpoint).items():
                if frames is not None:
                    self._gathering.left(checkpoint, peer, frames)
            self._finish(checkpoint)
        return bool(due)

    # ------------------------------------------------------------ the gate

    def event(self, kind: Kind, channel: int, payload: bytes) -> Wire:
        """A barrier, or the announcement of one, in the words of the gate."""
        checkpoint, alignment, timestamp, order = unpack_barrier(payload)
        fields: Wire = {"alignment": alignment, "timestamp": timestamp}
        if self._orders.hear(checkpoint, SavepointOrder.unpack(order)) or self._orders.of(checkpoint):
            fields["savepoint"] = True
        self._triggered_at(checkpoint, timestamp)
        word = "barrier" if kind is Kind.BARRIER else "announce"
        return {"kind": word, "channel": channel, "checkpoint": checkpoint, **fields}

    def start(self, checkpoint: int) -> None:
        """What comes before the barriers is stored; not while restored records are unread (UNAL-36)."""
        declined = self._inbox.start(checkpoint)
        self._persisted = {checkpoint}
        self._declined = {} if declined is None else {checkpoint: declined}

    def stop(self, checkpoint: int) -> None:
        """All that was in flight at the inputs is here."""
        self._gathering.received(checkpoint, self._inbox.stop(checkpoint))
        self._finish(checkpoint)

    def prioritise(self, channel: int, checkpoint: int) -> None:
        """The gate wants the barrier that was announced on a channel."""
        self._inbox.prioritise(channel, checkpoint)

    def triggered(self, checkpoint: int, *, overtakes: bool) -> Wire:
        """The gate triggers: what the snapshot steps are told."""
        reason = self._declined.pop(checkpoint, None)
        if reason is not None:
            if self._log is not None:
                self._log.line({"kind": "start_declined", "checkpoint": checkpoint, "reason": reason})
            return {"kind": "abort_on_barrier", "checkpoint": checkpoint, "reason": reason}
        self._alignment = {checkpoint: Alignment.UNALIGNED if overtakes else self._first_of(checkpoint)}
        if checkpoint not in self._persisted:  # aligned: nothing is in flight at the inputs
            self._gathering.received(checkpoint, self._inbox.stop(checkpoint))
        return {"kind": "checkpoint", "checkpoint": checkpoint}

    def injected(self, checkpoint: int, timestamp: int) -> None:
        """The coordinator triggers a source; `timestamp` is its wall clock."""
        self._triggered_at(checkpoint, max(0, timestamp - self._epoch))
        self._alignment = {checkpoint: self._first_of(checkpoint)}
        self._gathering.received(checkpoint, [])

    def _first_of(self, checkpoint: int) -> Alignment:
        """How its barrier is sent; a savepoint's waits for its turn."""
        return self._first if self._orders.of(checkpoint) is None else Alignment.ALIGNED

    def _triggered_at(self, checkpoint: int, timestamp: int) -> None:
        if checkpoint in self._timestamp:
            return
        if self._first_of(checkpoint) is Alignment.TIMEOUT:
            self._due[checkpoint] = timestamp + self._patience
        self._timestamp[checkpoint] = timestamp
        if len(self._timestamp) > _REMEMBERED:
            del self._timestamp[min(self._timestamp)]

    # ------------------------------------------------------------ the snapshot steps

    def send(self, checkpoint: int) -> None:
        """The barrier goes into the outputs: past what waits there, or behind it for now."""
        alignment, timestamp = self._alignment.pop(checkpoint), self._timestamp.get(checkpoint, 0)
        parts = self._outputs.barrier(checkpoint, alignment, timestamp, self._orders.packed(checkpoint))
        self._gathering.sent(checkpoint, parts)
        if any(frames is None for frames in parts.values()) and checkpoint not in self._due:
            self._due[checkpoint] = self.now()  # its time was out before it was sent

    def hold(self, checkpoint: int, operator: AsynchronousPart, offset: int | None) -> None:
        """The operator's snapshot is taken; it is written when all that was in flight is here."""
        self._gathering.hold(checkpoint, operator, offset)
        self._finish(checkpoint)

    def left(self, checkpoint: int, peer: str) -> None:
        """The barrier has left for `peer` in its turn, and has passed nothing."""
        self._gathering.left(checkpoint, peer, ())
        self._finish(checkpoint)

    def ended(self, checkpoint: int) -> None:
        """The checkpoint has ended without this snapshot."""
        self._gathering.give_up(checkpoint)
        self._outputs.give_up(checkpoint)
        self._due.pop(checkpoint, None)

    def _finish(self, checkpoint: int) -> None:
        gathered = self._gathering.whole(checkpoint)
        if gathered is None:
            return
        self._due.pop(checkpoint, None)
        if self._log is not None:
            rows = {"stored": rows_in(gathered.received), "overtaken": rows_in(gathered.overtaken)}
            self._log.line({"kind": "gathered", "checkpoint": checkpoint, **rows})
        self._write(checkpoint, gathered.sections, gathered.offset)
