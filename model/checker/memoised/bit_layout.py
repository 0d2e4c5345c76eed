"""The bit layout of a packed state. Each part has a place for the number of its value in one of the words."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from model.checker.compiled.packing import MARK, WORD

Numbers = tuple[int, ...]
"""The *row* of a state. By part: the number of its value."""


class Places(NamedTuple):
    """The place of each part's number in the words of a packed state."""

    rows: tuple[tuple[int, int, int], ...]
    """By part: its word, its shift, and its mask before the shift."""
    words: int

    def as_array(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The rows as an array for kernels."""
        return np.array(self.rows, np.int64)

    def has_capacity(self, counts: Iterable[int]) -> bool:
        """Whether every part has enough bits for this number of values. `counts`: by part."""
        return all(count - 1 <= mask for count, (_, _, mask) in zip(counts, self.rows, strict=True))

    def pack(self, numbers: Numbers) -> tuple[int, ...]:
        """The words of a row. The first has a bit that is always set, so that no packed state is 0."""
        words = [1] + [0] * (self.words - 1)
        for number, (word, shift, _) in zip(numbers, self.rows, strict=True):
            words[word] |= number << shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> Numbers:
        """The row whose packed form is these words."""
        return tuple([(words[word] >> shift) & mask for word, shift, mask in self.rows])


def places_of(counts: Sequence[int], spare: int = 1, single: int = 0) -> Places:
    """Places for parts with these numbers of values, with spare bits for further values.

    `spare`: the number of bits of a part beyond those that its values need. `single`: the number of bits of a
    part with one value.
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
