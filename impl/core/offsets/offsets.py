"""A source that commits its offsets to the external system that it reads, when a checkpoint completes.

The committed offsets show the progress of the job to that system. The job does not need them, because a
restore reads the offsets in its state. Rules: OFFSET-01 to OFFSET-07.
"""

from collections.abc import Mapping
from typing import Any, Final

from impl.core.component import (
    NO_CHECKPOINT,
    Component,
    events_of,
    only_keys,
    positive_int,
    require_checkpoint_id,
)
from impl.core.errors import ProtocolError
from impl.core.offsets import events

REMEMBERED_AT_MOST: Final = 100
"""Default of the option `remembered`."""


class OffsetCommitter(Component[events.OffsetsEvent, events.OffsetsEffect]):
    """One source subtask. `remembered_at_most`: number of snapshots whose offsets are remembered."""

    def __init__(self, remembered_at_most: int = REMEMBERED_AT_MOST) -> None:
        self._remembered_at_most = remembered_at_most
        self._remembered: dict[int, int] = {}  # checkpoint to offsets, oldest first
        self._last_snapshot = NO_CHECKPOINT
        self._last_commit: tuple[int, int] | None = None
        self._running = True

    def snapshot(self, checkpoint: int, offsets: int) -> events.OffsetsEffects:
        """Remember the offsets of a snapshot (OFFSET-01), and forget the oldest above the limit (OFFSET-02).

        Raises ProtocolError if the id is not above that of every earlier snapshot.
        """
        self._require_running()
        _require_offsets(offsets)
        if checkpoint <= self._last_snapshot:
            raise ProtocolError(
                f"the ids of snapshots grow, the newest one was {self._last_snapshot}, got {checkpoint}; "
                "ignore triggers that are not newer (TASK-02)"
            )
        self._last_snapshot = checkpoint
        self._remembered[checkpoint] = offsets
        while len(self._remembered) > self._remembered_at_most:
            del self._remembered[next(iter(self._remembered))]
        return ()

    def notify_complete(self, checkpoint: int) -> events.OffsetsEffects:
        """`checkpoint` is complete: commit its offsets if they are remembered (OFFSET-03, OFFSET-04)."""
        self._require_running()
        require_checkpoint_id(checkpoint)
        if checkpoint not in self._remembered:
            return (events.IgnoreCompletion(checkpoint),)
        offsets = self._remembered[checkpoint]
        self._remembered = {one: kept for one, kept in self._remembered.items() if one > checkpoint}
        self._last_commit = (checkpoint, offsets)  # OFFSET-07
        return (events.CommitOffsets(checkpoint, offsets),)

    def notify_abort(self, checkpoint: int) -> events.OffsetsEffects:
        """`checkpoint` was aborted: its offsets stay remembered (OFFSET-05)."""
        self._require_running()
        require_checkpoint_id(checkpoint)
        return ()

    def crash(self) -> events.OffsetsEffects:
        """The source's process ends; it forgets all remembered offsets."""
        self._require_running()
        self._running = False
        self._remembered = {}
        return ()

    def restore(self, offsets: int) -> events.OffsetsEffects:
        """The source restarts at the offsets of its state, not at the committed ones (OFFSET-06)."""
        if self._running:
            raise ProtocolError("only a crashed source restores, this one runs; crash it first")
        _require_offsets(offsets)
        self._running = True
        return (events.Seek(offsets),)

    def observe(self) -> dict[str, Any]:
        """The state fields `remembered`, `committed` and `running`."""
        return {
            "remembered": [list(one) for one in self._remembered.items()],
            "committed": None if self._last_commit is None else list(self._last_commit),
            "running": self._running,
        }

    def _require_running(self) -> None:
        if not self._running:
            raise ProtocolError("the source has crashed and accepts only a restore; restore it first")

    _events = events_of(events.OffsetsEvent)


def _require_offsets(offsets: int) -> None:
    if offsets < 0:
        raise ProtocolError(f"offsets are an int from 0 on, got {offsets}; send the position of the source")


def offsets_from_config(config: Mapping[str, object]) -> OffsetCommitter:
    """A new source with the options of a configuration of the wire.

    Raises ConfigError for an unknown key or a wrong value.
    """
    only_keys(config, ("remembered",))
    return OffsetCommitter(positive_int(config, "remembered", REMEMBERED_AT_MOST))
