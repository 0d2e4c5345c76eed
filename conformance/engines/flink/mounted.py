"""Makes the folder of the checkpoints a separate small file system, which can become read-only or full.

The file system is mounted in a separate mount namespace, which one sleeping process keeps alive. The folder
is a link to the file system as that process sees it (`/proc/PID/root`). When the process ends, the mount
ends, and nothing is left on the machine. Without root, the mount needs a user namespace too.
"""

import errno
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from conformance.engines.engine import EngineSetUpError, Place, RoundError

MEGABYTES: Final = 64
"""The size of the file system in MiB."""
_SECONDS: Final = 10.0
"""Maximum time of a mount. The file system cannot become read-only while a file is open for writing."""
_WAIT: Final = 0.01
_MOUNT: Final = f'mount -t tmpfs -o size={MEGABYTES}m none "$0" && exec sleep infinity'
_BLOCK: Final = bytes(1 << 16)


class MountedFolder:
    """The mounted folder of the checkpoints. Raises EngineSetUpError where mounts are not permitted."""

    def __init__(self, place: Place) -> None:
        for program in ("unshare", "nsenter"):
            if shutil.which(program) is None:
                raise EngineSetUpError(f"expected the program {program}, got none; install util-linux")
        self._mount = place.folder.absolute() / "mounted"
        self._mount.mkdir()
        of_user = os.geteuid() != 0
        self._enter = ["--mount", *(["--user", "--preserve-credentials"] if of_user else [])]
        makes = ["--mount", "--propagation=private", *(["--user", "--map-root-user"] if of_user else [])]
        command = ["unshare", *makes, "sh", "-c", _MOUNT, str(self._mount)]
        sleeps = place.processes.start("mount", command)
        self._pid = sleeps.process.pid
        self._seen = Path(f"/proc/{self._pid}/root{self._mount}")
        until = time.monotonic() + _SECONDS
        while not _is_mounted(self._seen):
            if not sleeps.alive or time.monotonic() > until:
                raise EngineSetUpError(
                    "expected to mount a file system for the folder of the checkpoints, got: "
                    f"{sleeps.last_line()}; run as root (CAP_SYS_ADMIN), or permit user namespaces"
                )
            time.sleep(_WAIT)
        place.checkpoints.rmdir()
        place.checkpoints.symlink_to(self._seen)

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """Make the folder read-only within the block. Raises RoundError if it cannot be remounted."""
        self._remount("ro")
        try:
            yield
        finally:
            self._remount("rw")

    @contextmanager
    def full(self) -> Iterator[None]:
        """Keep the file system full within the block: space that Flink frees is filled again."""
        filler = self._seen / "filler"
        ends = threading.Event()
        with filler.open("wb", buffering=0) as file:
            _fill(file)
            fills = threading.Thread(target=_keep_full, args=(file, ends), daemon=True)
            fills.start()
            try:
                yield
            finally:
                ends.set()
                fills.join()
                filler.unlink()

    def _remount(self, how: str) -> None:
        mount = ["mount", "-o", f"remount,bind,{how}", str(self._mount)]
        command = ["nsenter", f"--target={self._pid}", *self._enter, *mount]
        until = time.monotonic() + _SECONDS
        while (done := subprocess.run(command, capture_output=True)).returncode != 0:
            if time.monotonic() > until:
                raise RoundError(f"expected to remount the checkpoints {how}, got: {done.stderr.decode()}")
            time.sleep(_WAIT)


def _keep_full(file: BinaryIO, ends: threading.Event) -> None:
    while not ends.wait(_WAIT):
        _fill(file)


def _is_mounted(folder: Path) -> bool:
    """Whether the folder is a mount point; False if the sleeping process has ended."""
    try:
        return folder.is_mount()
    except OSError:
        return False


def _fill(file: BinaryIO) -> None:
    """Write until no space is left."""
    try:
        while True:
            file.write(_BLOCK)
    except OSError as full:
        if full.errno != errno.ENOSPC:
            raise
