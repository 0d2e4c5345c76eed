"""The format of one snapshot: a header whose checksum detects every change.

    4 bytes   magic           b"BSNP"
    2 bytes   version         1
    2 bytes   codec           1: pickle, 2: Arrow IPC stream (a table), 3: sections (see `sections`)
    8 bytes   length          of the payload, in bytes
    32 bytes  checksum        blake2b over the 16 bytes before it and the payload
    ...       payload

All numbers are big-endian. The checksum detects damage, but no attack. A reader unpickles the payload, so a
user with write access to a checkpoint folder can run code with the rights of the job.
"""

import hashlib
import pickle
import struct
from enum import IntEnum
from typing import Final

import pyarrow as pa

from impl.state.errors import SnapshotCorruptError, StateError

MAGIC: Final = b"BSNP"
VERSION: Final = 1
_PREFIX: Final = struct.Struct(">4sHHQ")
CHECKSUM_SIZE: Final = 32
HEADER_SIZE: Final = _PREFIX.size + CHECKSUM_SIZE


class Codec(IntEnum):
    """The format of the payload."""

    PICKLE = 1
    ARROW = 2
    SECTIONS = 3


def checksum(*parts: bytes | memoryview) -> bytes:
    """The blake2b checksum, 32 bytes, over the concatenation of `parts`."""
    digest = hashlib.blake2b(digest_size=CHECKSUM_SIZE)
    for part in parts:
        digest.update(part)
    return digest.digest()


def encode(state: object) -> bytes:
    """A snapshot of `state`. An Arrow table is encoded as an Arrow stream, any other object as a pickle."""
    if isinstance(state, pa.Table):
        codec, payload = Codec.ARROW, _arrow(state)
    else:
        codec, payload = Codec.PICKLE, pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)
    return framed(codec, payload)


def framed(codec: Codec, *payload: bytes) -> bytes:
    """A snapshot whose payload is the concatenation of `payload`."""
    prefix = _PREFIX.pack(MAGIC, VERSION, codec, sum(map(len, payload)))
    return b"".join((prefix, checksum(prefix, *payload), *payload))


def decode(data: bytes, file: str) -> object:
    """The state in a snapshot.

    Raises SnapshotCorruptError, which names `file`, if it was altered, StateError if it has sections.
    """
    codec = verify(data, file)
    payload = memoryview(data)[HEADER_SIZE:]
    if codec is Codec.SECTIONS:
        raise StateError(f"{file}: expected one state, got the sections of a task; use `Sections`")
    if codec is Codec.ARROW:
        return pa.ipc.open_stream(pa.py_buffer(payload)).read_all()
    return pickle.loads(payload)


def verify(data: bytes, file: str) -> Codec:
    """Verify a snapshot; returns its codec. Raises SnapshotCorruptError if it was altered."""
    codec, length = head_of(data, file)
    if length != len(data) - HEADER_SIZE:
        raise SnapshotCorruptError(file, f"{length} bytes of payload", f"{len(data) - HEADER_SIZE}")
    written = data[_PREFIX.size : HEADER_SIZE]
    found = checksum(data[: _PREFIX.size], memoryview(data)[HEADER_SIZE:])
    if written != found:
        raise SnapshotCorruptError(file, f"checksum {written.hex()}", found.hex())
    return codec


def head_of(data: bytes, file: str) -> tuple[Codec, int]:
    """The codec and the length of the payload, in bytes, from the header at the beginning of `data`.

    Raises SnapshotCorruptError, which names `file`, if `data` does not begin with a valid header.
    """
    if len(data) < HEADER_SIZE:
        raise SnapshotCorruptError(file, f"a header of {HEADER_SIZE} bytes", f"{len(data)} bytes")
    magic, version, codec, length = _PREFIX.unpack_from(data)
    if magic != MAGIC:
        raise SnapshotCorruptError(file, f"a snapshot, which begins with {MAGIC!r}", f"{magic!r}")
    if version != VERSION or codec not in tuple(Codec):
        raise SnapshotCorruptError(
            file, f"version {VERSION} and a codec of {[one.value for one in Codec]}", f"{version} and {codec}"
        )
    return Codec(codec), length


def _arrow(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
