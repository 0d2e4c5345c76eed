"""The gate of mode unaligned in Flink 1.11, where the thread of the network takes part. UNAL-30, UNAL-31.

The network tells the gate of a barrier when it has come in, which may be long before the task reads it. A
barrier above everything so far has the checkpoint persisted from that moment. To snapshot, or to say that an
older one is aborted, is not for that thread: both are put into the task's mailbox. A snapshot that has waited
there while something newer began, or was cancelled, is thrown away.
"""

from impl.core.component import events_of
from impl.core.errors import ProtocolError
from impl.core.gate.flink_1_11 import TypedGate
from impl.core.gate.profiles import Generation
from impl.core.gate.unaligned_events import (
    Alignment,
    GateEffect,
    GateEffects,
    MailRun,
    NetworkEvent,
    ReceivedBarrier,
    StartPersisting,
    TriggerWithOptions,
    UnalignedEvent,
)


class TwoThreadsGate(TypedGate):
    """A gate that never aligns; what the task has read of it is kept apart from what has begun."""

    def __init__(self, channels: int, *, after_finish: bool, generation: Generation) -> None:
        super().__init__(channels, after_finish=after_finish, generation=generation, alternating=False)
        self._task_at = -1
        self._task_waits = False  # for further barriers of `_task_at`
        self._mailbox: list[GateEffect] = []

    def receive_barrier(
        self,
        channel: int,
        checkpoint: int,
        alignment: Alignment = Alignment.ALIGNED,
        savepoint: bool = False,
        timestamp: int | None = None,
    ) -> GateEffects:
        """The network has received the barrier of `checkpoint` on `channel`."""
        if savepoint:
            raise ProtocolError("the network tells of no savepoint; send its barrier when the task reads it")
        said = super().barrier(channel, checkpoint, alignment, savepoint, timestamp)
        at_once = tuple(effect for effect in said if isinstance(effect, StartPersisting))
        self._mailbox += [effect for effect in said if not isinstance(effect, StartPersisting)]
        return at_once

    def mail(self) -> GateEffects:
        """The task empties its mailbox (UNAL-31)."""
        self.require_working()
        mails, self._mailbox = self._mailbox, []
        return tuple(mail for mail in mails if not self._is_outdated(mail))

    def barrier(
        self,
        channel: int,
        checkpoint: int,
        alignment: Alignment = Alignment.ALIGNED,
        savepoint: bool = False,
        timestamp: int | None = None,
    ) -> GateEffects:
        """The task reads the barrier of `checkpoint` on `channel`."""
        self.require_open(channel)
        self.request(checkpoint, alignment, savepoint, timestamp)
        if checkpoint < self._task_at or (checkpoint == self._task_at and not self._task_waits):
            return ()  # UNAL-05
        self._task_at, self._task_waits = checkpoint, True
        return super().barrier(channel, checkpoint, alignment, savepoint, timestamp)

    def cancel(self, channel: int, checkpoint: int) -> GateEffects:
        """The task reads the cancellation of `checkpoint` on `channel`."""
        said = super().cancel(channel, checkpoint)
        if checkpoint >= self._task_at:
            self._task_at, self._task_waits = checkpoint, False
        return said

    def end_of_partition(self, channel: int) -> GateEffects:
        """The channel ends."""
        said = super().end_of_partition(channel)
        self._task_waits = False
        return said

    def observe(self) -> dict[str, object]:
        """As of any gate, but `current` and `pending` are what the task has read."""
        return {**super().observe(), "current": self._task_at, "pending": self._task_waits}

    def _is_outdated(self, mail: GateEffect) -> bool:
        return isinstance(mail, TriggerWithOptions) and mail.checkpoint < self._current

    def handle(self, event: UnalignedEvent | NetworkEvent) -> GateEffects:
        """As of any such gate, and of what the network does."""
        match event:
            case ReceivedBarrier(channel, checkpoint, alignment, savepoint, timestamp):
                return self.receive_barrier(channel, checkpoint, alignment, savepoint, timestamp)
            case MailRun():
                return self.mail()
            case _:
                return super().handle(event)

    _events = events_of(UnalignedEvent | NetworkEvent)
