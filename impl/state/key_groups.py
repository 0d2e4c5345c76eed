"""Key groups: how keys are spread over subtasks, so that a job can go on with another number of them.

A key belongs to one of `max_parallelism` groups by a hash that every process computes alike; each subtask
owns a contiguous range of groups. Snapshots tell the group of every key, and a restore at another
parallelism only moves the borders. The formulas are Flink's (`KeyGroupRangeAssignment`); the hash is our own.
"""

import zlib
from numbers import Number
from typing import Final

from impl.state.errors import StateError

DEFAULT_MAX_PARALLELISM: Final = 128
LARGEST_MAX_PARALLELISM: Final = 1 << 15
_MULTIPLIER: Final = 0x9E3779B1


def stable_hash(key: object) -> int:
    """A hash of 24 bits that is the same in every process; keys that are equal have the same.

    Raises `StateError` for a key that has no value of its own to be told by.
    """
    kind = type(key)
    if kind is str:
        told = zlib.crc32(key.encode("utf-8", "surrogatepass"))  # type: ignore[attr-defined]
    elif kind is int:
        told = zlib.crc32(b"%d" % hash(key))
    else:
        told = zlib.crc32(_told(key))
    return (told * _MULTIPLIER & 0xFFFFFFFF) >> 8  # the low bits of a checksum are too regular for a modulus


def _told(key: object) -> bytes:
    """What tells a key from others. Numbers that are equal (1, True, 1.0) are one key to a dict too."""
    if isinstance(key, Number):
        if key != key:
            raise StateError(f"{key!r} is not equal to itself and finds no state again; choose another key")
        return b"%d" % hash(key)  # not seeded for numbers, and equal for equal ones
    if isinstance(key, tuple):
        return b"(%s)" % b",".join(b"%d" % stable_hash(part) for part in key)
    if isinstance(key, frozenset):
        return b"{%s}" % b",".join(b"%d" % one for one in sorted(stable_hash(part) for part in key))
    if type(key).__repr__ is object.__repr__:
        raise StateError(
            f"a key of type {type(key).__name__} is told by its address only, which no other process knows; "
            "give it a __repr__ and a __hash__ of its values, or select a tuple of them"
        )
    return str(key).encode() if isinstance(key, str) else repr(key).encode()


def key_group(key: object, max_parallelism: int) -> int:
    """The group of a key, from 0 on."""
    return stable_hash(key) % max_parallelism


def subtask_of(group: int, parallelism: int, max_parallelism: int) -> int:
    """The index of the subtask that owns a group."""
    return group * parallelism // max_parallelism


def groups_of(index: int, parallelism: int, max_parallelism: int) -> range:
    """The groups that a subtask owns, a contiguous range."""
    first, beyond = (-(-border * max_parallelism // parallelism) for border in (index, index + 1))
    return range(first, beyond)
