"""The text of kernels: Python source that computes the moves of a closed model on packed states.

A program has two texts: `scalar_text` handles one state at a time and is compiled by numba; `columns_text`
handles columns of states and uses numpy. This module holds their common part. Both test the same conditions
in the same order. A successor keeps the bits of the fields that a move does not change.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from model.checker.compiled.packing import MARK, Layout, Place, Shape
from model.checker.compiled.program import Move, Offer, Outside, Program, Target
from model.checker.decision_trees import Tree, leaves, mapped, merged
from model.checker.symbolic import SymbolicBool, SymbolicInt
from model.checker.terms import Writer

BROKEN = 1
OUTSIDE = 2
"""Flags of an expansion. BROKEN: a move breaks a property. OUTSIDE: a move leaves the declared bounds."""
EVERY_ID = (1 << 63) - 1
"""Default of the highest id of an event (`up_to`). It excludes no id."""
INDENT = "    "


class KernelText(NamedTuple):
    """A kernel as text."""

    source: str
    rules: tuple[tuple[str, ...], ...]
    """The sets of rules that moves fire. If a move fires set n, the kernel writes 1 to `fired[n]`."""


class Leaf(NamedTuple):
    """The text at the end of a path: the successor and its checks. Paths with equal texts share a leaf."""

    number: int
    """The number of the set of rules that the move fires."""
    words: tuple[str, ...]
    outside: str | None
    """The condition under which a field leaves its bounds, or None."""
    broken: tuple[str, ...]
    """The conditions under which a property is broken."""


def branching(program: Program) -> int:
    """Maximum number of successors of a state."""
    return max(sum(_successors(offer) for offer in offers) for offers in program.offers)


def _successors(offer: Offer) -> int:
    if not any(isinstance(leaf, Move) for leaf in leaves(offer.moves)):
        return 0
    return prod(field.highest - field.lowest + 1 for field in offer.ranges)


class Text:
    """The common part of both texts: names of fields, and the text that composes a successor."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.layout = program.layout
        self.width = program.layout.words + program.label_words
        self.rules: dict[tuple[str, ...], int] = {}

    def ends(self, shape: Shape, writer: Writer, tree: Tree) -> Tree:
        """The tree of moves with texts as leaves, without conditions after which both trees are equal."""

        def end(leaf: Move | Outside | None) -> Leaf | Outside | None:
            if not isinstance(leaf, Move):
                return leaf
            targets = (leaf.after,) if leaf.label is None else (leaf.after, leaf.label)
            outside = [text for target in targets for text in self.outside(target, writer)]
            words = self.successor(shape, leaf.after, writer)
            return Leaf(
                self.rules.setdefault(leaf.rules, len(self.rules)),
                (*words, *(self.label(leaf.label, writer) if leaf.label is not None else ())),
                writer.joined("or", outside) if outside else None,
                tuple(writer.truth(broken) for broken in leaf.broken),
            )

        return merged(mapped(tree, end))

    def words(self) -> list[str]:
        """The names of a state's words."""
        return [f"w{word}" for word in range(self.layout.words)]

    def names(self, shape: Shape) -> dict[str, str]:
        """By the path of a varying field: the name of its variable in the text."""
        return {shape.fields[position].path: f"f{position}" for position in shape.varying}

    def unpacked(self, shape: Shape) -> Iterator[str]:
        """Yields the assignments that unpack the fields into variables."""
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

    def label(self, target: Target, writer: Writer) -> list[str]:
        """The words of the label of a move."""
        label = self.program.label
        assert label is not None
        shape = label.shapes[label.numbers[target.skeleton]]
        places = label.places[shape.number]
        start = 1 | shape.number << MARK
        return self._written(target, places, list(shape.varying), start, [0] * label.words, writer, label)

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
