"""The data channels of one worker: those it opens to its downstream subtasks, and those that come to it."""

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from impl.graph.plan import Subtask
from impl.spark.channels.credits import CreditedChannel, pack_credits
from impl.spark.channels.frames import Connection, Kind
from impl.spark.channels.inbox import Inbox, InboxClosedError
from impl.spark.channels.listener import knock
from impl.spark.channels.outputs import Outputs
from impl.spark.channels.payloads import within_limit
from impl.spark.channels.unaligned import OvertakingOutputs
from impl.spark.errors import ConnectionLostError, SparkRuntimeError
from impl.spark.snapshots.in_flight import Frames
from impl.spark.worker.launch import Launch


class DataChannels:
    """Both ends. `over`: the attempt has ended; `restored`: what comes may be read now."""

    def __init__(
        self,
        launch: Launch,
        subtask: Subtask,
        upstream: Sequence[str],
        inbox: Inbox,
        over: threading.Event,
        restored: threading.Event,
    ) -> None:
        self._launch = launch
        self._subtask = subtask
        self._upstream = tuple(upstream)
        self._inbox = inbox
        self._over = over
        self._restored = restored
        self._connected: dict[str, Connection] = {}
        self._connecting = threading.Lock()
        self._outputs: Outputs | None = None

    def connect(self, peers: Mapping[str, tuple[str, int]], restored: Frames) -> Outputs:
        """Open a channel to each downstream subtask. `restored`: what was in flight there."""
        launch = self._launch
        channels = {
            peer: knock(
                host,
                port,
                launch.secret,
                launch.attempt,
                {"from": self._subtask.id, "to": peer},
                launch.execution.socket_buffer_bytes,
            )
            for peer, (host, port) in peers.items()
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
                self._inbox.wake,
                partial(self._lost, peer),
                partial(self._left, peer),
            )
            for peer, connection in channels.items()
        }
        self._outputs = OvertakingOutputs(credited, routes, execution.batch_rows, execution.max_parallelism)
        return self._outputs

    def grant(self, channel: int, frames: int) -> None:
        """The sender of a channel may send so many frames of records more."""
        connection = self._connected[self._upstream[channel]]
        try:
            connection.send(Kind.CREDIT, pack_credits(frames))
        except ConnectionLostError:
            return  # it has finished, or its reader has noticed too

    def welcome(self, connection: Connection, claim: dict[str, Any]) -> None:
        """Somebody has come to the door: an upstream subtask, once, or nobody we know."""
        peer = str(claim.get("from"))
        with self._connecting:
            ours = claim.get("to") == self._subtask.id
            known = ours and peer in self._upstream and peer not in self._connected
            if known:
                self._connected[peer] = connection
        if not known or self._over.is_set():
            connection.close()
            return
        threading.Thread(
            target=self._drain, args=(peer, connection), name=f"from {peer}", daemon=True
        ).start()

    def cut(self) -> None:
        """Every connection breaks, as if the network had lost it."""
        with self._connecting:
            connected = list(self._connected.values())
        for connection in connected:
            connection.cut()
        if self._outputs:
            self._outputs.cut()

    def close(self) -> None:
        """Close all of them."""
        with self._connecting:
            connected = list(self._connected.values())
        for connection in connected:
            connection.close()
        if self._outputs:
            self._outputs.close()

    def _lost(self, peer: str, lost: SparkRuntimeError) -> None:
        self._inbox.post({"do": "channel_lost", "peer": peer, "why": str(lost)})

    def _left(self, peer: str, checkpoint: int) -> None:
        self._inbox.post({"do": "left", "peer": peer, "checkpoint": checkpoint})

    def _drain(self, peer: str, connection: Connection) -> None:
        """Read one channel into its bounded queue; while that is full nothing is read: the sender stops."""
        channel = self._upstream.index(peer)
        kind = Kind.HANDSHAKE
        self._restored.wait()
        try:
            while kind is not Kind.END_OF_PARTITION:
                self._inbox.await_room(channel)
                kind, payload = connection.receive()
                self._inbox.put(channel, (kind, payload))
        except InboxClosedError:
            return  # the attempt is over
        except SparkRuntimeError as lost:
            self._inbox.post({"do": "channel_lost", "peer": peer, "why": str(lost)})
