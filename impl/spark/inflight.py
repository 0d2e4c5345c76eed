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


class Gathering:
    """The snapshots of one subtask whose barriers have not all come."""

    def __init__(self, upstream: Sequence[str]) -> None:
        self._upstream = tuple(upstream)
        self._held: dict[int, tuple[bytes, int | None]] = {}
        self._overtaken: dict[int, dict[str, list[bytes]]] = {}

    def overtook(self, checkpoint: int, frames: dict[str, list[bytes]]) -> None:
        """The barrier of `checkpoint` has passed these in the outputs."""
        self._overtaken[checkpoint] = frames

    def hold(self, checkpoint: int, operator: bytes, offset: int | None) -> None:
        """The operator's snapshot waits for what is in flight at the input."""
        self._held[checkpoint] = (operator, offset)

    def complete(self, checkpoint: int, received: Sequence[Sequence[bytes]]) -> Gathered | None:
        """All has come: the whole snapshot; None if there is none to be written."""
        held = self._held.pop(checkpoint, None)
        overtaken = self._overtaken.pop(checkpoint, {})
        for old in [one for one in (*self._held, *self._overtaken) if one < checkpoint]:
            self._held.pop(old, None)
            self._overtaken.pop(old, None)
        if held is None:
            return None
        return Gathered(*held, dict(zip(self._upstream, received, strict=True)), overtaken)
