"""The text of kernels: the moves of a closed model as Python over packed states.

Two texts are made of one program (`model.engines.moves`). `scalar_text` is a function that numba
compiles: it takes the words of one state and writes the words of its successors into a buffer.
`columns_text` takes a column of each word and works on all rows at once with numpy. Both ask the same
conditions in the same order; a successor keeps the bits of the fields that a move leaves alone.
"""

import re
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from model.engines.moves import Move, Offer, Outside, Program, Target
from model.engines.packing import MARK, WORD, Layout, Place, Shape
from model.engines.symbolic import SymbolicBool, SymbolicInt
from model.engines.symmetry import element_path
from model.engines.terms import Writer
from model.engines.trees import Branch, Tree, leaves, mapped, merged

BROKEN = 1
OUTSIDE = 2
"""Flags of an expansion: a move breaks a property; a move leaves the declared bounds."""
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


def scalar_text(program: Program) -> KernelText:
    """`expand(words, out, fired)`: how many successors were written, how many moves there are, and flags.

    `words` is an array of the state's words, `out` a buffer of rows; a move that changes nothing is counted
    and not written. If the program
    tells what is said, each row ends with the words of that, and every move is written.
    """
    writing = _Scalar(program)
    text = "\n".join(writing.lines())
    constants = sorted({int(number) for number in re.findall(r"U\((\d+)\)", text)})
    named = "\n".join(f"U{number} = U({number})" for number in constants)  # numba types a name much faster
    text = named + "\n\n\n" + re.sub(r"U\((\d+)\)", r"U\1", text)
    return KernelText(text, tuple(writing.rules))


def columns_text(program: Program) -> KernelText:
    """`successors(words, fired)`: a list of (sources, broken, columns ...), each a part of the moves."""
    writing = _Columns(program)
    return KernelText("\n".join(writing.lines()), tuple(writing.rules))


class _Text:
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

    def canonical(self, least: str, greatest: str) -> Iterator[str]:
        """A function that sorts the channels of a state by all that is known of each."""
        symmetry = self.program.symmetry
        if symmetry is None:
            return
        shape, places = self.layout.shapes[0], self.layout.places[0]
        positions = {shape.fields[position].path: position for position in shape.varying}
        columns = [
            [
                places[positions[path]]
                for path in (element_path(name, channel) for name in symmetry.names)
                if path in positions
            ]
            for channel in range(symmetry.size)
        ]
        kept = [(1 << WORD) - 1] * self.layout.words
        for place in (place for column in columns for place in column):
            kept[place.word] &= ~place.mask
        yield f"def canonical({', '.join(self.words())}):"
        for channel, column in enumerate(columns):
            shift, parts = 0, []
            for place in column:
                part = f"((w{place.word} >> U({place.shift})) & U({(1 << place.bits) - 1}))"
                parts.append(f"({part} << U({shift}))")
                shift += place.bits
            yield f"{INDENT}k{channel} = {' | '.join(parts)}"
        for end in range(symmetry.size - 1, 0, -1):
            for at in range(end):
                pair = f"k{at}, k{at + 1}"
                yield f"{INDENT}{pair} = {least}({pair}), {greatest}({pair})"
        for word in range(self.layout.words):
            parts = [f"(w{word} & U({kept[word]}))"]
            for channel, column in enumerate(columns):
                shift = 0
                for place in column:
                    if place.word == word:
                        part = f"((k{channel} >> U({shift})) & U({(1 << place.bits) - 1}))"
                        parts.append(f"({part} << U({place.shift}))")
                    shift += place.bits
            yield f"{INDENT}c{word} = {' | '.join(parts)}"
        results = [f"c{word}" for word in range(self.layout.words)]
        yield f"{INDENT}return {', '.join(results)}"
        yield ""

    def words(self) -> list[str]:
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


