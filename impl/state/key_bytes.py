"""Keys as bytes, for backends that keep bytes: keys that are equal have the same, and come back equal.

Numbers are written by their value (1, 1.0 and True are one key), strings, bytes, None, tuples and frozensets
by their parts; a key of another type by its pickle, which has to be the same for equal keys.
"""

import io
import pickle
import struct
from collections.abc import Hashable
from typing import Final

_LENGTH: Final = struct.Struct(">I")


def key_bytes(key: object) -> bytes:
    """A key as bytes; no two keys that differ have the same, and none begins as another."""
    kind, told = _told(key)
    return kind + _LENGTH.pack(len(told)) + told


def key_of(data: bytes) -> tuple[Hashable, bytes]:
    """The key that `data` begins with, and the rest."""
    (length,) = _LENGTH.unpack_from(data, 1)
    beyond = 1 + _LENGTH.size + length
    return _key(data[:1], data[1 + _LENGTH.size : beyond]), data[beyond:]


def _told(key: object) -> tuple[bytes, bytes]:
    if isinstance(key, str):
        return b"s", key.encode("utf-8", "surrogatepass")
    if isinstance(key, int) or (isinstance(key, float) and key.is_integer()):
        return b"i", b"%d" % int(key)
    if isinstance(key, float):
        return b"f", struct.pack(">d", key)
    if isinstance(key, bytes):
        return b"b", key
    if key is None:
        return b"n", b""
    if isinstance(key, tuple) and type(key) is tuple:
        return b"t", b"".join(map(key_bytes, key))
    if isinstance(key, frozenset):
        return b"z", b"".join(sorted(map(key_bytes, key)))
    packed = io.BytesIO()
    pickler = pickle.Pickler(packed, protocol=5)
    pickler.fast = True  # parts that are one object, and those that are equal, are written alike
    pickler.dump(key)
    return b"p", packed.getvalue()


def _key(kind: bytes, told: bytes) -> Hashable:
    if kind == b"s":
        return told.decode("utf-8", "surrogatepass")
    if kind == b"i":
        return int(told)
    if kind == b"f":
        value: float = struct.unpack(">d", told)[0]
        return value
    if kind == b"b":
        return told
    if kind == b"n":
        return None
    if kind in (b"t", b"z"):
        parts = []
        while told:
            part, told = key_of(told)
            parts.append(part)
        return tuple(parts) if kind == b"t" else frozenset(parts)
    key: Hashable = pickle.loads(told)
    return key
