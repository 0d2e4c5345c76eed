"""A proxy in front of a broker. It can disconnect all clients, and refuse new connections for some time."""

import contextlib
import socket
import struct
import threading
from typing import Final, Self

_RESETS: Final = struct.pack("ii", 1, 0)
_PIECE: Final = 1 << 16


class BrokerProxy:
    """A proxy on loopback. `target`: the broker's port. As a context manager it ends with the block."""

    def __init__(self, target: int | None = None) -> None:
        self.target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._changing = threading.Lock()
        self._open: set[socket.socket] = set()
        self._refuses = False
        self.disconnected = 0
        """The number of client connections that were cut."""
        threading.Thread(target=self._accept, name="broker proxy", daemon=True).start()

    def disconnect(self) -> None:
        """Cut every connection, and refuse new ones."""
        with self._changing:
            self._refuses = True
            self.disconnected += len(self._open) // 2
            for one in self._open:
                _reset(one)

    def connect(self) -> None:
        """Let clients connect again."""
        with self._changing:
            self._refuses = False

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._serve(client)

    def _serve(self, client: socket.socket) -> None:
        with self._changing:
            if self._refuses or self.target is None:
                _reset(client)
                return
            try:
                broker = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                _reset(client)
                return
            self._open |= {client, broker}
        for source, sink in ((client, broker), (broker, client)):
            threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(_PIECE):
                sink.sendall(piece)
        with self._changing:
            for one in (source, sink):
                self._open.discard(one)
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        """Accept no more clients, and cut every connection."""
        self._listener.close()
        self.disconnect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


def _reset(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETS)
        connection.shutdown(socket.SHUT_RDWR)
        connection.close()
