"""Key groups: the distribution of keys over subtasks, also when a job continues at another parallelism.

A key belongs to one of `max_parallelism` groups, by a hash that is equal in every process. Each subtask owns
a contiguous range of groups. Snapshots record the group of every key, and a restore at another parallelism
only moves the borders of the ranges. The formulas are those of Flink's `KeyGroupRangeAssignment`, but the
hash function is another one.
"""

import zlib
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Final
from uuid import UUID

from impl.state.backends.key_bytes import key_bytes
from impl.state.backends.key_values import canonical

DEFAULT_MAX_PARALLELISM: Final = 128
LARGEST_MAX_PARALLELISM: Final = 1 << 15
_MULTIPLIER: Final = 0x9E3779B1
_NUMBERS: Final = frozenset({int, float, Fraction})
_BY_REPR: Final = frozenset({type(None), bytes, date, datetime, time, timedelta, UUID})


def stable_hash(key: object) -> int:
    """A hash of 24 bits. It is equal in every process, and equal keys have equal hashes.

    Raises UnsupportedKeyError for a value that cannot be a key (`key_values`).
    """
    kind = type(key)
    if kind is str:
        source = key.encode("utf-8", "surrogatepass")  # type: ignore[attr-defined]
    elif kind is int:
        source = b"%d" % hash(key)
    else:
        source = _source_of(key)
    # the low bits of a checksum alone are too regular for the remainder that `key_group` computes
    return (zlib.crc32(source) * _MULTIPLIER & 0xFFFFFFFF) >> 8


def _source_of(key: object) -> bytes:
    """The bytes that `stable_hash` hashes for a key. They come from the key's canonical form.

    Encoding 1 (`key_encoding_versions`) hashed the same bytes, except for keys that were equal and had
    different bytes in it.
    """
    form = canonical(key)
    kind = type(form)
    if kind is tuple:
        return b"(%s)" % b",".join(b"%d" % stable_hash(part) for part in form)
    if kind in _NUMBERS:
        return b"%d" % hash(form)  # Python's hash of a number is equal in every process
    if kind is str:
        return form.encode("utf-8", "surrogatepass")  # type: ignore[no-any-return]
    if kind is frozenset:
        return b"{%s}" % b",".join(b"%d" % one for one in sorted(map(stable_hash, form)))
    if kind in _BY_REPR:
        return repr(form).encode()
    return key_bytes(form)


def key_group(key: object, max_parallelism: int) -> int:
    """The group of a key, from 0 to `max_parallelism` - 1."""
    return stable_hash(key) % max_parallelism


def subtask_of(group: int, parallelism: int, max_parallelism: int) -> int:
    """The index of the subtask that owns a group."""
    return group * parallelism // max_parallelism


def groups_of(index: int, parallelism: int, max_parallelism: int) -> range:
    """The contiguous range of groups that a subtask owns."""
    first, beyond = (-(-border * max_parallelism // parallelism) for border in (index, index + 1))
    return range(first, beyond)