class _Scalar(_Text):
    """One state at a time, for numba."""

    def lines(self) -> Iterator[str]:
        if self.program.symmetry is not None:
            yield "@jit"
            yield from self.canonical("min", "max")
        for shape in self.layout.shapes:
            yield from self._shape(shape)
            yield ""
        yield "@jit"
        yield "def expand(words, out, fired):"
        for word, name in enumerate(self.words()):
            yield f"{INDENT}{name} = words[{word}]"
        arguments = ", ".join((*self.words(), "out", "fired"))
        if len(self.layout.shapes) == 1:
            yield f"{INDENT}return expand_0({arguments})"
            return
        yield f"{INDENT}shape = I((w0 >> U({MARK})) & U({(1 << self.layout.shape_bits) - 1}))"
        yield from self._dispatch(0, len(self.layout.shapes), arguments, 1)

    def _dispatch(self, lowest: int, end: int, arguments: str, depth: int) -> Iterator[str]:
        """A search by halves: there may be hundreds of shapes."""
        if end - lowest == 1:
            yield f"{INDENT * depth}return expand_{lowest}({arguments})"
            return
        middle = (lowest + end) // 2
        yield f"{INDENT * depth}if shape < {middle}:"
        yield from self._dispatch(lowest, middle, arguments, depth + 1)
        yield from self._dispatch(middle, end, arguments, depth)

    def _shape(self, shape: Shape) -> Iterator[str]:
        yield "@jit"
        yield f"def expand_{shape.number}({', '.join((*self.words(), 'out', 'fired'))}):"
        yield f"{INDENT}count = 0"
        yield f"{INDENT}moves = 0"
        yield f"{INDENT}flags = 0"
        for place in range(self.width):
            yield f"{INDENT}a{place} = U(0)"
        for line in self.unpacked(shape):
            yield INDENT + line
        for offer in self.program.offers[shape.number]:
            yield from self._offer(shape, offer)
        yield f"{INDENT}return count, moves, flags"

    def _offer(self, shape: Shape, offer: Offer) -> Iterator[str]:
        names = self.names(shape) | {field.path: f"n{place}" for place, field in enumerate(offer.ranges)}
        writer = Writer(names, columns=False)
        offered = writer.truth(offer.offered)
        if offered == "False":
            return
        depth = 1
        if offered != "True":
            yield f"{INDENT}if {offered}:"
            depth += 1
        for place, field in enumerate(offer.ranges):
            yield f"{INDENT * depth}for n{place} in range({field.lowest}, {field.highest + 1}):"
            depth += 1
        yield f"{INDENT * depth}taken = -1"
        yield from self._tree(self.ends(shape, writer, offer.moves), writer, depth)
        for line in self._taken():
            yield INDENT * depth + line

    def _taken(self) -> Iterator[str]:
        """Write down the successor, if a move was taken and changes something."""
        results = [f"a{place}" for place in range(self.width)]
        yield "if taken >= 0:"
        yield f"{INDENT}moves += 1"
        yield f"{INDENT}fired[taken] = 1"
        depth = 1
        if self.program.symmetry is not None:
            names = ", ".join(results)
            yield f"{INDENT}{names} = canonical({names})"
        if self.program.said is None:
            changed = " or ".join(
                f"{after} != {before}" for after, before in zip(results, self.words(), strict=True)
            )
            yield f"{INDENT}if {changed}:"
            depth += 1
        for place, result in enumerate(results):
            yield f"{INDENT * depth}out[count, {place}] = {result}"
        yield f"{INDENT * depth}count += 1"

    def _tree(self, tree: Tree, writer: Writer, depth: int) -> Iterator[str]:
        if isinstance(tree, Branch):
            yield f"{INDENT * depth}if {writer.of(tree.asked)}:"
            yield from self._tree(tree.yes, writer, depth + 1)
            yield f"{INDENT * depth}else:"
            yield from self._tree(tree.no, writer, depth + 1)
            return
        for line in self._leaf(tree):
            yield INDENT * depth + line

    def _leaf(self, leaf: Leaf | Outside | None) -> Iterator[str]:
        if leaf is None:
            yield "pass"
            return
        if isinstance(leaf, Outside):
            yield f"flags |= {OUTSIDE}"
            return
        if leaf.outside is not None:
            yield f"if {leaf.outside}:"
            yield f"{INDENT}flags |= {OUTSIDE}"
        for broken in leaf.broken:
            yield f"if {broken}:"
            yield f"{INDENT}flags |= {BROKEN}"
        yield f"taken = {leaf.number}"
        for place, word in enumerate(leaf.words):
            yield f"a{place} = {word}"


