"""The functions of a breadth-first search over packed states. numba compiles them with a kernel's `expand`.

The hash of a state selects its partition. There is one partition for each core, so that no two cores write to
one table. A round has two halves. First each partition expands its own states and puts the successors into
boxes, one for each partition. Then each partition reads the boxes that it has received. It adds the new
states to its table and to the end of its *order*, which lists its states as they were found. The table holds
whole states, so the search is exact.

These functions are plain Python over arrays. `model.checker.compiled.kernels` writes their source into the
same file as each kernel, because numba caches compiled code by file.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import prange

Words = np.ndarray[Any, np.dtype[np.uint64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

U = np.uint64
I = np.int64  # noqa: E741 - the name in the kernels

expand: Callable[[Words, Words, Bytes, Any], tuple[int, int, int]]
"""`expand` of the kernel, defined in `model.checker.compiled.scalar_text` or `.memoised.successors`."""

RECENT = 8_192
"""Number of recent successors that each partition keeps. It does not send these states again."""
AHEAD = 32
"""Number of table slots that are prefetched before the first of them is needed."""


def hashed(row: Words, words: int) -> np.uint64:
    """The hash of a state, which depends on every bit of the state."""
    h = U(0x9E3779B97F4A7C15)
    for word in range(words):
        h = (h ^ row[word]) * U(0xBF58476D1CE4E5B9)
        h ^= h >> U(29)
    h *= U(0x94D049BB133111EB)
    return h ^ (h >> U(32))


def place_of(table: Words, row: Words, words: int) -> np.int64:
    """The slot of a state in a hash table. If the table lacks the state, the free slot for it."""
    mask = len(table) - 1
    slot = I(hashed(row, words)) & mask
    word = 0
    while word < words and table[slot, 0] != U(0):
        if table[slot, word] == row[word]:
            word += 1
        else:
            slot, word = (slot + 1) & mask, 0
    return slot


def expand_some(
    orders: Words,
    heads: Ints,
    ends: Ints,
    sent: tuple[Words, Ints],
    scratch: tuple[Words, Words],
    marks: tuple[Bytes, Ints, Ints],
    answers: Any,  # noqa: ANN401 - the kernel's
) -> None:
    """Expands states until the level ends, a box might overflow, or a flag is raised.

    The arrays change in place. `orders` has the axes partition, position, word. `sent` is a pair: the boxes,
    with the axes sender, receiver, position, word, and the number of states in each box. `scratch` is a pair
    for each partition: the successors of one state, and recent successors. `marks` has for each partition the
    fired rules, the number of moves, and the flags with the position of the state that raised them.
    `answers`: further arrays that the kernel reads.
    """
    boxes, filled = sent
    buffers, recent = scratch
    fired, moves, flagged = marks
    partitions = len(heads)
    capacity = boxes.shape[2] - buffers.shape[1]
    words, width = orders.shape[2], boxes.shape[3]
    for own in prange(partitions):
        for other in range(partitions):
            filled[own, other] = 0
        full = False
        head = heads[own]
        while head < ends[own] and not full:
            count, made, flags = expand(orders[own, head], buffers[own], fired[own], answers)  # noqa: F821
            moves[own] += made
            if flags != 0:
                flagged[own, 0] = flags
                flagged[own, 1] = head
                break
            for number in range(count):
                row = buffers[own, number]
                spread = hashed(row, words)
                near = I((spread >> U(24)) % U(RECENT))
                known = True
                for word in range(width):
                    known = known and recent[own, near, word] == row[word]
                if known:
                    continue
                into = I((spread >> U(48)) % U(partitions))
                place = filled[own, into]
                for word in range(width):
                    recent[own, near, word] = row[word]
                    boxes[own, into, place, word] = row[word]
                filled[own, into] = place + 1
                full = full or place + 1 > capacity
            head += 1
        heads[own] = head


def insert_some(tables: Words, orders: Words, tails: Ints, boxes: Words, filled: Ints, looked: Words) -> None:
    """Adds the new states of each partition's boxes to its table and order, which must have capacity."""
    partitions = len(tails)
    words = orders.shape[2]
    mask = tables.shape[1] - 1
    for own in prange(partitions):
        table = tables[own]
        tail = tails[own]
        for other in range(partitions):
            count = filled[other, own]
            for first in range(0, count, AHEAD):
                last = min(first + AHEAD, count)
                for number in range(first, last):
                    slot = I(hashed(boxes[other, own, number], words)) & mask
                    looked[own, 0] ^= table[slot, 0]
                for number in range(first, last):
                    row = boxes[other, own, number]
                    slot = place_of(table, row, words)
                    if table[slot, 0] == U(0):
                        for word in range(words):
                            table[slot, word] = row[word]
                            orders[own, tail, word] = row[word]
                        tail += 1
        tails[own] = tail


def count_some(tables: Words, counts: Ints, boxes: Words, filled: Ints, looked: Words) -> None:
    """Adds labelled states to the tables, as `insert_some` does, and counts the new ones.

    It adds no labelled state to an order, so that the search expands none of them.
    """
    partitions = len(counts)
    words = tables.shape[2]
    mask = tables.shape[1] - 1
    for own in prange(partitions):
        table = tables[own]
        added = 0
        for other in range(partitions):
            count = filled[other, own]
            for first in range(0, count, AHEAD):
                last = min(first + AHEAD, count)
                for number in range(first, last):
                    slot = I(hashed(boxes[other, own, number], words)) & mask
                    looked[own, 0] ^= table[slot, 0]
                for number in range(first, last):
                    row = boxes[other, own, number]
                    slot = place_of(table, row, words)
                    if table[slot, 0] == U(0):
                        for word in range(words):
                            table[slot, word] = row[word]
                        added += 1
        counts[own] += added


def rehash(tables: Words, larger: Words) -> None:
    """Copies every state of each table into a larger one."""
    words = tables.shape[2]
    for own in prange(len(tables)):
        before, after = tables[own], larger[own]
        for old in range(len(before)):
            if before[old, 0] == U(0):
                continue
            slot = place_of(after, before[old], words)
            for word in range(words):
                after[slot, word] = before[old, word]


def leads_to(
    order: Words,
    first: int,
    last: int,
    target: Words,
    buffer: Words,
    fired: Bytes,
    answers: Any,  # noqa: ANN401 - the kernel's
) -> int:
    """The position of a predecessor of `target` in `order[first:last]`; -1 if there is none."""
    words = order.shape[1]
    for position in range(first, last):
        count, _, _ = expand(order[position], buffer, fired, answers)  # noqa: F821
        for number in range(count):
            same = True
            for word in range(words):
                same = same and buffer[number, word] == target[word]
            if same:
                return position
    return -1
