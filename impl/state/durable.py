"""File operations that survive a crash: a file is there as a whole or not at all.

A file is written under a temporary name, synced and moved to its name; then its directory is synced. A file
that is *published* is linked instead of moved: the link fails if the name exists, so exactly one of two
writers wins. Every function raises StorageError in place of an OSError.
"""

import os
import secrets
from pathlib import Path
from typing import Final

from impl.state.errors import StorageError

TEMPORARY: Final = ".tmp"
"""The ending of temporary names."""


def make_directory(path: Path) -> None:
    """Create a directory and its parents, unless they exist."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise StorageError.of("creating", path, cause) from cause


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as cause:
        raise StorageError.of("syncing", path, cause) from cause


def sync_file(path: Path) -> None:
    """Make the content of a closed file durable."""
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as cause:
        raise StorageError.of("syncing", path, cause) from cause


def write_file(path: Path, data: bytes) -> None:
    """Write a file durably and atomically; it replaces an older one."""
    place_file(path, data)
    sync_directory(path.parent)


def place_file(path: Path, data: bytes) -> None:
    """As `write_file`, but the name is durable only when the caller has synced the directory."""
    temporary = path.with_name(f".{path.name}{TEMPORARY}")
    try:
        _write_and_sync(temporary, data)
        os.replace(temporary, path)
    except OSError as cause:
        remove_file(temporary)
        raise StorageError.of("writing", path, cause) from cause


def publish_file(path: Path, data: bytes, owner: str = "") -> bool:
    """Write a file durably under a new name; returns False, with nothing written, if the name exists.

    `owner`: a part of the temporary name, by which a sweep finds the file of a killed process.
    """
    temporary = path.with_name(f".{path.name}.{owner}{secrets.token_hex(4)}{TEMPORARY}")
    try:
        _write_and_sync(temporary, data)
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as cause:
        raise StorageError.of("publishing", path, cause) from cause
    finally:
        remove_file(temporary)
    sync_directory(path.parent)
    return True


def append_line(path: Path, line: bytes) -> None:
    """Append a line to a file with one writer: the whole line, or nothing if the disk is full."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            append(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError as cause:
        raise StorageError.of("writing", path, cause) from cause


def append(descriptor: int, content: bytes) -> None:
    """Append to an open file with one writer: the whole content, or nothing. Raises OSError."""
    before = os.fstat(descriptor).st_size
    written = 0
    try:
        while written < len(content):  # a disk that becomes full takes a part first
            written += os.write(descriptor, content[written:])
    except OSError:
        if written:
            os.ftruncate(descriptor, before)
        raise


def read_file(path: Path) -> bytes:
    """The content of a file."""
    try:
        return path.read_bytes()
    except OSError as cause:
        raise StorageError.of("reading", path, cause) from cause


def read_part(path: Path, at: int, length: int) -> bytes:
    """`length` bytes of a file from `at` on; fewer at its end."""
    try:
        with path.open("rb") as file:
            file.seek(at)
            return file.read(length)
    except OSError as cause:
        raise StorageError.of("reading", path, cause) from cause


def remove_file(path: Path) -> bool:
    """Remove a file; returns False if it does not exist."""
    try:
        path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as cause:
        raise StorageError.of("removing", path, cause) from cause
    return True


def _write_and_sync(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
