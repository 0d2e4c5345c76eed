"""What was in flight when a snapshot was taken: gathered while barriers come, stored with the state.

A snapshot of an unaligned checkpoint is whole when the operator's state, the frames that the barriers passed
in the outputs, and the frames that came before the last barrier are there; then it is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from impl.spark.frames import unpack_rows
from impl.state import StateError, decode, encode

Frames = Mapping[str, Sequence[bytes]]
"""By the subtask at the other end of a channel: frames of records, oldest first."""


@dataclass(frozen=True, slots=True)
class WithInFlight:
    """A task's snapshot with the records that were in flight at it."""

    operator: bytes
    """The operator's own snapshot."""
    input: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    output: dict[str, tuple[bytes, ...]] = field(default_factory=dict)


class Gathered(NamedTuple):
    """All of one snapshot."""

    operator: bytes
    offset: int | None
    """A source's."""
    received: Frames
    overtaken: Frames

    def encoded(self) -> bytes:
        """The snapshot of the task; without anything in flight it is the operator's own."""
        there = {peer: tuple(frames) for peer, frames in self.received.items() if frames}
        here = {peer: tuple(frames) for peer, frames in self.overtaken.items() if frames}
        return encode(WithInFlight(self.operator, there, here)) if there or here else self.operator


def taken_apart(state: object, file: str) -> tuple[object, Frames, Frames]:
    """The operator's state and what was in flight at the input and at the output. Raises StateError."""
    if not isinstance(state, WithInFlight):
        return state, {}, {}
    inner = decode(state.operator, file)
    if isinstance(inner, WithInFlight):
        raise StateError(f"{file}: expected an operator's snapshot within, found records in flight again")
    return inner, state.input, state.output


def rows_in(frames: Frames) -> dict[str, int]:
    """How many rows the frames hold, by the subtask at the other end."""
    return {peer: sum(len(unpack_rows(one)) for one in there) for peer, there in frames.items()}


class _Open:
    """A snapshot of which something is missing."""

    def __init__(self) -> None:
        self.operator: bytes | None = None
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

    def hold(self, checkpoint: int, operator: bytes, offset: int | None) -> None:
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
