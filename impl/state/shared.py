"""Files to which several checkpoints refer: written once, deleted when no checkpoint refers to them.

    shared/count-0.3.5f0c22a97b1d4e80      written by attempt 3 of count-0

The manifests of the completed checkpoints refer to these files. A checkpoint that is not complete may need a
file that no manifest lists: it has written the file itself, or its base was subsumed. A file is therefore
deleted only if no manifest lists it at two completions in a row. If a later checkpoint still needs it, its
publication fails, and only that checkpoint is lost.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Collection
from pathlib import Path
from typing import Final, NamedTuple

from impl.state.durable import make_directory, remove_file, sync
from impl.state.errors import SnapshotCorruptError, storage_errors

FOLDER: Final = "shared"
_CHUNK: Final = 1 << 20
_NAME: Final = re.compile(r"\.?[A-Za-z0-9_-]+\.([0-9]{1,18})\.[0-9a-f]+(\.tmp)?")


def digest_of(path: Path) -> str:
    """The blake2b checksum of a whole file, hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


class SharedFile(NamedTuple):
    """One file and its checksum."""

    file: str
    """Relative to the directory of the job."""
    size: int
    """In bytes."""
    checksum: str
    """Hexadecimal blake2b, over the whole file."""


class SharedFiles:
    """The shared files of the checkpoint folder `directory`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._unreferenced: set[str] = set()

    def add(self, source: Path, task: str, attempt: int) -> SharedFile:
        """Copy a file into the folder, durably, under a new name. Raises StorageError if the disk refuses."""
        name = f"{task}.{attempt}.{secrets.token_hex(8)}"
        target = self._directory / FOLDER / name
        temporary = target.with_name(f".{name}.tmp")
        make_directory(target.parent)
        digest, size = hashlib.blake2b(digest_size=32), 0
        with storage_errors("sharing", target):
            try:
                with source.open("rb") as there, temporary.open("wb") as here:
                    while chunk := there.read(_CHUNK):
                        digest.update(chunk)
                        size += here.write(chunk)
                    here.flush()
                    os.fsync(here.fileno())
                temporary.replace(target)
            except OSError:
                remove_file(temporary)
                raise
        sync(target.parent)
        return SharedFile(f"{FOLDER}/{name}", size, digest.hexdigest())

    @property
    def any(self) -> bool:
        """Whether the folder exists."""
        return (self._directory / FOLDER).is_dir()

    def require(self, one: SharedFile) -> None:
        """Raise SnapshotCorruptError unless the file exists with its size."""
        path = self._directory / one.file
        came = f"{path.stat().st_size} bytes" if path.is_file() else "no file"
        if came != f"{one.size} bytes":
            raise SnapshotCorruptError(one.file, f"a file of {one.size} bytes", came)

    def verify(self, one: SharedFile) -> Path:
        """The path of the file, verified. Raises SnapshotCorruptError if it is missing or was altered."""
        self.require(one)
        path = self._directory / one.file
        with storage_errors("reading", path):
            found = digest_of(path)
        if found != one.checksum:
            raise SnapshotCorruptError(one.file, f"checksum {one.checksum}", found)
        return path

    def collect(self, referenced: Collection[str]) -> tuple[str, ...]:
        """A checkpoint has completed: delete the files unreferenced now and at the last call.

        Returns them.
        """
        unreferenced = set(self._files()) - set(referenced)
        gone = sorted(self._unreferenced & unreferenced)
        for name in gone:
            remove_file(self._directory / name)
        self._unreferenced = unreferenced - set(gone)
        return tuple(gone)

    def sweep(self, referenced: Collection[str], attempt: int) -> tuple[str, ...]:
        """Delete the unreferenced files of attempts before `attempt`; returns them."""
        left = []
        for name in self._files():
            match = _NAME.fullmatch(Path(name).name)
            if match is not None and int(match.group(1)) < attempt and name not in referenced:
                remove_file(self._directory / name)
                left.append(name)
        return tuple(left)

    def _files(self) -> list[str]:
        return sorted(f"{FOLDER}/{path.name}" for path in (self._directory / FOLDER).glob("*"))
