"""The driver's side of the control channel: one authenticated connection to each worker of an attempt.

What the workers say comes out of one queue, in the order of arrival for each worker; a connection that is
lost says so there too. What is said to a worker that is gone is dropped: the loss ends the attempt.
"""

import queue
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

from impl.spark.channels.frames import Connection
from impl.spark.channels.listener import Door, HandshakeLimits
from impl.spark.errors import ConnectionLostError, SparkRuntimeError

Message = dict[str, Any]
_BUFFER_BYTES = 262_144
_REFUSED_KEPT = 32
"""Of the connections that were refused, the reasons of the last ones."""


class Workers:
    """The control connections of one attempt, by task."""

    def __init__(self, host: str, secret: bytes, attempt: int, tasks: Sequence[str]) -> None:
        self._tasks = tuple(tasks)
        self._connections: dict[str, Connection] = {}
        self._changing = threading.Lock()
        self._closed = False
        self._said: queue.SimpleQueue[tuple[str, Message]] = queue.SimpleQueue()
        self.refused: deque[str] = deque(maxlen=_REFUSED_KEPT)
        limits = HandshakeLimits.beside(len(self._tasks))
        self._door = Door(
            host,
            secret,
            attempt,
            self._welcome,
            lambda refusal: self.refused.append(str(refusal)),
            _BUFFER_BYTES,
            limits,
        )
        self.host, self.port = self._door.host, self._door.port

    def _welcome(self, connection: Connection, claim: Message) -> None:
        task = str(claim.get("task"))
        with self._changing:
            known = task in self._tasks and task not in self._connections and not self._closed
            if known:
                self._connections[task] = connection
        if not known:
            connection.close()
            return
        threading.Thread(target=self._read, args=(task, connection), name=f"from {task}", daemon=True).start()

    def _read(self, task: str, connection: Connection) -> None:
        try:
            while True:
                self._said.put((task, connection.hear()))
        except SparkRuntimeError as lost:
            self._said.put((task, {"say": "lost", "why": str(lost)}))

    def hear(self, seconds: float) -> tuple[str, Message] | None:
        """The next message and who said it; None if nobody speaks within `seconds`."""
        try:
            return self._said.get(timeout=max(seconds, 0.0))
        except queue.Empty:
            return None

    def say(self, task: str, message: Message) -> None:
        """Send `message` to a task, if it is still there."""
        connection = self._connections.get(task)
        if connection is None:
            return
        try:
            connection.say(message)
        except ConnectionLostError:
            return  # its reader has reported the loss, which ends the attempt

    def close(self) -> None:
        """Hang up on everybody: workers take that for the end of their attempt."""
        with self._changing:
            self._closed = True
            connections = list(self._connections.values())
        self._door.close()
        for connection in connections:
            connection.close()
