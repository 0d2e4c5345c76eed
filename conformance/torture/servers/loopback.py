"""Finds a free port of loopback for a server, and waits until the server listens on it."""

import socket
import subprocess
import time


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def listens(server: "subprocess.Popen[bytes]", port: int, seconds: float) -> bool:
    """Wait until the process listens on the port. Returns False if it ends first, or after `seconds`."""
    until = time.monotonic() + seconds
    while server.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return True
    return False
