"""A subtask's outputs: rows are buffered for each downstream subtask, barriers go to all of them in-band.

Rows sent before a barrier are on the wire before it (TASK-01): a broadcast flushes first. How rows are
spread is part of the plan, edge by edge; barriers and ends go to every channel of every edge.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import Any, Protocol

from impl.plan import KeySelector, Partitioning, Route, Row
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


Spread = Callable[[Sequence[Row]], None]


class Outputs:
    """The output channels of one subtask, by the ids of the subtasks at their other ends.

    `routes`: the edges; every row goes along each of them.
    """

    def __init__(
        self,
        channels: Mapping[str, Channel],
        routes: Sequence[Route],
        batch_rows: int,
        max_parallelism: int = DEFAULT_MAX_PARALLELISM,
    ) -> None:
        self._names = tuple(channels)
        self._connections = tuple(channels.values())
        self._batch_rows = batch_rows
        self._max_parallelism = max_parallelism
        self._buffers: list[list[Row]] = [[] for _ in self._names]
        self._sent = [0] * len(self._names)
        self._spreads = tuple(self._spread_of(route) for route in routes)

    def emit(self, rows: Sequence[Row]) -> None:
        """Send `rows`; they may wait in a buffer until it is full, flushed or followed by a barrier."""
        for spread in self._spreads:
            spread(rows)

    def _spread_of(self, route: Route) -> Spread:
        channels = [self._names.index(receiver) for receiver in route.receivers]
        if len(channels) == 1:
            return partial(self._fill, channels[0])
        match route.partitioning:
            case Partitioning.HASH:
                assert route.key_selector is not None
                return self._by_key(channels, route.key_selector)
            case Partitioning.BROADCAST:
                return partial(self._to_all, channels)
            case _:
                return self._in_turn(channels)

    def _by_key(self, channels: Sequence[int], key_selector: KeySelector) -> Spread:
        known: dict[Any, int] = {}
        every = self._max_parallelism

        def spread(rows: Sequence[Row]) -> None:
            parts: list[list[Row]] = [[] for _ in channels]
            for row in rows:
                key = key_selector(row)
                part = known.get(key)
                if part is None:
                    if len(known) >= _REMEMBERED_KEYS:
                        known.clear()
                    part = known[key] = channel_of(key, len(parts), every)
                parts[part].append(row)
            for channel, part_rows in zip(channels, parts, strict=True):
                self._fill(channel, part_rows)

        return spread

    def _in_turn(self, channels: Sequence[int]) -> Spread:
        turns = cycle(channels)
        return lambda rows: self._fill(next(turns), rows)

    def _to_all(self, channels: Sequence[int], rows: Sequence[Row]) -> None:
        for channel in channels:
            self._fill(channel, rows)

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

    def broadcast(self, kind: Kind, checkpoint: int | None = None, order: bytes = b"") -> None:
        """Flush, then send a barrier, a cancellation or an end to every channel; `order`: a savepoint's."""
        self.flush()
        payload = b"" if checkpoint is None else pack_id(checkpoint) + order
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