class _Columns(_Text):
    """All rows of columns at once, for numpy."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.masks = 0

    def lines(self) -> Iterator[str]:
        yield from self.canonical("np.minimum", "np.maximum")
        for shape in self.layout.shapes:
            yield from self._shape(shape)
            yield ""
        names = self.words()
        yield "def successors(words, fired):"
        yield f"{INDENT}{', '.join(names)}{',' * (len(names) == 1)} = words"
        yield f"{INDENT}found = []"
        if len(self.layout.shapes) == 1:
            yield f"{INDENT}expand_0(np.arange(len(w0)), {', '.join(names)}, found, fired)"
        else:
            yield f"{INDENT}shape = (w0 >> U({MARK})) & U({(1 << self.layout.shape_bits) - 1})"
            for shape in self.layout.shapes:
                yield f"{INDENT}rows = np.flatnonzero(shape == U({shape.number}))"
                chosen = ", ".join(f"{name}[rows]" for name in names)
                yield f"{INDENT}if len(rows):"
                yield f"{INDENT * 2}expand_{shape.number}(rows, {chosen}, found, fired)"
        yield f"{INDENT}return found"

    def _shape(self, shape: Shape) -> Iterator[str]:
        yield f"def expand_{shape.number}({', '.join(('rows', *self.words(), 'found', 'fired'))}):"
        for line in self.unpacked(shape):
            yield INDENT + line
        for offer in self.program.offers[shape.number]:
            yield from self._offer(shape, offer)
        yield f"{INDENT}return"

    def _offer(self, shape: Shape, offer: Offer) -> Iterator[str]:
        names = self.names(shape) | {field.path: f"n{place}" for place, field in enumerate(offer.ranges)}
        writer = Writer(names, columns=True)
        offered = writer.truth(offer.offered)
        if offered == "False":
            return
        yield f"{INDENT}offered = {offered}"
        depth = 1
        for place, field in enumerate(offer.ranges):
            yield f"{INDENT * depth}for n{place} in range({field.lowest}, {field.highest + 1}):"
            depth += 1
        chosen = {path: f"{name}[r]" if name[0] == "f" else name for path, name in names.items()}
        moves = self.ends(shape, Writer(chosen, columns=True), offer.moves)
        for line in self._tree(moves, writer, "offered"):
            yield INDENT * depth + line

    def _tree(self, tree: Tree, writer: Writer, mask: str) -> Iterator[str]:
        if isinstance(tree, Branch):
            self.masks += 1
            asked = f"m{self.masks}"
            yield f"{asked} = {writer.of(tree.asked)}"
            yield f"{asked}y = np.logical_and({mask}, {asked})"
            yield f"{asked}n = np.logical_and({mask}, np.logical_not({asked}))"
            yield from self._tree(tree.yes, writer, f"{asked}y")
            yield from self._tree(tree.no, writer, f"{asked}n")
            return
        if tree is None:
            return
        yield f"r = chosen({mask}, len(rows))"
        yield "if len(r):"
        for line in self._leaf(tree, writer):
            yield INDENT + line

    def _leaf(self, leaf: Leaf | Outside, writer: Writer) -> Iterator[str]:
        if isinstance(leaf, Outside):
            yield f"raise OutsideError({leaf.reason!r})"
            return
        if leaf.outside is not None:
            yield f"if np.any({leaf.outside}):"
            yield f"{INDENT}raise OutsideError('a field leaves its declared bounds; widen them')"
        yield f"fired[{leaf.number}] = 1"
        broken = writer.joined("or", list(leaf.broken)) if leaf.broken else "False"
        words = ", ".join(_of_rows(word) for word in leaf.words)
        if self.program.symmetry is not None:
            words = f"canonical({words})" if self.layout.words == 1 else f"*canonical({words})"
        yield f"found.append((rows[r], {broken}, {words}))"


def _of_rows(word: str) -> str:
    """The text of a word in which columns of all rows are taken at the rows of a leaf."""
    return re.sub(r"\(w(\d+) &", r"(w\1[r] &", word)
