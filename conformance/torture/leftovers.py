"""Finds resources that an ended run must not leave behind: unused files, threads, sockets, stopped processes.

Workers of an ended attempt have some seconds to notice its end. Files are checked once, after this time.
"""

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import psutil

from conformance.torture.account import places_of
from impl.connectors.manifests import list_committed
from impl.state import CheckpointStorage, SnapshotCorruptError
from impl.state.locations import Location, location_of

PATIENCE_SECONDS = 15.0
_KEPT = ("claims", "manifests", "progress")
"""Folders whose files belong to the output."""
_RUNTIME_THREADS = re.compile(
    r"listener|handshake|from |channel|control|heartbeat|snapshot|barrierspec-attempt-"
)


def left_behind(folder: Path, retained: int, root: psutil.Process, *servers: int) -> list[str]:
    """The resources that the run in `folder` has left behind, one line each.

    `retained`: the number of checkpoints that may remain. `root`: the process from which the processes of the
    run descend. `servers`: ids of processes that may remain.
    """
    return [*lasting(lambda: [*threads(), *_processes(root, servers)]), *files(folder, retained)]


def files(folder: Path, retained: int) -> Iterator[str]:
    """Yield files of checkpoints and output that no complete checkpoint or manifest lists."""
    checkpoints, output = places_of(folder)
    storage = CheckpointStorage(checkpoints)
    latest = storage.latest_completed()
    damaged = {one.checkpoint for one in latest.refused}
    kept = 0
    for directory in sorted(one for one in storage.location.folders() if one.startswith("chk-")):
        checkpoint = int(directory[4:])
        try:
            listed = {Path(one.file).name for one in storage.load(checkpoint).handles.values()}
        except FileNotFoundError:
            yield f"{directory}: a checkpoint that was never complete"
            continue
        except SnapshotCorruptError:
            damaged.add(checkpoint)
            continue  # the runtime keeps a damaged checkpoint for inspection
        kept += 1
        strange = {*storage.location.sizes(directory)} - listed - {"_metadata"}
        yield from (f"{directory}/{name}: not of the checkpoint" for name in sorted(strange))
    if kept > retained:
        yield f"{kept} checkpoints, {retained} are to be retained"
    committed = location_of(output)
    if committed.folders():
        yield from _output(committed, taken_back=bool(damaged))


def _output(committed: Location, *, taken_back: bool) -> Iterator[str]:
    listed = {one.file for manifest in list_committed(committed) for one in manifest.files}
    kept = (*_KEPT, "retracted") if taken_back else _KEPT
    for folder in committed.folders():
        for one in sorted(committed.sizes(folder)):
            if folder not in kept and f"{folder}/{one}" not in listed:
                yield f"committed/{folder}/{one}: not of the output"
            if one.startswith(".") and one.endswith(".tmp"):
                yield f"{one}: a temporary name"
    scratch = committed.working().glob("data/.*")
    yield from (f"{path}: rows of an ended attempt on this host" for path in scratch)


def threads() -> Iterator[str]:
    """Yield threads of the driver that belong to an attempt."""
    for thread in threading.enumerate():
        if _RUNTIME_THREADS.match(thread.name):
            yield f"thread {thread.name!r} of the driver"


def _processes(root: psutil.Process, servers: Collection[int]) -> Iterator[str]:
    """Yield workers that are stopped or listen on a port, although no attempt runs."""
    for process in root.children(recursive=True):
        try:
            ends = process.name() == "java" or process.status() == psutil.STATUS_ZOMBIE
            if ends or process.pid in servers:
                continue
            if process.status() == psutil.STATUS_STOPPED:
                yield f"process {process.pid} is stopped"
            for socket in process.net_connections("inet"):
                if socket.status == psutil.CONN_LISTEN and not _is_daemon(process):
                    yield f"process {process.pid} listens on port {socket.laddr.port}"
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue  # the process has just ended


def _is_daemon(process: psutil.Process) -> bool:
    """Whether the process is Spark's daemon of Python workers, which always listens for Spark."""
    parent = process.parent()
    return parent is not None and parent.name() == "java"


def lasting(look: Callable[[], list[str]], seconds: float = PATIENCE_SECONDS) -> list[str]:
    """Call `look` until it finds nothing, for at most this time. Returns its last findings."""
    until = time.monotonic() + seconds
    while (found := look()) and time.monotonic() < until:
        time.sleep(0.05)
    return found
