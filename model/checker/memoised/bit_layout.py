"""The bit layout of a packed state: for each part, the word, the shift and the mask of its value's number."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from model.checker.compiled.packing import MARK, WORD

Numbers = tuple[int, ...]
"""By part: the number of its value."""


class Places(NamedTuple):
    """The place of each part's number in the words of a packed state."""

    rows: tuple[tuple[int, int, int], ...]
    """By part: its word, its shift, and its mask before the shift."""
    words: int

    def as_array(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The rows as an array for kernels."""
        return np.array(self.rows, np.int64)

    def has_capacity(self, counts: Iterable[int]) -> bool:
        """Every part has enough bits for this number of values."""
        return all(count - 1 <= mask for count, (_, _, mask) in zip(counts, self.rows, strict=True))

    def pack(self, numbers: Numbers) -> tuple[int, ...]:
        """The words of a row; the first has a bit that is always set, so that no state is 0."""
        words = [1] + [0] * (self.words - 1)
        for number, (word, shift, _) in zip(numbers, self.rows, strict=True):
            words[word] |= number << shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> Numbers:
        """The row of these words."""
        return tuple([(words[word] >> shift) & mask for word, shift, mask in self.rows])


def places_of(counts: Sequence[int], spare: int = 1, single: int = 0) -> Places:
    """Places for parts with these numbers of values, each with spare bits for further values.

    `spare`: the bits beyond those that the values of a part need; `single`: the bits of a part with one
    value.
    """
    word, shift = 0, MARK
    rows: list[tuple[int, int, int]] = []
    for count in counts:
        bits = (count - 1).bit_length() + spare if count > 1 else single
        if shift + bits > WORD:
            word, shift = word + 1, 0
        rows.append((word, shift if bits else 0, (1 << bits) - 1))
        shift += bits
    return Places(tuple(rows), word + 1)
