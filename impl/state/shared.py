"""Files to which several checkpoints refer. They are deleted when no checkpoint refers to them.

    shared/count-0.3.5f0c22a97b1d4e80      a file that task count-0 has written in attempt 3

The manifests of the completed checkpoints refer to these files. A pending checkpoint may need a file that no
manifest lists: the pending checkpoint has written the file, or the checkpoint that listed it was subsumed. A
file is therefore deleted only if no manifest lists it at two completions in a row. If a later checkpoint
still needs it, the publication of this checkpoint fails, and only this checkpoint is lost.
"""

import re
import secrets
from collections.abc import Collection
from pathlib import Path
from typing import Final, NamedTuple

from impl.state.digests import digest_of
from impl.state.errors import SnapshotCorruptError, storage_errors
from impl.state.locations import Location

FOLDER: Final = "shared"
_NAME: Final = re.compile(r"\.?[A-Za-z0-9_-]+\.([0-9]{1,18})\.[0-9a-f]+((\.[0-9a-f]{8})?\.tmp)?")


class SharedFile(NamedTuple):
    """One file and its checksum."""

    file: str
    """The name, relative to the folder of the checkpoints or of the savepoint."""
    size: int
    """The size, in bytes."""
    checksum: str
    """The blake2b checksum of the whole file, hexadecimal."""


class SharedFiles:
    """The shared files of a checkpoint folder or of a savepoint."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._unreferenced: set[str] = set()

    def add(self, source: Path, task: str, attempt: int) -> SharedFile:
        """Copy a file into the folder, durably, under a new name. Raises StorageError if that fails."""
        name = f"{FOLDER}/{task}.{attempt}.{secrets.token_hex(8)}"
        return SharedFile(name, *self._location.add(name, source))

    def verify(self, one: SharedFile) -> None:
        """Raise SnapshotCorruptError if the file is missing or was altered."""
        size = self._location.size(one.file)
        require_size(one.file, one.size, size)
        require_digest(one, self._location.digest(one.file))

    def fetch(self, one: SharedFile, target: Path) -> None:
        """Copy the file to a new path on this host, as a link if possible.

        Raises SnapshotCorruptError if the file is missing or was altered.
        """
        require_size(one.file, one.size, self._location.size(one.file))
        self._location.fetch(one.file, target)
        with storage_errors("reading", target):
            require_digest(one, digest_of(target))

    @property
    def any(self) -> bool:
        """Whether there are shared files."""
        return bool(self._location.sizes(FOLDER))

    def collect(self, referenced: Collection[str]) -> tuple[str, ...]:
        """Delete the files that were unreferenced at the last call and still are. Called at each completion.

        `referenced`: all files that a manifest lists. Returns the names of the deleted files.
        """
        unreferenced = set(self._files()) - set(referenced)
        gone = sorted(self._unreferenced & unreferenced)
        for name in gone:
            self._location.remove(name)
        self._unreferenced = unreferenced - set(gone)
        return tuple(gone)

    def sweep(self, referenced: Collection[str], attempt: int) -> tuple[str, ...]:
        """Delete the unreferenced files of attempts before `attempt`; returns their names."""
        left = []
        for name in self._files():
            match = _NAME.fullmatch(name.removeprefix(f"{FOLDER}/"))
            if match is not None and int(match.group(1)) < attempt and name not in referenced:
                self._location.remove(name)
                left.append(name)
        return tuple(left)

    def _files(self) -> list[str]:
        return sorted(f"{FOLDER}/{name}" for name in self._location.sizes(FOLDER))


def require_size(file: str, expected: int, came: int | None) -> None:
    """Raise SnapshotCorruptError unless `came`, the size of a file in bytes, is `expected`. None: no file."""
    if came != expected:
        size = "no file" if came is None else f"{came} bytes"
        raise SnapshotCorruptError(file, f"a file of {expected} bytes", size)


def require_digest(one: SharedFile, came: str) -> None:
    """Raise SnapshotCorruptError unless `came`, the checksum of the file's content, is the recorded one."""
    if came != one.checksum:
        raise SnapshotCorruptError(one.file, f"checksum {one.checksum}", came)
