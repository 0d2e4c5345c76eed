"""The in-flight records of a snapshot. They are collected until the last barrier, and stored with the state.

A snapshot is *whole* when it has three parts: the operator's state, the frames that its barriers have
overtaken in the outputs, and the frames that each input has delivered before its barrier. Then it is written.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from impl.graph.rescaling import IN_FLIGHT, Frames, in_flight_in
from impl.spark.channels.frames import unpack_rows
from impl.state import AsynchronousPart, Sections, encode


class WholeSnapshot(NamedTuple):
    """A whole snapshot of a subtask."""

    operator: AsynchronousPart
    """The asynchronous part of the operator's snapshot, which returns the encoded sections by name."""
    offset: int | None
    """The offset of a source; None for other operators."""
    received: Frames
    overtaken: Frames

    @property
    def anything(self) -> bool:
        """Whether any record was in flight."""
        return any(self.received.values()) or any(self.overtaken.values())

    def sections(self) -> Mapping[str, bytes]:
        """The encoded sections: those of the operator, and a section of in-flight records, if any."""
        there = {peer: tuple(frames) for peer, frames in self.received.items() if frames}
        here = {peer: tuple(frames) for peer, frames in self.overtaken.items() if frames}
        flying = {IN_FLIGHT: encode((there, here))} if self.anything else {}
        return {**self.operator(), **flying}


def in_flight(snapshot: Sections | None) -> tuple[Frames, Frames]:
    """The in-flight frames at the inputs and at the outputs of a task, by the subtask at the other end.

    Raises StateError if the section of in-flight records cannot be read.
    """
    return ({}, {}) if snapshot is None else in_flight_in(snapshot)


def rows_in(frames: Frames) -> dict[str, int]:
    """The number of rows in the frames, by the subtask at the other end."""
    return {peer: sum(len(unpack_rows(one)) for one in there) for peer, there in frames.items()}


class _Open:
    """A snapshot that is not whole."""

    def __init__(self) -> None:
        self.operator: AsynchronousPart | None = None
        self.offset: int | None = None
        self.received: dict[str, Sequence[bytes]] | None = None
        self.overtaken: dict[str, Sequence[bytes] | None] | None = None


class IncompleteSnapshots:
    """The snapshots of one subtask that are not whole."""

    def __init__(self, upstream: Sequence[str]) -> None:
        self._upstream = tuple(upstream)
        self._open: dict[int, _Open] = {}

    def sent(self, checkpoint: int, overtaken: Mapping[str, Sequence[bytes] | None]) -> None:
        """Add the frames that the barrier has overtaken in each output; None if it still waits there."""
        self._of(checkpoint).overtaken = dict(overtaken)

    def left(self, checkpoint: int, peer: str, frames: Sequence[bytes]) -> None:
        """Add the frames that the barrier to `peer` has overtaken. The barrier does not wait any more."""
        there = self._open.get(checkpoint)
        if there is not None and there.overtaken is not None:
            there.overtaken[peer] = frames

    def taken(self, checkpoint: int, operator: AsynchronousPart, offset: int | None) -> None:
        """Add the operator's snapshot. `offset`: the offset of a source; None for other operators."""
        there = self._of(checkpoint)
        there.operator, there.offset = operator, offset

    def received(self, checkpoint: int, frames: Sequence[Sequence[bytes]]) -> None:
        """Add the frames that came before the barriers, by channel. Discard older snapshots."""
        self._of(checkpoint).received = dict(zip(self._upstream, frames, strict=True))
        self._open = {one: there for one, there in self._open.items() if one >= checkpoint}

    def give_up(self, checkpoint: int) -> None:
        """Discard the snapshot of a checkpoint that has ended."""
        self._open.pop(checkpoint, None)

    def whole(self, checkpoint: int) -> WholeSnapshot | None:
        """Remove the snapshot and return it if it is whole; else return None."""
        there = self._open.get(checkpoint)
        if there is None or there.operator is None or there.received is None or there.overtaken is None:
            return None
        overtaken = {peer: frames for peer, frames in there.overtaken.items() if frames is not None}
        if len(overtaken) < len(there.overtaken):
            return None
        del self._open[checkpoint]
        return WholeSnapshot(there.operator, there.offset, there.received, overtaken)

    def _of(self, checkpoint: int) -> _Open:
        return self._open.setdefault(checkpoint, _Open())
