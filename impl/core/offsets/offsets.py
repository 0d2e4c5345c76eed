"""Offsets that a source commits to the system behind it, each time a checkpoint completes.

Whoever looks at that system sees how far the job has come; the job itself does not need it, because a
restore reads the offsets in its state. Rules: OFFSET-01 to OFFSET-07.
"""

from collections.abc import Mapping
from typing import Any, Final, assert_never

from impl.core.component import Component, events_of, only_keys, positive_int, require_checkpoint_id
from impl.core.errors import ProtocolError
from impl.core.offsets.events import (
    CommitOffsets,
    IgnoreCompletion,
    OffsetsCompleted,
    OffsetsEffects,
    OffsetsEvent,
    RestoreOffsets,
    Seek,
    SnapshotOffsets,
)
from impl.core.sink.events import CheckpointAborted, Crash

WAITING_AT_MOST: Final = 100


class OffsetCommits(Component):
    """One source subtask: `waiting_at_most` snapshots wait for the completion of their checkpoint."""

    def __init__(self, waiting_at_most: int = WAITING_AT_MOST) -> None:
        self._waiting_at_most = waiting_at_most
        self._waiting: dict[int, int] = {}  # checkpoint to offsets, oldest first
        self._last_snapshot = -1
        self._last_commit: tuple[int, int] | None = None
        self._alive = True

    def snapshot(self, checkpoint: int, offsets: int) -> OffsetsEffects:
        """The source is snapshotted at these offsets (OFFSET-01); too old a one is given up (OFFSET-02)."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        _require_offsets(offsets)
        if checkpoint <= self._last_snapshot:
            raise ProtocolError(
                f"snapshots have growing ids, the newest one was {self._last_snapshot}, came {checkpoint}; "
                "ignore triggers that are not newer (TASK-02)"
            )
        self._last_snapshot = checkpoint
        self._waiting[checkpoint] = offsets
        while len(self._waiting) > self._waiting_at_most:
            del self._waiting[next(iter(self._waiting))]
        return ()

    def notify_complete(self, checkpoint: int) -> OffsetsEffects:
        """`checkpoint` is complete: its own offsets are committed, or none (OFFSET-03, OFFSET-04)."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        if checkpoint not in self._waiting:
            return (IgnoreCompletion(checkpoint),)
        offsets = self._waiting[checkpoint]
        self._waiting = {one: kept for one, kept in self._waiting.items() if one > checkpoint}
        self._last_commit = (checkpoint, offsets)  # OFFSET-07: what waits is newer from now on
        return (CommitOffsets(checkpoint, offsets),)

    def notify_abort(self, checkpoint: int) -> OffsetsEffects:
        """`checkpoint` was aborted: nothing to do (OFFSET-05)."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        return ()

    def crash(self) -> OffsetsEffects:
        """The task dies, and what waited is forgotten."""
        self._require_alive()
        self._alive = False
        self._waiting = {}
        return ()

    def restore(self, offsets: int) -> OffsetsEffects:
        """The task restarts where its state says, not where the last commit does (OFFSET-06)."""
        if self._alive:
            raise ProtocolError("only a crashed source restores, this one runs; crash it first")
        _require_offsets(offsets)
        self._alive = True
        return (Seek(offsets),)

    def observe(self) -> dict[str, Any]:
        """`remembered` and `committed` (`[checkpoint, offsets]`), `running`."""
        return {
            "remembered": [list(one) for one in self._waiting.items()],
            "committed": None if self._last_commit is None else list(self._last_commit),
            "running": self._alive,
        }

    def _require_alive(self) -> None:
        if not self._alive:
            raise ProtocolError("the source has crashed and takes only a restore; restore it first")

    def handle(self, event: OffsetsEvent) -> OffsetsEffects:
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
        match event:
            case SnapshotOffsets(checkpoint, offsets):
                return self.snapshot(checkpoint, offsets)
            case OffsetsCompleted(checkpoint):
                return self.notify_complete(checkpoint)
            case CheckpointAborted(checkpoint):
                return self.notify_abort(checkpoint)
            case Crash():
                return self.crash()
            case RestoreOffsets(offsets):
                return self.restore(offsets)
            case _:
                assert_never(event)

    _events = events_of(OffsetsEvent)


def _require_offsets(offsets: int) -> None:
    if offsets < 0:
        raise ProtocolError(f"offsets are an int from 0 on, came {offsets}; send where the source stands")


def offset_commits_from_config(config: Mapping[str, object]) -> OffsetCommits:
    """The source that a wire configuration asks for."""
    only_keys(config, ("remembered",))
    return OffsetCommits(positive_int(config, "remembered", WAITING_AT_MOST))
