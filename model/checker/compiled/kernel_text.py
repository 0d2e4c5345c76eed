"""The text of kernels: the moves of a closed model as Python over packed states.

Two texts are made of one program: of one state for numba (`scalar_text`), and of columns of states for numpy
(`columns_text`). Here is what they have in common. Both ask the same conditions in the same order, and a
successor keeps the bits of the fields that a move leaves alone.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from model.checker.compiled.packing import MARK, Layout, Place, Shape
from model.checker.compiled.program import Move, Offer, Outside, Program, Target
from model.checker.symbolic import SymbolicBool, SymbolicInt
from model.checker.terms import Writer
from model.checker.trees import Tree, leaves, mapped, merged

BROKEN = 1
OUTSIDE = 2
"""Flags of an expansion: a move breaks a property; a move leaves the declared bounds."""
EVERY_ID = (1 << 63) - 1
"""No event is left out for its id."""
INDENT = "    "


class KernelText(NamedTuple):
    """A kernel as text."""

    source: str
    rules: tuple[tuple[str, ...], ...]
    """What moves fire: the kernel marks their numbers in `fired`."""


class Leaf(NamedTuple):
    """The end of a path as text; paths with equal ends are one."""

    number: int
    """Of the rules."""
    words: tuple[str, ...]
    outside: str | None
    """The condition under which a field leaves its bounds."""
    broken: tuple[str, ...]
    """The conditions under which a property is broken."""


def branching(program: Program) -> int:
    """At most so many successors has a state."""
    return max(sum(_successors(offer) for offer in offers) for offers in program.offers)


def _successors(offer: Offer) -> int:
    if not any(isinstance(leaf, Move) for leaf in leaves(offer.moves)):
        return 0
    return prod(field.highest - field.lowest + 1 for field in offer.ranges)


class Text:
    """What both texts have in common: fields by name, and how a successor is put together."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.layout = program.layout
        self.width = program.layout.words + program.said_words
        self.rules: dict[tuple[str, ...], int] = {}

    def ends(self, shape: Shape, writer: Writer, tree: Tree) -> Tree:
        """The tree of moves with what is to be written at its leaves, and no condition that tells nothing."""

        def end(leaf: Move | Outside | None) -> Leaf | Outside | None:
            if not isinstance(leaf, Move):
                return leaf
            targets = (leaf.after,) if leaf.said is None else (leaf.after, leaf.said)
            outside = [text for target in targets for text in self.outside(target, writer)]
            words = self.successor(shape, leaf.after, writer)
            return Leaf(
                self.rules.setdefault(leaf.rules, len(self.rules)),
                (*words, *(self.said(leaf.said, writer) if leaf.said is not None else ())),
                writer.joined("or", outside) if outside else None,
                tuple(writer.truth(broken) for broken in leaf.broken),
            )

        return merged(mapped(tree, end))

    def words(self) -> list[str]:
        """The names of a state's words."""
        return [f"w{word}" for word in range(self.layout.words)]

    def names(self, shape: Shape) -> dict[str, str]:
        """What stands for the symbol of each varying field."""
        return {shape.fields[position].path: f"f{position}" for position in shape.varying}

    def unpacked(self, shape: Shape) -> Iterator[str]:
        """The fields as variables."""
        for position in shape.varying:
            field, place = shape.fields[position], self.layout.places[shape.number][position]
            bits = f"(w{place.word} >> U({place.shift})) & U({(1 << place.bits) - 1})"
            if field.is_bool:
                yield f"f{position} = ({bits}) != U(0)"
            else:
                yield f"f{position} = I({bits})" + (f" + ({field.lowest})" if field.lowest else "")

    def successor(self, shape: Shape, target: Target, writer: Writer) -> list[str]:
        """The words of the state after a move."""
        after = self.layout.shapes[self.layout.numbers[target.skeleton]]
        places = self.layout.places[after.number]
        same = after.number == shape.number
        kept = [0] * self.layout.words
        if same:
            kept[0] = (1 << (MARK + self.layout.shape_bits)) - 1
        changed: list[int] = []
        for position in after.varying:
            if same and _is_symbol(target.values[position], after.fields[position].path):
                kept[places[position].word] |= places[position].mask
            else:
                changed.append(position)
        start = 0 if same else 1 | after.number << MARK
        return self._written(target, places, changed, start, kept, writer)

    def said(self, target: Target, writer: Writer) -> list[str]:
        """The words of what is said in a move."""
        said = self.program.said
        assert said is not None
        shape = said.shapes[said.numbers[target.skeleton]]
        places = said.places[shape.number]
        start = 1 | shape.number << MARK
        return self._written(target, places, list(shape.varying), start, [0] * said.words, writer, said)

    def _written(
        self,
        target: Target,
        places: dict[int, Place],
        changed: list[int],
        start: int,
        kept: list[int],
        writer: Writer,
        layout: Layout | None = None,
    ) -> list[str]:
        words: list[str] = []
        for word in range((layout or self.layout).words):
            constant = start if word == 0 else 0
            parts = [f"(w{word} & U({kept[word]}))"] if kept[word] else []
            for position in changed:
                place, field, value = places[position], target.fields[position], target.values[position]
                if place.word != word:
                    continue
                if isinstance(value, SymbolicBool | SymbolicInt):
                    text = writer.value(value)
                    moved = text if field.is_bool or not field.lowest else f"{text} - ({field.lowest})"
                    parts.append(f"(U({moved}) << U({place.shift}))" if place.shift else f"U({moved})")
                else:
                    constant |= (int(value) - field.lowest) << place.shift
            if constant or not parts:
                parts.append(f"U({constant})")
            words.append(" | ".join(parts))
        return words

    def outside(self, target: Target, writer: Writer) -> Iterator[str]:
        """The conditions under which fields leave their bounds."""
        for position in target.checked:
            field, value = target.fields[position], writer.value(target.values[position])
            inside = [f"({value} >= {field.lowest})", f"({value} <= {field.highest})"]
            yield writer.negated(writer.joined("and", inside))


def _is_symbol(value: object, path: str) -> bool:
    return isinstance(value, SymbolicBool | SymbolicInt) and str(value.term) == path
