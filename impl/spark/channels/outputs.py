"""The outputs of a subtask: a buffer of rows for each downstream subtask, and barriers to all of them.

Rows that were emitted before a barrier are sent before it (TASK-01), because `broadcast` first sends the
buffered rows. Single rows wait for other rows in a buffer, but an Arrow batch is sent at once. A sink
declares the schema of its rows, so a subtask that sends to a sink converts rows to columns. The plan states
how the rows of each edge are distributed (`partitioners`). Barriers and ends of data are sent to every
channel of every edge.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import pyarrow as pa

from impl.batches import Rows, batch_of
from impl.graph.plan import Route, Row
from impl.metrics import WaitingTime
from impl.spark.channels.frames import MAX_PAYLOAD, Kind, pack_id
from impl.spark.channels.partitioners import partitioner
from impl.spark.channels.payloads import payloads_of
from impl.state.backends.key_groups import DEFAULT_MAX_PARALLELISM

_LARGEST_BATCH: Final = MAX_PAYLOAD // 4


class Channel(Protocol):
    """One channel to a downstream subtask."""

    def send(self, kind: Kind, payload: bytes = b"") -> None:
        """Send one frame, in order."""

    def cut(self) -> None:
        """Break the connection."""

    def close(self) -> None:
        """Close the connection."""


class Outputs:
    """The output channels of one subtask, by the ids of their downstream subtasks.

    `routes`: the edges out of the subtask. Every row is sent along each edge.
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
        self._buffers: list[list[Row]] = [[] for _ in self._names]
        self._sent = [0] * len(self._names)
        self.emitted = 0
        """The number of rows emitted in this attempt, each counted once."""
        self.backpressured = WaitingTime()
        """The time for which sends have waited. A caller uses it for its own waits, too."""
        self._schemas = {name: route.schema for route in routes for name in route.receivers}
        self._partitioners = tuple(
            partitioner(route, [*map(self._names.index, route.receivers)], max_parallelism, self._fill)
            for route in routes
        )

    def emit(self, rows: Rows) -> None:
        """Send `rows`. They may wait in a buffer until it is full or flushed, or until a barrier follows."""
        self.emitted += len(rows)
        for partition in self._partitioners:
            partition(rows)

    def _fill(self, channel: int, rows: Rows) -> None:
        if isinstance(rows, pa.RecordBatch):
            self._ship(channel)
            for start in range(0, rows.num_rows, self._batch_rows):
                self._send(channel, rows.slice(start, self._batch_rows))
            return
        buffer = self._buffers[channel]
        buffer.extend(rows)
        if len(buffer) >= self._batch_rows:
            self._ship(channel)

    def _ship(self, channel: int) -> None:
        buffer = self._buffers[channel]
        for start in range(0, len(buffer), self._batch_rows):
            self._send(channel, buffer[start : start + self._batch_rows])
        self._buffers[channel] = []

    def _send(self, channel: int, rows: Rows) -> None:
        travelling = _as_columns(rows, self._schemas[self._names[channel]])
        for payload in payloads_of(travelling):
            with self.backpressured:
                self._connections[channel].send(Kind.RECORDS, payload)
        self._sent[channel] += len(rows)

    def flush(self) -> None:
        """Send all rows that wait in the buffers."""
        for channel, buffer in enumerate(self._buffers):
            if buffer:
                self._ship(channel)

    def broadcast(self, kind: Kind, checkpoint: int | None = None, options: bytes = b"") -> None:
        """Flush, then send a barrier, a cancellation marker or an end of data to every channel.

        `options`: the packed options of a savepoint; empty for a checkpoint.
        """
        self.flush()
        payload = b"" if checkpoint is None else pack_id(checkpoint) + options
        with self.backpressured:
            for connection in self._connections:
                connection.send(kind, payload)

    def sent(self) -> dict[str, int]:
        """The number of rows emitted to each channel in this attempt, including rows in buffers."""
        waiting = (len(buffer) for buffer in self._buffers)
        return {name: sent + left for name, sent, left in zip(self._names, self._sent, waiting, strict=True)}

    @property
    def is_available(self) -> bool:
        """Whether the subtask may emit rows. Always True here, because `emit` waits for a full channel."""
        return True

    def drain(self) -> None:
        """Wait until all frames are sent. Does nothing here, because sends do not return before."""

    def cut(self) -> None:
        """Break every connection."""
        for connection in self._connections:
            connection.cut()

    def close(self) -> None:
        """Close every channel."""
        for connection in self._connections:
            connection.close()


def _as_columns(rows: Rows, schema: pa.Schema | None) -> Rows:
    """Rows for a sink as columns. Rows that do not fit `schema` stay unchanged; the sink raises an error."""
    if not schema or isinstance(rows, pa.RecordBatch):
        return rows
    try:
        batch = batch_of(rows, schema)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return rows
    return batch if batch.nbytes <= _LARGEST_BATCH else rows  # a pickle stores a value of many rows once
