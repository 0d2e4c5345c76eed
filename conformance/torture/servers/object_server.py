"""An object store with the protocol of S3, for tests and campaigns: the server of `moto`, on loopback.

It keeps all objects in memory. Like Amazon S3, it refuses a write whose condition does not hold.
"""

import importlib.util
import subprocess
import sys
import urllib.request
from typing import Final, Self

from conformance.torture.servers.loopback import free_port, listens

BUCKET: Final = "barrierspec"
_START_SECONDS: Final = 60.0


class ObjectServerNotFoundError(Exception):
    """No object store is installed, or it does not start."""


class ObjectServer:
    """One running server with an empty bucket. As a context manager it is stopped at the end of the block.

    Raises ObjectServerNotFoundError.
    """

    def __init__(self) -> None:
        if importlib.util.find_spec("moto") is None or importlib.util.find_spec("flask") is None:
            raise ObjectServerNotFoundError(
                "no object store to start: pip install 'moto[s3]' flask flask-cors"
            )
        self._port = free_port()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self._port)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            if not listens(self._process, self._port, _START_SECONDS):
                raise ObjectServerNotFoundError(
                    "the server of moto does not start; run `python -m moto.server`"
                )
            bucket = urllib.request.Request(f"{self.endpoint}/{BUCKET}", method="PUT")
            urllib.request.urlopen(bucket, timeout=_START_SECONDS).close()
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """The id of the server's process."""
        return self._process.pid

    @property
    def endpoint(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which a process finds the server."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
        }

    def uri(self, prefix: str) -> str:
        """The URI of a place in its bucket."""
        return f"s3://{BUCKET}/{prefix}"

    def stop(self) -> None:
        """Kill the server."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()
