"""The input gate of one task: tracking of checkpoint barriers, at-least-once.

No channel is ever blocked. The tracker notes which channels have delivered barrier n and triggers the
snapshot when the last one has. Records that came behind barrier n on a faster channel are in the snapshot,
and come again after a restore. Rules: TRACK-01 to TRACK-18.
"""

from dataclasses import dataclass
from typing import Any, Final, assert_never

from impl.core.component import events_of, require_checkpoint_id
from impl.core.effects import INPUT_END_OF_STREAM, ON_CANCELLATION_BARRIER
from impl.core.errors import ConfigError
from impl.core.gate.events import (
    Abort,
    Barrier,
    Cancel,
    EndOfPartition,
    Process,
    Record,
    TrackedEvent,
    Trigger,
)
from impl.core.gate.input_channels import Gate
from impl.core.gate.profiles import GENERATIONS, NEWEST, Generation
from impl.core.gate.unaligned_events import GateEffects

TRACKED_AT_MOST: Final = 50
"""So many checkpoints are tracked at once; one more pushes out the oldest (TRACK-07)."""


@dataclass(slots=True)
class _UnderWay:
    """A checkpoint of which some channel has told, and not all."""

    heard: list[int]
    """The channels that count, sorted; one stands here twice if the generation counts it twice."""
    target: int
    aborted: bool = False

    def hear(self, channel: int, again: bool) -> bool:
        """The channel counts; whether it was the last one."""
        if again or channel not in self.heard:
            self.heard.append(channel)
            self.heard.sort()
        return len(self.heard) == self.target


