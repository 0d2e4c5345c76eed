"""Resources that an ended run must not leave behind: unused files, threads, sockets, stopped processes.

Workers of an ended attempt have a few seconds to notice its end; files are checked once, after that.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from impl.connectors.manifests import list_committed
from impl.state import CheckpointStorage, SnapshotCorruptError

PATIENCE_SECONDS = 15.0
_KEPT = ("claims", "manifests", "progress")
"""Folders whose files belong to the output."""
_OURS = re.compile(r"door|greeting|from |channel|control|heartbeat|snapshot|barrierspec-attempt-")


def left_behind(folder: Path, retained: int, root: psutil.Process) -> list[str]:
    """Everything that the run in `folder` has left behind; its processes are descendants of `root`."""
    return [*lasting(lambda: [*_threads(), *_processes(root)]), *files(folder, retained)]


def files(folder: Path, retained: int) -> Iterator[str]:
    """Files of checkpoints and output that no complete checkpoint or manifest lists."""
    storage = CheckpointStorage(folder / "checkpoints")
    latest = storage.latest_completed()
    damaged = {one.checkpoint for one in latest.refused}
    kept = 0
    for directory in sorted((folder / "checkpoints").glob("chk-*")):
        checkpoint = int(directory.name[4:])
        try:
            listed = {Path(one.file).name for one in storage.load(checkpoint).handles.values()}
        except FileNotFoundError:
            yield f"{directory.name}: a checkpoint that was never complete"
            continue
        except SnapshotCorruptError:
            damaged.add(checkpoint)
            continue  # kept for inspection
        kept += 1
        strange = {path.name for path in directory.iterdir()} - listed - {"_metadata"}
        yield from (f"{directory.name}/{name}: not of the checkpoint" for name in sorted(strange))
    if kept > retained:
        yield f"{kept} checkpoints, {retained} are to be retained"
    if (folder / "committed").is_dir():
        yield from _output(folder / "committed", taken_back=bool(damaged))


def _output(committed: Path, *, taken_back: bool) -> Iterator[str]:
    listed = {one.file for manifest in list_committed(committed) for one in manifest.files}
    for path in sorted(committed.rglob("*")):
        name = str(path.relative_to(committed))
        if path.is_dir() or name in listed or path.parent.name in _KEPT or path.name == "schema.arrow":
            continue
        if path.parent.name == "retracted" and taken_back:
            continue
        yield f"committed/{name}: not of the output"
    yield from (f"{one.name}: a temporary name" for one in committed.rglob(".*.tmp"))


def _threads() -> Iterator[str]:
    """Threads of the driver that belong to an attempt."""
    for thread in threading.enumerate():
        if _OURS.match(thread.name):
            yield f"thread {thread.name!r} of the driver"


def _processes(root: psutil.Process) -> Iterator[str]:
    """Workers that are stopped, or still listen, although no attempt runs."""
    for process in root.children(recursive=True):
        try:
            if process.name() == "java" or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if process.status() == psutil.STATUS_STOPPED:
                yield f"process {process.pid} is stopped"
            for socket in process.net_connections("inet"):
                if socket.status == psutil.CONN_LISTEN and not _is_daemon(process):
                    yield f"process {process.pid} listens on port {socket.laddr.port}"
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue  # it has just ended


def _is_daemon(process: psutil.Process) -> bool:
    """Spark's daemon always listens for Spark, and so do idle workers."""
    parent = process.parent()
    return parent is not None and parent.name() == "java"


def lasting(look: Callable[[], list[str]], seconds: float = PATIENCE_SECONDS) -> list[str]:
    """What `look` still finds after `seconds`; returns at once when it finds nothing."""
    until = time.monotonic() + seconds
    while (found := look()) and time.monotonic() < until:
        time.sleep(0.05)
    return found
