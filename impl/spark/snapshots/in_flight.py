"""What was in flight when a snapshot was taken: gathered while barriers come, stored with the state.

A snapshot of an unaligned checkpoint is whole when the operator's state, the frames that the barriers passed
in the outputs, and the frames that came before the last barrier are there; then it is written.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from impl.graph.rescaling import IN_FLIGHT
from impl.spark.channels.frames import unpack_rows
from impl.state import AsynchronousPart, Sections, encode

Frames = Mapping[str, Sequence[bytes]]
"""By the subtask at the other end of a channel: frames of records, oldest first."""


class Gathered(NamedTuple):
    """All of one snapshot."""

    operator: AsynchronousPart
    """The operator's own."""
    offset: int | None
    """A source's."""
    received: Frames
    overtaken: Frames

    @property
    def anything(self) -> bool:
        """Whether any record was in flight."""
        return any(self.received.values()) or any(self.overtaken.values())

    def sections(self) -> Mapping[str, bytes]:
        """The asynchronous part; without anything in flight it is the operator's own."""
        there = {peer: tuple(frames) for peer, frames in self.received.items() if frames}
        here = {peer: tuple(frames) for peer, frames in self.overtaken.items() if frames}
        flying = {IN_FLIGHT: encode((there, here))} if self.anything else {}
        return {**self.operator(), **flying}


def in_flight(snapshot: Sections | None) -> tuple[Frames, Frames]:
    """What was in flight at the input and at the output of a task. Raises StateError."""
    if snapshot is None or IN_FLIGHT not in snapshot:
        return {}, {}
    there, here = cast(tuple[Frames, Frames], snapshot.read(IN_FLIGHT))
    return there, here


def rows_in(frames: Frames) -> dict[str, int]:
    """How many rows the frames hold, by the subtask at the other end."""
    return {peer: sum(len(unpack_rows(one)) for one in there) for peer, there in frames.items()}


class _Open:
    """A snapshot of which something is missing."""

    def __init__(self) -> None:
        self.operator: AsynchronousPart | None = None
        self.offset: int | None = None
        self.received: dict[str, Sequence[bytes]] | None = None
        self.overtaken: dict[str, Sequence[bytes] | None] | None = None


class Gathering:
    """The snapshots of one subtask of which something is in flight still."""

    def __init__(self, upstream: Sequence[str]) -> None:
        self._upstream = tuple(upstream)
        self._open: dict[int, _Open] = {}

    def sent(self, checkpoint: int, parts: Mapping[str, Sequence[bytes] | None]) -> None:
        """The barrier has passed these frames in the outputs; None where it waits for its turn."""
        self._of(checkpoint).overtaken = dict(parts)

    def left(self, checkpoint: int, peer: str, frames: Sequence[bytes]) -> None:
        """The barrier has left for `peer` in its turn, or its time was out and it has passed these."""
        there = self._open.get(checkpoint)
        if there is not None and there.overtaken is not None:
            there.overtaken[peer] = frames

    def hold(self, checkpoint: int, operator: AsynchronousPart, offset: int | None) -> None:
        """The operator's snapshot is taken."""
        there = self._of(checkpoint)
        there.operator, there.offset = operator, offset

    def received(self, checkpoint: int, frames: Sequence[Sequence[bytes]]) -> None:
        """All that came before the barriers is here, by channel; what is older is given up."""
        self._of(checkpoint).received = dict(zip(self._upstream, frames, strict=True))
        self._open = {one: there for one, there in self._open.items() if one >= checkpoint}

    def give_up(self, checkpoint: int) -> None:
        """The checkpoint has ended."""
        self._open.pop(checkpoint, None)

    def whole(self, checkpoint: int) -> Gathered | None:
        """The snapshot, once and as soon as nothing is missing."""
        there = self._open.get(checkpoint)
        if there is None or there.operator is None or there.received is None or there.overtaken is None:
            return None
        overtaken = {peer: frames for peer, frames in there.overtaken.items() if frames is not None}
        if len(overtaken) < len(there.overtaken):
            return None
        del self._open[checkpoint]
        return Gathered(there.operator, there.offset, there.received, overtaken)

    def _of(self, checkpoint: int) -> _Open:
        return self._open.setdefault(checkpoint, _Open())