class BarrierTracker(Gate):
    """The tracking over the channels 0 to `channels` - 1, without records (handler level).

    `checkpoints_after_tasks_finish`: whether a channel that ends counts (TRACK-14) or aborts all that is
    tracked (TRACK-13); left out, as the generation has it.
    """

    def __init__(
        self,
        channels: int,
        *,
        checkpoints_after_tasks_finish: bool | None = None,
        generation: Generation = GENERATIONS[NEWEST],
        tracked_at_most: int = TRACKED_AT_MOST,
    ) -> None:
        super().__init__(channels)
        if tracked_at_most < 1:
            raise ConfigError(
                f"a tracker tracks at least one checkpoint, came {tracked_at_most}; correct the configuration"
            )
        after_finish = checkpoints_after_tasks_finish
        if after_finish and generation.counting_tracker:
            raise ConfigError(
                "checkpoints_after_tasks_finish is on, and a tracker of this generation does not know it; "
                "leave it out or take a newer profile"
            )
        self._after_finish = generation.after_finish if after_finish is None else after_finish
        self._generation = generation
        self._at_most = tracked_at_most
        self._latest = -1
        self._under_way: dict[int, _UnderWay] = {}  # ids ascend: only newer ones are ever added

    def barrier(self, channel: int, checkpoint: int) -> GateEffects:
        """The barrier of `checkpoint` arrives on `channel`."""
        self.require_open(channel)
        require_checkpoint_id(checkpoint)
        if checkpoint > self._latest:
            if self._needed() == 1:
                return (Trigger(checkpoint),)  # TRACK-17
            self._begin(channel, checkpoint)
            if len(self._under_way) > self._at_most:
                del self._under_way[next(iter(self._under_way))]  # TRACK-07: nobody is told
            return ()
        known = self._under_way.get(checkpoint)
        if known is None or not self._hear(known, channel):
            return ()  # TRACK-05, TRACK-03
        self._drop_up_to(checkpoint)
        return () if known.aborted else (Trigger(checkpoint),)  # TRACK-04, TRACK-12

    def cancel(self, channel: int, checkpoint: int) -> GateEffects:
        """The cancellation of `checkpoint` arrives on `channel`."""
        self.require_open(channel)
        require_checkpoint_id(checkpoint)
        own = Abort(checkpoint, ON_CANCELLATION_BARRIER)
        if checkpoint > self._latest and self._needed() == 1:
            return (own,)  # TRACK-17
        ended = self._abort_below(checkpoint)  # TRACK-08
        known = self._under_way.get(checkpoint)
        if known is not None:  # TRACK-09
            told = known.aborted
            known.aborted = True
            if self._hear(known, channel):
                self._drop_up_to(checkpoint)
            return ended if told else (*ended, own)
        if checkpoint > self._latest:  # TRACK-10
            self._begin(channel, checkpoint)
            self._under_way[checkpoint].aborted = True
            return (*ended, own)
        return ended  # TRACK-11

    def end_of_partition(self, channel: int) -> GateEffects:
        """The channel ends."""
        self.require_open(channel)
        self._closed.add(channel)
        if self._generation.deaf_tracker:
            return ()  # TRACK-18
        if not self._after_finish:  # TRACK-13
            ended = tuple(
                Abort(checkpoint, INPUT_END_OF_STREAM)
                for checkpoint, known in self._under_way.items()
                if not known.aborted
            )
            self._under_way.clear()
            return ended
        for checkpoint in reversed(list(self._under_way)):  # TRACK-14: one at most ends by this
            known = self._under_way[checkpoint]
            if self._hear(known, channel):
                self._drop_up_to(checkpoint)
                return () if known.aborted else (Trigger(checkpoint),)
        return ()

    def observe(self) -> dict[str, Any]:
        """`current`, `pending`, `blocked` (never any), `closed` and `tracked`.

        A tracker that counts barriers shows in `tracked` how many it has counted, else which channels.
        """
        counts = self._generation.counting_tracker
        return {
            "current": self._latest,
            "pending": bool(self._under_way),
            "blocked": [],
            "closed": sorted(self._closed),
            "tracked": [
                [checkpoint, len(known.heard) if counts else list(known.heard), known.aborted]
                for checkpoint, known in self._under_way.items()
            ],
        }

    def _needed(self) -> int:
        """How many channels a checkpoint that begins now waits for (TRACK-15)."""
        if self._generation.counting_tracker:
            return self._channels
        return self._channels - len(self._closed)

    def _begin(self, channel: int, checkpoint: int) -> None:
        self._latest = checkpoint
        self._under_way[checkpoint] = _UnderWay([channel], self._needed())

    def _hear(self, known: _UnderWay, channel: int) -> bool:
        return known.hear(channel, again=self._generation.counting_tracker)  # TRACK-16

    def _drop_up_to(self, checkpoint: int) -> None:
        """A checkpoint is complete: it and the older ones are tracked no more, in silence."""
        for known in [known for known in self._under_way if known <= checkpoint]:
            del self._under_way[known]

    def _abort_below(self, checkpoint: int) -> GateEffects:
        """The older ones end; those that were aborted before have been told of."""
        older = [known for known in self._under_way if known < checkpoint]
        ended = [known for known in older if not self._under_way.pop(known).aborted]
        return tuple(Abort(known, ON_CANCELLATION_BARRIER) for known in ended)

    def handle(self, event: TrackedEvent) -> GateEffects:
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
        match event:
            case Barrier(channel, checkpoint):
                return self.barrier(channel, checkpoint)
            case Cancel(channel, checkpoint):
                return self.cancel(channel, checkpoint)
            case EndOfPartition(channel):
                return self.end_of_partition(channel)
            case _:
                assert_never(event)

    _events = events_of(TrackedEvent)


class PolledTracker(BarrierTracker):
    """The same as a task sees it that polls its gate: records pass at once (TRACK-01)."""

    def record(self, channel: int, value: object) -> GateEffects:
        """A record arrives on `channel`."""
        self.require_open(channel)
        return (Process(channel, value),)

    def handle(self, event: Record | TrackedEvent) -> GateEffects:
        """As of any tracker, and of records."""
        return self.record(event.channel, event.value) if isinstance(event, Record) else super().handle(event)

    _events = events_of(Record | TrackedEvent)
