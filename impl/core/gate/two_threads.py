"""The gate of mode unaligned in Flink 1.11: the network thread may start a checkpoint (UNAL-30, UNAL-31).

The network thread reports a barrier when it receives it; the task may read it much later. A barrier above all
earlier ids starts the persisting at once. The snapshot, and the abort of an older checkpoint, are left to the
task thread: they go into its mailbox. A snapshot in the mailbox is dropped if a newer checkpoint starts or is
cancelled before the task thread runs it.
"""

from impl.core.component import NO_CHECKPOINT, events_of
from impl.core.errors import ProtocolError
from impl.core.gate.profiles import Profile
from impl.core.gate.type_decides import TypeDecidesGate
from impl.core.gate.unaligned import OptionFields
from impl.core.gate.unaligned_events import (
    GateEffect,
    GateEffects,
    MailRun,
    NetworkEvent,
    ReceivedBarrier,
    StartPersisting,
    TriggerWithOptions,
    UnalignedEvent,
)


class TwoThreadsGate(TypeDecidesGate):
    """A gate that never aligns. Its task thread and its network thread together have one current id.

    The task thread has a second one: the highest id of which it has read a barrier or a cancellation marker.
    """

    def __init__(self, channels: int, profile: Profile, after_finish: bool | None = None) -> None:
        super().__init__(channels, profile, after_finish, alternating=False)
        self._task_current = NO_CHECKPOINT
        self._task_pending = False
        self._mailbox: list[GateEffect] = []

    def receive_barrier(self, channel: int, checkpoint: int, *options: *OptionFields) -> GateEffects:
        """The network thread receives the barrier of `checkpoint` on `channel`."""
        _, savepoint, _ = options
        if savepoint:
            raise ProtocolError(
                "the network thread reports no savepoint; send its barrier when the task reads it"
            )
        effects = super().barrier(channel, checkpoint, *options)
        at_once = tuple(effect for effect in effects if isinstance(effect, StartPersisting))
        self._mailbox += [effect for effect in effects if not isinstance(effect, StartPersisting)]
        return at_once

    def mail(self) -> GateEffects:
        """The task thread runs its mailbox (UNAL-31)."""
        self.require_working()
        mails, self._mailbox = self._mailbox, []
        return tuple(mail for mail in mails if not self._is_outdated(mail))

    def barrier(self, channel: int, checkpoint: int, *options: *OptionFields) -> GateEffects:
        """The task reads the barrier of `checkpoint` on `channel`."""
        self.require_open(channel)
        self.options(checkpoint, *options)
        if checkpoint < self._task_current or (checkpoint == self._task_current and not self._task_pending):
            return ()  # UNAL-05
        self._task_current, self._task_pending = checkpoint, True
        return super().barrier(channel, checkpoint, *options)

    def cancel(self, channel: int, checkpoint: int) -> GateEffects:
        """The task reads the cancellation marker of `checkpoint` on `channel`."""
        effects = super().cancel(channel, checkpoint)
        if checkpoint >= self._task_current:
            self._task_current, self._task_pending = checkpoint, False
        return effects

    def end_of_partition(self, channel: int) -> GateEffects:
        """The channel ends."""
        effects = super().end_of_partition(channel)
        self._task_pending = False
        return effects

    def observe(self) -> dict[str, object]:
        """The state fields of `UnalignedGate`; `current` and `pending` are those of the task thread."""
        return {**super().observe(), "current": self._task_current, "pending": self._task_pending}

    def _is_outdated(self, mail: GateEffect) -> bool:
        return isinstance(mail, TriggerWithOptions) and mail.checkpoint < self._current

    def handle(self, event: UnalignedEvent | NetworkEvent) -> GateEffects:
        """Take one typed event; returns its effects in order."""
        match event:
            case ReceivedBarrier(channel, checkpoint, alignment, savepoint, timestamp):
                return self.receive_barrier(channel, checkpoint, alignment, savepoint, timestamp)
            case MailRun():
                return self.mail()
            case _:
                return super().handle(event)

    _events = events_of(UnalignedEvent | NetworkEvent)
