"""Packs states into 64-bit words, by the declared bounds of their fields.

A packed state is one or more unsigned words. Word 0 begins with a bit that is always set, so that no packed
state is 0. The number of the shape follows, then the fields of the shape. Each field lies within one word and
takes as many bits as its bounds need. A field with the same value in all states of a shape takes no bits.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from model.checker.bounds import FieldBounds
from model.checker.shapes import Field, Value, put_together, taken_apart

WORD = 64
"""Bits of a word."""
MARK = 1
"""Number of bits before the number of the shape. There is one: the bit that is always set."""


class Place(NamedTuple):
    """The place of a field in the words of a state."""

    word: int
    shift: int
    bits: int

    @property
    def mask(self) -> int:
        """A mask of the field's bits, at their place in the word."""
        return ((1 << self.bits) - 1) << self.shift


class Shape:
    """A shape: all states with one skeleton.

    It holds their fields, and the values of fields that do not vary.
    """

    def __init__(self, number: int, skeleton: Any, fields: Sequence[Field]) -> None:  # noqa: ANN401
        self.number = number
        self.skeleton = skeleton
        self.fields = tuple(fields)
        self.fixed: dict[int, int] = {}
        """The value of each field that does not vary, by its position."""

    @property
    def varying(self) -> tuple[int, ...]:
        """The positions of the fields that vary."""
        return tuple(position for position in range(len(self.fields)) if position not in self.fixed)


class Layout(NamedTuple):
    """The places of all fields of all shapes in packed states."""

    bounds: FieldBounds
    root: str
    """The name of the records, for messages."""
    shapes: tuple[Shape, ...]
    places: tuple[dict[int, Place], ...]
    """By shape, the place of each varying field by its position."""
    words: int
    shape_bits: int
    numbers: dict[Any, int]
    """The numbers of the shapes, by skeleton."""

    @property
    def bits(self) -> int:
        """Number of bits of the longest state, including the number of its shape and the first bit."""
        ends = [p.word * WORD + p.shift + p.bits for at in self.places for p in at.values()]
        return max(ends, default=MARK + self.shape_bits)

    def pack(self, record: Any) -> tuple[int, ...]:  # noqa: ANN401 - any record of the model
        """The words of a record.

        Raises OutsideError if a field is outside its bounds, KeyError if the record has no known shape.
        """
        skeleton, _, values = taken_apart(record, self.bounds, self.root)
        return self.pack_values(self.numbers[skeleton], values)

    def pack_values(self, shape: int, values: Sequence[Value]) -> tuple[int, ...]:
        """The words of a shape with these values in its fields."""
        words = [0] * self.words
        words[0] = 1 | shape << MARK
        for position, place in self.places[shape].items():
            offset = int(values[position]) - self.shapes[shape].fields[position].lowest
            words[place.word] |= offset << place.shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> Any:  # noqa: ANN401 - any record of the model
        """The record whose packed form is these words."""
        number = (int(words[0]) >> MARK) & ((1 << self.shape_bits) - 1)
        shape = self.shapes[number]
        values: list[Value] = []
        for position, field in enumerate(shape.fields):
            if position in shape.fixed:
                value = shape.fixed[position]
            else:
                place = self.places[number][position]
                value = ((int(words[place.word]) & place.mask) >> place.shift) + field.lowest
            values.append(bool(value) if field.is_bool else value)
        return put_together(shape.skeleton, values)


def layout_of(shapes: Sequence[Shape], bounds: FieldBounds, root: str) -> Layout:
    """A layout in which every field lies within one word. A field that does not fit begins the next word."""
    shape_bits = (len(shapes) - 1).bit_length()
    placed: list[dict[int, Place]] = []
    words = 1
    for shape in shapes:
        word, shift = 0, MARK + shape_bits
        places: dict[int, Place] = {}
        for position in shape.varying:
            bits = shape.fields[position].bits
            if shift + bits > WORD:
                word, shift = word + 1, 0
            places[position] = Place(word, shift, bits)
            shift += bits
        placed.append(places)
        words = max(words, word + 1)
    numbers = {shape.skeleton: shape.number for shape in shapes}
    return Layout(bounds, root, tuple(shapes), tuple(placed), words, shape_bits, numbers)
