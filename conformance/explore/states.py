"""Sorts packed states, removes duplicates and known states, and assigns states to partitions.

States are columns of 64-bit words, one row a state. States of several words have one more column in front, a
key, which is a hash of the words; a single word is its own key. Rows are sorted by their keys, and are found
by them. Two states with the same key are distinguished by their words, so equal hashes do no harm.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from model.checker.compiled.columns import Column, Columns

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]

_U = np.uint64
PIECE = 1 << 20
"""The number of rows of a file that are compared at once."""


def mixed(words: Columns) -> Column:
    """A hash of each row, which depends on every bit of it."""
    key = np.full(len(words[0]), 0x9E3779B97F4A7C15, np.uint64)
    for word in words:
        key = (key ^ word) * _U(0xBF58476D1CE4E5B9)
        key ^= key >> _U(29)
    key *= _U(0x94D049BB133111EB)
    return key ^ (key >> _U(32))


def keyed(words: Columns) -> Columns:
    """The rows with their key in front."""
    return words if len(words) == 1 else (mixed(words), *words)


def unkeyed(rows: Columns) -> Columns:
    """The words alone."""
    return rows if len(rows) == 1 else rows[1:]


def partition_of(rows: Columns, partitions: int) -> Numbers:
    """The partition that each row belongs to."""
    spread = mixed(rows) if len(rows) == 1 else rows[0]
    return ((spread >> _U(32)) % _U(partitions)).astype(np.int64)


def distinct(rows: Columns) -> Columns:
    """The sorted rows without duplicates."""
    if len(rows[0]) < 2:
        return rows
    if len(rows) == 1:
        key = np.sort(rows[0], kind="stable")
        return (key[np.append(True, key[1:] != key[:-1])],)
    rows = _chosen(rows, np.argsort(rows[0], kind="stable"))
    same = rows[0][1:] == rows[0][:-1]
    equal = _equal(tuple(word[1:] for word in rows), tuple(word[:-1] for word in rows))
    if not np.array_equal(same, equal):  # two states of one key: their copies need not be neighbours
        rows = _chosen(rows, np.lexsort(rows[::-1]))
        equal = _equal(tuple(word[1:] for word in rows), tuple(word[:-1] for word in rows))
    return _chosen(rows, np.append(True, ~equal))


def among(rows: Columns, known: Columns) -> Flags:
    """For each row, whether it is among the known rows; `known` is sorted and not empty."""
    found = np.zeros(len(rows[0]), np.bool_)
    left = np.arange(len(rows[0]))
    place = np.searchsorted(known[0], rows[0])
    while len(left):  # more than once only where known states share a key
        here = place < len(known[0])
        left, place = left[here], place[here]
        here = known[0][place] == rows[0][left]
        left, place = left[here], place[here]
        equal = _equal(_chosen(known, place), _chosen(rows, left))
        found[left[equal]] = True
        left, place = left[~equal], place[~equal] + 1
    return found


def without(rows: Columns, known: Columns) -> Columns:
    """The rows, in order, that are not among `known`. `known` may be a mapped file: it is read in pieces."""
    for first in range(0, len(known[0]), PIECE):
        piece = tuple(np.asarray(word[first : first + PIECE]) for word in known)
        low = np.searchsorted(rows[0], piece[0][0])
        high = np.searchsorted(rows[0], piece[0][-1], side="right")
        if low < high:
            keep = np.ones(len(rows[0]), np.bool_)
            keep[low:high] = ~among(tuple(word[low:high] for word in rows), piece)
            rows = _chosen(rows, keep)
    return rows


def joined(parts: list[Columns]) -> Columns:
    """The rows of all parts; there must be at least one part."""
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


def as_bytes(rows: Columns) -> bytes:
    """The rows as bytes, which `from_bytes` reads."""
    return np.stack(rows).tobytes()


def from_bytes(content: bytes, width: int) -> Columns:
    """The rows that `as_bytes` wrote, with `width` columns."""
    return tuple(np.frombuffer(content, np.uint64).reshape(width, -1))


def write(rows: Columns, file: Path) -> None:
    """Write the rows to a file; they are durable when this returns."""
    with file.open("wb") as kept:
        np.save(kept, np.stack(rows))
        kept.flush()
        os.fsync(kept.fileno())


def read(file: Path, first: int = 0, last: int | None = None) -> Columns:
    """The rows of a file from `first` to before `last`. The file is mapped: rows are loaded on access."""
    return tuple(np.load(file, mmap_mode="r")[:, first:last])


def _chosen(rows: Columns, which: Numbers | Flags) -> Columns:
    return tuple(word[which] for word in rows)


def _equal(left: Columns, right: Columns) -> Flags:
    equal: Flags = np.logical_and.reduce([one == other for one, other in zip(left, right, strict=True)])
    return equal
