"""The driver's side of the control channel: one authenticated connection to each worker of an attempt.

One queue has the reports of all workers. The reports of one worker keep their order. A lost connection is a
report, too. If the connection to a worker is lost, commands to it are ignored, because the loss ends the
attempt.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from impl.spark.channels.frames import Connection
from impl.spark.channels.handshake import Credentials
from impl.spark.channels.listener import HandshakeLimits, Listener
from impl.spark.channels.messages import Command, Disconnected, Report, pack_message, unpack_report
from impl.spark.errors import ConnectionLostError, SparkRuntimeError

Send: TypeAlias = Callable[[str, Command], None]
"""A function that sends a command to a task."""
_BUFFER_BYTES = 262_144
_REFUSED_KEPT = 32
"""The maximum number of kept errors of refused connections. Newer errors replace older ones."""


class Workers:
    """The control connections of one attempt, by task."""

    def __init__(self, host: str, credentials: Credentials, tasks: Sequence[str]) -> None:
        self._tasks = tuple(tasks)
        self._connections: dict[str, Connection] = {}
        self._changing = threading.Lock()
        self._closed = False
        self._reports: queue.SimpleQueue[tuple[str, Report]] = queue.SimpleQueue()
        self.refused: deque[str] = deque(maxlen=_REFUSED_KEPT)
        self._listener = Listener(
            host,
            credentials,
            self._accept,
            lambda refusal: self.refused.append(str(refusal)),
            _BUFFER_BYTES,
            HandshakeLimits.beside(len(self._tasks)),
        )
        self.host, self.port = self._listener.host, self._listener.port

    def _accept(self, connection: Connection, hello: dict[str, Any]) -> None:
        task = str(hello.get("task"))
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
                self._reports.put((task, unpack_report(connection.receive_message())))
        except SparkRuntimeError as lost:
            self._reports.put((task, Disconnected(str(lost))))

    def receive(self, seconds: float) -> tuple[str, Report] | None:
        """The next report and its task; None if none arrives within `seconds`."""
        try:
            return self._reports.get(timeout=max(seconds, 0.0))
        except queue.Empty:
            return None

    def send(self, task: str, command: Command) -> None:
        """Send `command` to a task, if it is connected."""
        connection = self._connections.get(task)
        if connection is None:
            return
        try:
            connection.send_message(pack_message(command))
        except ConnectionLostError:
            return  # the thread that reads the connection reports the loss, which ends the attempt

    def close(self) -> None:
        """Close every connection. Each worker then ends its part of the attempt."""
        with self._changing:
            self._closed = True
            connections = list(self._connections.values())
        self._listener.close()
        for connection in connections:
            connection.close()
