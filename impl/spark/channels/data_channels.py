"""The data channels of one worker: to its downstream subtasks, and from its upstream subtasks."""

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from impl.graph.plan import Subtask
from impl.graph.rescaling import Frames
from impl.spark.channels.credits import ChannelListener, CreditedChannel, pack_credits
from impl.spark.channels.frames import Connection, Kind
from impl.spark.channels.inbox import Inbox, InboxClosedError
from impl.spark.channels.listener import connect_to
from impl.spark.channels.messages import BarrierLeft, TaskFailed
from impl.spark.channels.outputs import Outputs
from impl.spark.channels.overtaking_channels import OvertakingOutputs
from impl.spark.channels.payloads import within_limit
from impl.spark.errors import ConnectionLostError, SparkRuntimeError
from impl.spark.worker.launch import Launch


class DataChannels:
    """The input and the output channels of a subtask. Input waits in the sockets until `restored`."""

    def __init__(self, launch: Launch, subtask: Subtask, upstream: Sequence[str], inbox: Inbox) -> None:
        self._launch = launch
        self._subtask = subtask
        self._upstream = tuple(upstream)
        self._inbox = inbox
        self._closed = threading.Event()
        self._restored = threading.Event()
        self._connected: dict[str, Connection] = {}
        self._connecting = threading.Lock()
        self._outputs: Outputs | None = None

    def connect(self, peers: Mapping[str, tuple[str, int]], restored: Frames) -> Outputs:
        """Open a channel to each of `peers`.

        `peers`: maps each downstream subtask to host and port. `restored`: maps it to the in-flight records
        of the restored checkpoint. Raises `HandshakeRefusedError` if a listener belongs to another attempt or
        job, `OSError` if nothing listens, `HandshakeTimeoutError` at the deadline of a handshake.
        """
        launch = self._launch
        channels = {
            peer: connect_to(
                address,
                launch.credentials,
                {"from": self._subtask.id, "to": peer},
                launch.execution.socket_buffer_bytes,
            )
            for peer, address in peers.items()
        }
        routes, execution = launch.plan.routes(self._subtask), launch.execution
        if not launch.overtakes:
            self._outputs = Outputs(channels, routes, execution.batch_rows, execution.max_parallelism)
            return self._outputs
        credited = {
            peer: CreditedChannel(
                connection,
                execution.channel_batches,
                [*within_limit(restored.get(peer, ()))],
                ChannelListener(self._inbox.wake, partial(self._lost, peer), partial(self._left, peer)),
            )
            for peer, connection in channels.items()
        }
        self._outputs = OvertakingOutputs(credited, routes, execution.batch_rows, execution.max_parallelism)
        return self._outputs

    def grant(self, channel: int, frames: int) -> None:
        """Let the sender of a channel send `frames` more frames of records."""
        connection = self._connected[self._upstream[channel]]
        try:
            connection.send(Kind.CREDIT, pack_credits(frames))
        except ConnectionLostError:
            return  # the sender has finished, or the thread that reads the connection reports the loss

    def accept(self, connection: Connection, hello: dict[str, Any]) -> None:
        """Begin to read a connection of an upstream subtask. Close any other and any repeated connection."""
        peer = str(hello.get("from"))
        with self._connecting:
            ours = hello.get("to") == self._subtask.id
            known = ours and peer in self._upstream and peer not in self._connected
            if known:
                self._connected[peer] = connection
        if not known or self._closed.is_set():
            connection.close()
            return
        threading.Thread(
            target=self._drain, args=(peer, connection), name=f"from {peer}", daemon=True
        ).start()

    def restored(self) -> None:
        """Let input into the inbox, because the subtask has restored its state."""
        self._restored.set()

    def cut(self) -> None:
        """Break every connection, like a network failure."""
        for connection in self._opened():
            connection.cut()

    def close(self) -> None:
        """Close every connection, and every connection that is opened later."""
        self._closed.set()
        self._restored.set()
        for connection in self._opened():
            connection.close()

    def _opened(self) -> list[Connection | Outputs]:
        with self._connecting:
            outputs = [] if self._outputs is None else [self._outputs]
            return [*self._connected.values(), *outputs]

    def _lost(self, peer: str, lost: SparkRuntimeError) -> None:
        self._inbox.post(TaskFailed(ConnectionLostError(f"the channel from {peer} broke: {lost}")))

    def _left(self, peer: str, checkpoint: int) -> None:
        self._inbox.post(BarrierLeft(checkpoint, peer))

    def _drain(self, peer: str, connection: Connection) -> None:
        """Read one channel into its queue until the end of the partition, or until the connection is lost."""
        channel = self._upstream.index(peer)
        kind = Kind.HANDSHAKE
        self._restored.wait()
        try:
            while kind is not Kind.END_OF_PARTITION:
                self._inbox.await_capacity(channel)
                kind, payload = connection.receive()
                self._inbox.put(channel, (kind, payload))
        except InboxClosedError:
            return  # the attempt is over
        except SparkRuntimeError as lost:
            self._lost(peer, lost)
