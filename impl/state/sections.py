"""A task's snapshot: named sections. Each section can be read and verified alone.

    4 bytes   length of the index
    ...       index            JSON: [[name, offset, length], ...], offsets from the end of the checksum
    32 bytes  checksum         blake2b over the index
    ...       sections         each section is a snapshot with its own checksum (`snapshot`)

This is the payload of a snapshot of codec 3. A restore at another parallelism opens several files, and reads
from each file only the sections with key groups of the restored subtask.
"""

import struct
from collections.abc import Callable, Mapping
from copy import copy
from typing import Final

import orjson

from impl.state.errors import SnapshotCorruptError, StateError
from impl.state.snapshot import CHECKSUM_SIZE, HEADER_SIZE, Codec, checksum, decode, framed, head_of

_LENGTH: Final = struct.Struct(">I")
ReadAt = Callable[[int, int], bytes]
"""A function of an offset and a length that returns the bytes of a file; fewer at the end of the file."""


def pack(sections: Mapping[str, bytes]) -> bytes:
    """The snapshot that consists of these encoded sections."""
    index, at = [], 0
    for name, content in sections.items():
        index.append([name, at, len(content)])
        at += len(content)
    head = orjson.dumps(index)
    return framed(Codec.SECTIONS, _LENGTH.pack(len(head)), head, checksum(head), *sections.values())


class Sections:
    """The sections of one file. `read_at`: the function that reads the file.

    Raises SnapshotCorruptError, which names `file`, if the index was altered, StateError if the file has no
    sections.
    """

    def __init__(self, file: str, read_at: ReadAt) -> None:
        self.file = file
        self._read_at = read_at
        codec, _ = head_of(read_at(0, HEADER_SIZE), file)
        if codec is not Codec.SECTIONS:
            raise StateError(
                f"{file}: expected the sections of a task, got a snapshot of codec {codec.name}; use `decode`"
            )
        (length,) = _LENGTH.unpack(self._exactly(HEADER_SIZE, _LENGTH.size))
        start = HEADER_SIZE + _LENGTH.size
        index = self._exactly(start, length)
        written = self._exactly(start + length, CHECKSUM_SIZE)
        if checksum(index) != written:
            raise SnapshotCorruptError(file, f"an index of checksum {written.hex()}", checksum(index).hex())
        base = start + length + CHECKSUM_SIZE
        self._ranges = {name: (base + at, size) for name, at, size in orjson.loads(index)}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all sections, in the order in which they were written."""
        return tuple(self._ranges)

    def __contains__(self, name: str) -> bool:
        return name in self._ranges

    def below(self, prefix: str) -> "Sections":
        """The sections whose names begin with `prefix`. The prefix is removed from their names."""
        part = copy(self)
        part._ranges = {
            name.removeprefix(prefix): there
            for name, there in self._ranges.items()
            if name.startswith(prefix)
        }
        return part

    def raw(self, name: str) -> bytes:
        """The bytes of a section. Raises StateError if there is no section of this name."""
        if name not in self._ranges:
            raise StateError(
                f"{self.file}: expected a section {name!r}, got {', '.join(self._ranges)}; choose one of "
                "those"
            )
        return self._exactly(*self._ranges[name])

    def read(self, name: str) -> object:
        """The state of a section, after its checksum was verified.

        Raises SnapshotCorruptError if it was altered, StateError if there is no section of this name.
        """
        return decode(self.raw(name), f"{self.file}#{name}")

    def _exactly(self, at: int, length: int) -> bytes:
        content = self._read_at(at, length)
        if len(content) != length:
            raise SnapshotCorruptError(self.file, f"{length} bytes at {at}", f"{len(content)}")
        return content


def sections_of(data: bytes, file: str) -> Sections:
    """The sections of a snapshot in memory."""
    return Sections(file, lambda at, length: data[at : at + length])
