"""Files that several checkpoints share: written once, and deleted when none refers to them any more.

    shared/count-0.3.5f0c22a97b1d4e80      written by attempt 3 of count-0

What refers to a file are the manifests of the completed checkpoints. One that is still being taken may count
on a file that no manifest names: because it has just written it, or because its base is subsumed meanwhile.
So a file goes only if it is unreferenced at two completions in a row; and should a checkpoint come so late
that a file is gone all the same, its publication fails, which loses that checkpoint and nothing else.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Collection
from pathlib import Path
from typing import Final, NamedTuple

from impl.state.durable import make_directory, remove_file, sync_directory
from impl.state.errors import SnapshotCorruptError, StorageError

FOLDER: Final = "shared"
_CHUNK: Final = 1 << 20
_NAME: Final = re.compile(r"\.?[A-Za-z0-9_-]+\.([0-9]{1,18})\.[0-9a-f]+(\.tmp)?")


class SharedFile(NamedTuple):
    """One file, and how to tell that it is unaltered."""

    file: str
    """Relative to the directory of the job."""
    size: int
    """In bytes."""
    checksum: str
    """Hexadecimal blake2b, over the whole file."""


class SharedFiles:
    """Those below the checkpoint folder `directory`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._unreferenced: set[str] = set()

    def add(self, source: Path, task: str, attempt: int) -> SharedFile:
        """Copy a file there, durably, under a name of its own."""
        name = f"{task}.{attempt}.{secrets.token_hex(8)}"
        target = self._directory / FOLDER / name
        temporary = target.with_name(f".{name}.tmp")
        make_directory(target.parent)
        digest, size = hashlib.blake2b(digest_size=32), 0
        try:
            with source.open("rb") as there, temporary.open("wb") as here:
                while chunk := there.read(_CHUNK):
                    digest.update(chunk)
                    size += here.write(chunk)
                here.flush()
                os.fsync(here.fileno())
            os.replace(temporary, target)
        except OSError as cause:
            remove_file(temporary)
            raise StorageError.of("sharing", target, cause) from cause
        sync_directory(target.parent)
        return SharedFile(f"{FOLDER}/{name}", size, digest.hexdigest())

    @property
    def any(self) -> bool:
        """Whether there ever was one."""
        return (self._directory / FOLDER).is_dir()

    def require(self, one: SharedFile) -> None:
        """Raise `SnapshotCorruptError` unless a file of that size is there."""
        path = self._directory / one.file
        came = f"{path.stat().st_size} bytes" if path.is_file() else "no file"
        if came != f"{one.size} bytes":
            raise SnapshotCorruptError(one.file, f"a file of {one.size} bytes", came)

    def verify(self, one: SharedFile) -> Path:
        """The file, every byte of it compared; `SnapshotCorruptError` if it is torn or altered."""
        self.require(one)
        path = self._directory / one.file
        digest = hashlib.blake2b(digest_size=32)
        try:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
        except OSError as cause:
            raise StorageError.of("reading", path, cause) from cause
        if digest.hexdigest() != one.checksum:
            raise SnapshotCorruptError(one.file, f"checksum {one.checksum}", digest.hexdigest())
        return path

    def collect(self, referenced: Collection[str]) -> tuple[str, ...]:
        """A checkpoint has completed: delete what was unreferenced then and is now; answers the files."""
        unreferenced = set(self._files()) - set(referenced)
        gone = sorted(self._unreferenced & unreferenced)
        for name in gone:
            remove_file(self._directory / name)
        self._unreferenced = unreferenced - set(gone)
        return tuple(gone)

    def sweep(self, referenced: Collection[str], attempt: int) -> tuple[str, ...]:
        """Delete what attempts before `attempt` have left and nothing refers to; answers the files."""
        left = []
        for name in self._files():
            match = _NAME.fullmatch(Path(name).name)
            if match is not None and int(match.group(1)) < attempt and name not in referenced:
                remove_file(self._directory / name)
                left.append(name)
        return tuple(left)

    def _files(self) -> list[str]:
        return sorted(f"{FOLDER}/{path.name}" for path in (self._directory / FOLDER).glob("*"))
