"""A subtask's outputs: rows are buffered for each downstream subtask, barriers go to all of them in-band.

Rows sent before a barrier are on the wire before it (TASK-01): a broadcast flushes first. How rows are
spread is part of the plan: by the hash of their key, or in turn by whole batches.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from impl.plan import KeySelector, Row
from impl.spark.frames import Kind, pack_id, pack_rows
from impl.state.key_groups import DEFAULT_MAX_PARALLELISM, key_group, subtask_of

_REMEMBERED_KEYS = 100_000


def channel_of(key: object, channels: int, max_parallelism: int = DEFAULT_MAX_PARALLELISM) -> int:
    """The channel of a key: that of the subtask which owns its key group."""
    return subtask_of(key_group(key, max_parallelism), channels, max_parallelism)


class Channel(Protocol):
    """What rows and barriers are sent into."""

    def send(self, kind: Kind, payload: bytes = b"") -> None:
        """Send one frame, in order."""

    def cut(self) -> None:
        """The connection breaks."""

    def close(self) -> None:
        """Nothing more is sent."""


class Outputs:
    """The output channels of one subtask, by the ids of the subtasks at their other ends."""

    def __init__(
        self, channels: Mapping[str, Channel], key_selector: KeySelector | None, batch_rows: int
    ) -> None:
        self._names = tuple(channels)
        self._connections = tuple(channels.values())
        self._key_selector = key_selector
        self._batch_rows = batch_rows
        self._buffers: list[list[Row]] = [[] for _ in self._names]
        self._sent = [0] * len(self._names)
        self._turn = 0
        self._known: dict[Any, int] = {}

    def emit(self, rows: Sequence[Row]) -> None:
        """Send `rows`; they may wait in a buffer until it is full, flushed or followed by a barrier."""
        if not self._connections:
            return
        if self._key_selector is None or len(self._connections) == 1:
            self._fill(self._turn, rows)
            self._turn = (self._turn + 1) % len(self._connections)
            return
        self._spread(rows, self._key_selector)

    def _spread(self, rows: Sequence[Row], key_selector: KeySelector) -> None:
        known = self._known
        parts: list[list[Row]] = [[] for _ in self._connections]
        for row in rows:
            key = key_selector(row)
            channel = known.get(key)
            if channel is None:
                if len(known) >= _REMEMBERED_KEYS:
                    known.clear()
                channel = known[key] = channel_of(key, len(parts))
            parts[channel].append(row)
        for channel, part in enumerate(parts):
            self._fill(channel, part)

    def _fill(self, channel: int, rows: Sequence[Row]) -> None:
        buffer = self._buffers[channel]
        buffer.extend(rows)
        if len(buffer) >= self._batch_rows:
            self._ship(channel)

    def _ship(self, channel: int) -> None:
        buffer = self._buffers[channel]
        for start in range(0, len(buffer), self._batch_rows):
            batch = buffer[start : start + self._batch_rows]
            self._connections[channel].send(Kind.RECORDS, pack_rows(batch))
            self._sent[channel] += len(batch)
        self._buffers[channel] = []

    def flush(self) -> None:
        """Send what waits in the buffers."""
        for channel, buffer in enumerate(self._buffers):
            if buffer:
                self._ship(channel)

    def broadcast(self, kind: Kind, checkpoint: int | None = None) -> None:
        """Flush, then send a barrier, a cancellation or an end to every channel."""
        self.flush()
        payload = b"" if checkpoint is None else pack_id(checkpoint)
        for connection in self._connections:
            connection.send(kind, payload)

    def sent(self) -> dict[str, int]:
        """Rows given to each channel in this attempt, those that still wait in buffers among them."""
        waiting = (len(buffer) for buffer in self._buffers)
        return {name: sent + left for name, sent, left in zip(self._names, self._sent, waiting, strict=True)}

    @property
    def has_room(self) -> bool:
        """More may be emitted; a channel that is full lets its sender wait in `emit`."""
        return True

    def drain(self) -> None:
        """Everything was sent when it was emitted."""

    def cut(self) -> None:
        """Every connection breaks."""
        for connection in self._connections:
            connection.cut()

    def close(self) -> None:
        """Close every channel."""
        for connection in self._connections:
            connection.close()
