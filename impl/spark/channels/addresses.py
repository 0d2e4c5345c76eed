"""The address of this process for other processes of a job. It is loopback if all of them run on one host.

A master is a master URL of Spark, such as `local[N]`, `local-cluster[...]` or `spark://host:port`. For Spark
Connect it is `sc://host:port` for a running server, or `sc:local[N]` for a server that the session starts.
"""

import socket
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
_CONNECT = "sc:"


def is_connect(master: str) -> bool:
    """Whether the session connects to `master` by Spark Connect."""
    return master.startswith(_CONNECT)


def is_local(master: str) -> bool:
    """Whether all workers of `master` run on this host, and the session starts Spark itself."""
    return master.removeprefix(_CONNECT).startswith("local")


def connect_remote(master: str) -> str:
    """The argument for the method `remote` of Spark's session builder, for a Connect session."""
    return master if master.startswith("sc://") else master.removeprefix(_CONNECT)


def own_address(master: str) -> str | None:
    """The address at which the workers of `master` can connect to this process; None if it is not known."""
    if is_local(master):
        return LOOPBACK
    parts = urlsplit(master.split(",")[0])
    if parts.scheme not in ("sc", "spark") or parts.hostname is None:
        return None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as route:
        route.connect((parts.hostname, parts.port or 1))  # a UDP connect sends nothing, it chooses a route
        address: str = route.getsockname()[0]
    return address
