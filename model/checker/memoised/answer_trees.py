"""Decision trees that store answers of the model, by the parts of a state that the model reads for them.

There are three kinds of questions: the offers of a mover, the step of an event, and the truth of a state
property. Each question has a tree. An inner node names the part that the model reads next, and has a branch
for each known value of that part. A leaf holds the answer. If the model has read the same values, it reads
the same part next. So the first answer fixes the part of a node. `model.checker.memoised.successors` reads
the trees and answers from arrays.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.checker.memoised.bit_layout import Numbers

MISSING = -1
"""The node has no answer yet."""
LEAF = -1
"""Marks a node with an answer, in place of a part."""
PLAIN, REFUSED, BREAKS = 0, 1, 2
"""The status of an answer: its words hold it; the environment refuses the event; a property does not hold."""
SPREAD_NODE, SPREAD_NUMBER = 0x9E3779B1, 0x85EBCA6B
"""Factors of the hash that spreads the branches over their table."""
NUMBER_BITS = 24
"""Number of bits for the number of a part's value. A part can have no more values than these bits number."""

Words = tuple[tuple[int, int], ...]
"""The content of an answer, as pairs of numbers (`model.checker.memoised.successors`)."""
Ints = np.ndarray[Any, np.dtype[np.int64]]


class ContradictionError(RuntimeError):
    """The model has read different parts after the same values."""


class Answers:
    """All trees and their answers. A row is a state: for each part, the number of its value."""

    def __init__(self) -> None:
        self._nodes = _Rows(4)
        """By node: its part or LEAF; the value number and the target of its first branch; a leaf's answer."""
        self._parts: list[int] = []
        self._branches: dict[tuple[int, int], int] = {}
        self._slots = np.zeros((1 << 12, 2), np.int64)
        """All further branches as a hash table, for kernels.

        A slot has a key (0: the slot is free) and a node.
        """
        self._spans = _Rows(3)
        """By answer: the first and the last position of its words, and its status."""
        self._words = _Rows(2)
        self._known: dict[tuple[Words, int], int] = {}
        self._leaves: dict[int, int] = {}
        self._node()  # reserves node 0, so that no branch has the key 0

    def tree(self) -> int:
        """The root of a new tree without an answer."""
        return self._node()

    def find(self, tree: int, numbers: Numbers) -> int:
        """The answer for a row, or MISSING."""
        node = tree
        while (part := self._parts[node]) != LEAF:
            below = self._branches.get((node, numbers[part]))
            if below is None:
                return MISSING
            node = below
        return self._leaves.get(node, MISSING)

    def add(self, tree: int, numbers: Numbers, read: Sequence[int], words: Words, stands: int) -> int:
        """Stores an answer for all rows that have the numbers of this row at the parts in `read`.

        `read`: the parts in the order in which the model has read them. Raises ContradictionError if for an
        earlier answer the model has read other parts after the same values.
        """
        node = tree
        for part in read:
            if self._parts[node] == LEAF and node not in self._leaves:
                self._parts[node] = part
                self._nodes.rows[node, 0] = part
            if self._parts[node] != part:
                raise ContradictionError(
                    f"the model read part {part} where it read part {self._parts[node]} before"
                )
            node = self._below(node, numbers[part])
        if self._parts[node] != LEAF:
            raise ContradictionError(f"the model answered where it read part {self._parts[node]} before")
        answer = self._answer(words, stands)
        self._leaves[node] = answer
        self._nodes.rows[node, 3] = answer
        return answer

    def words(self, answer: int) -> Words:
        """The words of an answer."""
        begin, end, _ = self._spans.rows[answer].tolist()
        return tuple((first, second) for first, second in self._words.rows[begin:end].tolist())

    def stands(self, answer: int) -> int:
        """The status of an answer: PLAIN, REFUSED or BREAKS."""
        return int(self._spans.rows[answer, 2])

    @property
    def arrays(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The arrays for kernels: nodes, branches, answers and words."""
        return self._nodes.rows, self._slots, self._spans.rows, self._words.rows

    def _node(self) -> int:
        self._parts.append(LEAF)
        return self._nodes.append((LEAF, MISSING, MISSING, MISSING))

    def _below(self, node: int, number: int) -> int:
        below = self._branches.get((node, number))
        if below is None:
            below = self._branches[node, number] = self._node()
            if self._nodes.rows[node, 1] == MISSING:
                self._nodes.rows[node, 1:3] = number, below
            else:
                self._keep(node, number, below)
        return below

    def _keep(self, node: int, number: int, below: int) -> None:
        if number >> NUMBER_BITS:
            raise OverflowError(f"a part has more than {1 << NUMBER_BITS} values")
        if 2 * len(self._branches) > len(self._slots):
            old = self._slots[self._slots[:, 0] != 0]
            self._slots = np.zeros((2 * len(self._slots), 2), np.int64)
            for key, child in old.tolist():
                self._put(key, child)
        self._put(node << NUMBER_BITS | number, below)

    def _put(self, key: int, below: int) -> None:
        node, number = key >> NUMBER_BITS, key & ((1 << NUMBER_BITS) - 1)
        mask = len(self._slots) - 1
        slot = (node * SPREAD_NODE + number * SPREAD_NUMBER) & mask
        while self._slots[slot, 0]:
            slot = (slot + 1) & mask
        self._slots[slot] = key, below

    def _answer(self, words: Words, stands: int) -> int:
        known = self._known.get((words, stands))
        if known is None:
            begin = self._words.count
            for pair in words:
                self._words.append(pair)
            known = self._known[words, stands] = self._spans.append((begin, self._words.count, stands))
        return known


class _Rows:
    """An array that grows by rows."""

    def __init__(self, columns: int) -> None:
        self.rows: Ints = np.zeros((1 << 10, columns), np.int64)
        self.count = 0

    def append(self, row: Sequence[int]) -> int:
        """Appends a row and returns its position."""
        if self.count == len(self.rows):
            self.rows = np.concatenate((self.rows, np.zeros_like(self.rows)))
        self.rows[self.count] = row
        self.count += 1
        return self.count - 1
