"""The input gate that tracks checkpoint barriers and blocks no channel (mode at-least-once).

The tracker remembers which channels have delivered barrier n, and triggers the snapshot when the last channel
has delivered it. The snapshot therefore contains records that followed barrier n on a faster channel, and a
restore reads them again. Rules: TRACK-01 to TRACK-18.
"""

from dataclasses import dataclass
from typing import Any, Final

from impl.core.component import NO_CHECKPOINT, events_of, require_checkpoint_id
from impl.core.effects import INPUT_END_OF_STREAM, ON_CANCELLATION_BARRIER
from impl.core.errors import ConfigError
from impl.core.gate.events import Abort, Process, Record, TrackedEvent, Trigger
from impl.core.gate.input_channels import Gate
from impl.core.gate.profiles import NEWEST, PROFILES, Profile
from impl.core.gate.unaligned_events import GateEffects

TRACKED_AT_MOST: Final = 50
"""The maximum number of tracked checkpoints. One more checkpoint removes the oldest (TRACK-07)."""


@dataclass(slots=True)
class _Tracked:
    """A checkpoint whose barrier has been counted on some channels, but not on all."""

    counted: list[int]
    """The channels that have counted, sorted. A channel may occur twice (TRACK-16)."""
    needed: int
    """The number of channels that must count."""
    aborted: bool = False


class BarrierTracker(Gate[TrackedEvent]):
    """Tracks the barriers of the channels 0 to `channels` - 1; takes no records. Arguments as in `Gate`.

    With `after_finish` an ended channel counts (TRACK-14); else it aborts every tracked checkpoint
    (TRACK-13).
    Raises ConfigError if the generation does not have `after_finish`, or `tracked_at_most` is below 1.
    """

    def __init__(
        self,
        channels: int,
        profile: Profile = PROFILES[NEWEST],
        after_finish: bool | None = None,
        *,
        tracked_at_most: int = TRACKED_AT_MOST,
    ) -> None:
        super().__init__(channels, profile, after_finish)
        if tracked_at_most < 1:
            raise ConfigError(
                f"a tracker tracks at least one checkpoint, got {tracked_at_most}; correct the configuration"
            )
        if after_finish and profile.tracker_counts_repeats:
            raise ConfigError(
                "in mode at-least-once this generation has no checkpoints_after_tasks_finish, got true; "
                "leave it out or choose a newer profile"
            )
        self._at_most = tracked_at_most
        self._latest = NO_CHECKPOINT
        self._tracked: dict[int, _Tracked] = {}  # ids ascend: only newer ones are added

    def barrier(self, channel: int, checkpoint: int) -> GateEffects:
        """The barrier of `checkpoint` arrives on `channel`."""
        self.require_open(channel)
        require_checkpoint_id(checkpoint)
        if checkpoint > self._latest:
            if self._needed() == 1:
                return (Trigger(checkpoint),)  # TRACK-17
            self._begin(channel, checkpoint)
            if len(self._tracked) > self._at_most:
                del self._tracked[next(iter(self._tracked))]  # TRACK-07: without an effect
            return ()
        entry = self._tracked.get(checkpoint)
        if entry is None or not self._count(entry, channel):
            return ()  # TRACK-05, TRACK-03
        self._drop_up_to(checkpoint)
        return () if entry.aborted else (Trigger(checkpoint),)  # TRACK-04, TRACK-12

    def cancel(self, channel: int, checkpoint: int) -> GateEffects:
        """The cancellation marker of `checkpoint` arrives on `channel`."""
        self.require_open(channel)
        require_checkpoint_id(checkpoint)
        abort = Abort(checkpoint, ON_CANCELLATION_BARRIER)
        if checkpoint > self._latest and self._needed() == 1:
            return (abort,)  # TRACK-17
        older = self._abort_below(checkpoint)  # TRACK-08
        entry = self._tracked.get(checkpoint)
        if entry is not None:  # TRACK-09
            was_aborted = entry.aborted
            entry.aborted = True
            if self._count(entry, channel):
                self._drop_up_to(checkpoint)
            return older if was_aborted else (*older, abort)
        if checkpoint > self._latest:  # TRACK-10
            self._begin(channel, checkpoint)
            self._tracked[checkpoint].aborted = True
            return (*older, abort)
        return older  # TRACK-11

    def end_of_partition(self, channel: int) -> GateEffects:
        """The channel ends."""
        self.require_open(channel)
        self._closed.add(channel)
        if not self._profile.tracker_counts_ends:
            return ()  # TRACK-18
        if not self._after_finish:  # TRACK-13
            aborts = tuple(
                Abort(checkpoint, INPUT_END_OF_STREAM)
                for checkpoint, entry in self._tracked.items()
                if not entry.aborted
            )
            self._tracked.clear()
            return aborts
        for checkpoint in reversed(list(self._tracked)):  # TRACK-14: the end completes at most one
            entry = self._tracked[checkpoint]
            if self._count(entry, channel):
                self._drop_up_to(checkpoint)
                return () if entry.aborted else (Trigger(checkpoint),)
        return ()

    def observe(self) -> dict[str, Any]:
        """The state fields `current`, `pending`, `blocked` (always empty), `closed` and `tracked`.

        An entry of `tracked` has the channels that have counted, or their number up to flink-1.13.
        """
        only_number = self._profile.tracker_counts_repeats
        return {
            "current": self._latest,
            "pending": bool(self._tracked),
            "blocked": [],
            "closed": sorted(self._closed),
            "tracked": [
                [checkpoint, len(entry.counted) if only_number else list(entry.counted), entry.aborted]
                for checkpoint, entry in self._tracked.items()
            ],
        }

    def _needed(self) -> int:
        """Number of channels that a checkpoint needs if it begins now (TRACK-15)."""
        if self._profile.tracker_counts_repeats:
            return self._channels
        return self._channels - len(self._closed)

    def _begin(self, channel: int, checkpoint: int) -> None:
        self._latest = checkpoint
        self._tracked[checkpoint] = _Tracked([channel], self._needed())

    def _count(self, entry: _Tracked, channel: int) -> bool:
        """Count the channel; returns whether it was the last one needed (TRACK-16)."""
        if self._profile.tracker_counts_repeats or channel not in entry.counted:
            entry.counted.append(channel)
            entry.counted.sort()
        return len(entry.counted) == entry.needed

    def _drop_up_to(self, checkpoint: int) -> None:
        """Stop tracking a completed checkpoint and all older ones, without an effect."""
        for older in [one for one in self._tracked if one <= checkpoint]:
            del self._tracked[older]

    def _abort_below(self, checkpoint: int) -> GateEffects:
        """Stop tracking the older checkpoints; returns the aborts of those not aborted before."""
        older = [one for one in self._tracked if one < checkpoint]
        aborted = [one for one in older if not self._tracked.pop(one).aborted]
        return tuple(Abort(one, ON_CANCELLATION_BARRIER) for one in aborted)

    _events = events_of(TrackedEvent)


class PolledTracker(BarrierTracker):
    """A tracker at the polled level: every record is processed at once (TRACK-01)."""

    def record(self, channel: int, value: object) -> GateEffects:
        """A record arrives on `channel`."""
        self.require_open(channel)
        return (Process(channel, value),)

    def handle(self, event: Record | TrackedEvent) -> GateEffects:
        """Take one typed event; returns its effects in order."""
        return self.record(event.channel, event.value) if isinstance(event, Record) else super().handle(event)

    _events = events_of(Record | TrackedEvent)
