"""File operations that survive a crash. After a crash, a file is complete or does not exist.

A file is written under a temporary name, synced and moved to its name; then its directory is synced. To
*publish* a file, the functions link it to its name instead. The link fails if the name exists, so exactly one
of two writers succeeds. Every function except `append` raises StorageError instead of an OSError.
"""

import os
import secrets
from pathlib import Path
from typing import Final

from impl.state.errors import storage_errors

TEMPORARY: Final = ".tmp"
"""The suffix of temporary names."""


def make_directory(path: Path) -> None:
    """Create a directory and its parents, unless they exist."""
    with storage_errors("creating", path):
        path.mkdir(parents=True, exist_ok=True)


def sync(path: Path) -> None:
    """Make the content of a closed file, or the names in a directory, durable."""
    with storage_errors("syncing", path):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_file(path: Path, data: bytes) -> None:
    """Write a file durably and atomically; it replaces an older one."""
    write_file_unsynced(path, data)
    sync(path.parent)


def write_file_unsynced(path: Path, data: bytes) -> None:
    """Do the same as `write_file`, but without syncing the directory, which makes the name durable."""
    temporary = path.with_name(f".{path.name}{TEMPORARY}")
    with storage_errors("writing", path):
        try:
            _write_and_sync(temporary, data)
            os.replace(temporary, path)
        except OSError:
            remove_file(temporary)
            raise


def publish_file(path: Path, data: bytes, owner: str = "") -> bool:
    """Write a file durably under a new name; returns False, with nothing written, if the name exists.

    `owner`: a text in the temporary name. By it a sweep finds the temporary file of a killed process.
    """
    temporary = path.with_name(f".{path.name}.{owner}{secrets.token_hex(4)}{TEMPORARY}")
    try:
        with storage_errors("publishing", path, FileExistsError):
            _write_and_sync(temporary, data)
            os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        remove_file(temporary)
    sync(path.parent)
    return True


def append_line(path: Path, line: bytes) -> None:
    """Append a line to a file. Appends nothing if the disk is full. The file must have only one writer."""
    with storage_errors("writing", path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            append(descriptor, line)
        finally:
            os.close(descriptor)


def append(descriptor: int, content: bytes) -> None:
    """Append to an open file. After an OSError, nothing is appended. The file must have only one writer."""
    before = os.fstat(descriptor).st_size
    written = 0
    try:
        while written < len(content):  # an almost full disk accepts only a part of a write
            written += os.write(descriptor, content[written:])
    except OSError:
        if written:
            os.ftruncate(descriptor, before)
        raise


def read_file(path: Path) -> bytes:
    """The content of a file."""
    with storage_errors("reading", path):
        return path.read_bytes()


def read_range(path: Path, at: int, length: int) -> bytes:
    """`length` bytes of a file from `at` on; fewer at its end."""
    with storage_errors("reading", path), path.open("rb") as file:
        file.seek(at)
        return file.read(length)


def remove_file(path: Path) -> bool:
    """Remove a file; returns False if it does not exist."""
    try:
        with storage_errors("removing", path, FileNotFoundError, NotADirectoryError):
            path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _write_and_sync(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
