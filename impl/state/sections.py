"""A task's snapshot in named sections, each of which can be read and checked without the others.

    4 bytes   length of the index
    ...       index            JSON: [[name, offset, length], ...], offsets from the end of the checksum
    32 bytes  checksum         blake2b over the index
    ...       sections         each a snapshot of its own, with its own checksum (see `snapshot`)

That is the payload of a snapshot of codec 3. A restore at another parallelism opens several files and reads
of each the sections that hold key groups of its own.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Final

import orjson

from impl.state.errors import SnapshotCorruptError, StateError
from impl.state.snapshot import CHECKSUM_SIZE, HEADER_SIZE, Codec, checksum, decode, framed, head_of

_LENGTH: Final = struct.Struct(">I")
ReadAt = Callable[[int, int], bytes]
"""Bytes of a file by offset and length; fewer at its end."""


def pack(sections: Mapping[str, bytes]) -> bytes:
    """One snapshot of encoded sections."""
    index, at = [], 0
    for name, content in sections.items():
        index.append([name, at, len(content)])
        at += len(content)
    told = orjson.dumps(index)
    return framed(Codec.SECTIONS, _LENGTH.pack(len(told)), told, checksum(told), *sections.values())


class Sections:
    """The sections of one file. `read_at` reads the file; raises `SnapshotCorruptError`, naming `file`."""

    def __init__(self, file: str, read_at: ReadAt) -> None:
        self.file = file
        self._read_at = read_at
        codec, _ = head_of(read_at(0, HEADER_SIZE), file)
        if codec is not Codec.SECTIONS:
            raise StateError(f"{file}: expected the snapshot of a task, in sections; came {codec.name}")
        (length,) = _LENGTH.unpack(self._exactly(HEADER_SIZE, _LENGTH.size))
        start = HEADER_SIZE + _LENGTH.size
        told = self._exactly(start, length)
        written = self._exactly(start + length, CHECKSUM_SIZE)
        if checksum(told) != written:
            raise SnapshotCorruptError(file, f"an index of checksum {written.hex()}", checksum(told).hex())
        base = start + length + CHECKSUM_SIZE
        self._places = {name: (base + at, size) for name, at, size in orjson.loads(told)}

    @property
    def names(self) -> tuple[str, ...]:
        """All sections, in the order in which they were written."""
        return tuple(self._places)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def raw(self, name: str) -> bytes:
        """A section as it was packed."""
        if name not in self._places:
            raise StateError(f"{self.file}: expected a section {name!r}, came {', '.join(self._places)}")
        return self._exactly(*self._places[name])

    def read(self, name: str) -> object:
        """The state in a section, checked; `StateError` if there is none of that name."""
        return decode(self.raw(name), f"{self.file}#{name}")

    def in_memory(self) -> "Sections":
        """The same, of a file that may be removed while it is still asked for."""
        return sections_of(pack({name: self.raw(name) for name in self.names}), self.file)

    def _exactly(self, at: int, length: int) -> bytes:
        content = self._read_at(at, length)
        if len(content) != length:
            raise SnapshotCorruptError(self.file, f"{length} bytes at {at}", f"{len(content)}")
        return content


def sections_of(data: bytes, file: str) -> Sections:
    """The sections of a snapshot that is in memory."""
    return Sections(file, lambda at, length: data[at : at + length])
