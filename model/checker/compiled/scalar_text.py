"""Writes the text of a kernel for numba. It maps the words of one state to those of its successors."""

import re
from collections.abc import Iterator

from model.checker.compiled.kernel_text import BROKEN, INDENT, OUTSIDE, KernelText, Leaf, Text
from model.checker.compiled.packing import MARK, Shape
from model.checker.compiled.program import Offer, Outside, Program
from model.checker.compiled.symmetry_text import canonical
from model.checker.decision_trees import Branch, Tree
from model.checker.terms import Writer


def scalar_text(program: Program) -> KernelText:
    """The text of a function `expand(words, out, fired, answers)`. `answers` is not used.

    `words` is an array of the state's words. The function writes the successors as rows to the buffer `out`,
    and returns the number of these rows, the number of moves, and flags. A move that does not change the
    state counts as a move, and is not written. If the program has labels, each row ends with the words of the
    label, and every move is written.
    """
    writing = _Scalar(program)
    text = "\n".join(writing.lines())
    constants = sorted({int(number) for number in re.findall(r"U\((\d+)\)", text)})
    named = "\n".join(f"U{number} = U({number})" for number in constants)  # numba types a name much faster
    text = named + "\n\n\n" + re.sub(r"U\((\d+)\)", r"U\1", text)
    return KernelText(text, tuple(writing.rules))


class _Scalar(Text):
    """Writes text that handles one state at a time, for numba."""

    def lines(self) -> Iterator[str]:
        yield from canonical(self.program, columns=False)
        for shape in self.layout.shapes:
            yield from self._shape(shape)
            yield ""
        yield "@jit"
        yield "def expand(words, out, fired, answers):"
        for word, name in enumerate(self.words()):
            yield f"{INDENT}{name} = words[{word}]"
        arguments = ", ".join((*self.words(), "out", "fired"))
        if len(self.layout.shapes) == 1:
            yield f"{INDENT}return expand_0({arguments})"
            return
        yield f"{INDENT}shape = I((w0 >> U({MARK})) & U({(1 << self.layout.shape_bits) - 1}))"
        yield from self._dispatch(0, len(self.layout.shapes), arguments, 1)

    def _dispatch(self, lowest: int, end: int, arguments: str, depth: int) -> Iterator[str]:
        """A binary search for the shape of the state, because there can be hundreds of shapes."""
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
        """The text that writes the successor to `out`, if a move was taken and changes the state."""
        results = [f"a{place}" for place in range(self.width)]
        yield "if taken >= 0:"
        yield f"{INDENT}moves += 1"
        yield f"{INDENT}fired[taken] = 1"
        depth = 1
        if self.program.is_reduced:
            names = ", ".join(results)
            yield f"{INDENT}{names} = canonical({names})"
        if self.program.label is None:
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
            yield f"{INDENT * depth}if {writer.of(tree.condition)}:"
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
