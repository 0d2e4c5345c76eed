"""Files in a folder of a file system that all tasks can reach. `durable` has the operations."""

import hashlib
import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from impl.state import durable
from impl.state.digests import digest_of
from impl.state.errors import storage_errors
from impl.state.locations.location import Location

WORKING: Final = "working"
_CHUNK: Final = 1 << 20


class LocalFiles(Location):
    """The files of `directory`. `Location` documents the methods."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @property
    def where(self) -> Path:
        """The directory."""
        return self.directory

    def below(self, folder: str) -> "LocalFiles":
        return LocalFiles(self.directory / folder)

    def make_folder(self, folder: str = "") -> None:
        durable.make_directory(self.directory / folder)

    def reserve(self, folder: str) -> bool:
        path = self.directory / folder
        try:
            with storage_errors("creating", path, FileExistsError):
                path.mkdir()
        except FileExistsError:
            return False
        return True

    def remove_folder(self, folder: str = "") -> None:
        with suppress(OSError):  # a folder with files stays
            (self.directory / folder).rmdir()

    def folders(self) -> tuple[str, ...]:
        return tuple(path.name for path in _entries(self.directory) if path.is_dir())

    def sizes(self, folder: str = "") -> Mapping[str, int]:
        found = {}
        for path in _entries(self.directory / folder):
            with suppress(FileNotFoundError):  # another process has removed the file
                if path.is_file() or path.is_symlink():
                    found[path.name] = path.lstat().st_size
        return found

    def publish(self, name: str, data: bytes, owner: str = "") -> bool:
        return durable.publish_file(self.directory / name, data, owner)

    def replace(self, name: str, data: bytes) -> None:
        durable.write_file(self.directory / name, data)

    def write_unsettled(self, name: str, data: bytes) -> None:
        durable.write_file_unsynced(self.directory / name, data)

    def settle(self, folder: str = "") -> None:
        durable.sync(self.directory / folder)

    def add(self, name: str, source: Path) -> tuple[int, str]:
        target = self.directory / name
        temporary = target.with_name(f".{target.name}{durable.TEMPORARY}")
        durable.make_directory(target.parent)
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
                durable.remove_file(temporary)
                raise
        durable.sync(target.parent)
        return size, digest.hexdigest()

    def scratch(self, name: str) -> Path:
        return self.directory / name

    def adopt(self, name: str, staged: Path) -> tuple[int, str]:
        target = self.directory / name
        with storage_errors("pre-committing", staged):
            durable.sync(staged)
            staged.replace(target)
            durable.sync(target.parent)
            return target.stat().st_size, digest_of(target)

    def copy(self, name: str, origin: Location, there: str) -> None:
        target = self.directory / name
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{durable.TEMPORARY}")
        durable.make_directory(target.parent)
        try:
            origin.fetch(there, temporary)
            durable.sync(temporary)  # a file that was fetched from an object store is not synced
            with storage_errors("copying", target):
                temporary.replace(target)
        finally:
            durable.remove_file(temporary)  # `replace` leaves it if both names are links to one file
        durable.sync(target.parent)

    def fetch(self, name: str, target: Path) -> None:
        source = self.directory / name
        with storage_errors("copying", source):
            try:
                os.link(source, target)
            except OSError:  # the target is in another file system, or the file system has no links
                shutil.copyfile(source, target)
                durable.sync(target)

    def read(self, name: str) -> bytes:
        return durable.read_file(self.directory / name)

    def read_range(self, name: str, at: int, length: int) -> bytes:
        return durable.read_range(self.directory / name, at, length)

    def size(self, name: str) -> int | None:
        path = self.directory / name
        return path.stat().st_size if path.is_file() else None

    def digest(self, name: str) -> str:
        path = self.directory / name
        with storage_errors("reading", path):
            return digest_of(path)

    def move(self, name: str, target: str) -> None:
        path = self.directory / name
        with suppress(FileNotFoundError), storage_errors("moving", path, FileNotFoundError):
            path.replace(self.directory / target)

    def remove(self, name: str) -> bool:
        return durable.remove_file(self.directory / name)

    def working(self) -> Path:
        return self.directory / WORKING


def _entries(directory: Path) -> tuple[Path, ...]:
    """The entries of a directory; empty if it does not exist or was removed in the meantime."""
    try:
        with storage_errors("listing", directory, FileNotFoundError, NotADirectoryError):
            return tuple(directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return ()
