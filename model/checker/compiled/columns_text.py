"""Writes the text of a kernel over columns. It maps the words of many states to those of all successors."""

import re
from collections.abc import Iterator

from model.checker.compiled.kernel_text import INDENT, KernelText, Leaf, Text
from model.checker.compiled.packing import MARK, Shape
from model.checker.compiled.program import Offer, Outside, Program
from model.checker.compiled.symmetry_text import canonical
from model.checker.decision_trees import Branch, Tree
from model.checker.terms import Writer


def columns_text(program: Program) -> KernelText:
    """The text of a function `successors(words, fired, up_to)`.

    The function returns a list of (sources, broken, columns ...). Each element holds some of the transitions.
    The function leaves out events with an id above `up_to`.
    """
    writing = _Columns(program)
    return KernelText("\n".join(writing.lines()), tuple(writing.rules))


class _Columns(Text):
    """Writes text that handles all rows of the columns at once, with numpy."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.masks = 0

    def lines(self) -> Iterator[str]:
        yield from canonical(self.program, columns=True)
        for shape in self.layout.shapes:
            yield from self._shape(shape)
            yield ""
        names = self.words()
        yield "def successors(words, fired, up_to):"
        yield f"{INDENT}{', '.join(names)}{',' * (len(names) == 1)} = words"
        yield f"{INDENT}found = []"
        if len(self.layout.shapes) == 1:
            yield f"{INDENT}expand_0(np.arange(len(w0)), {', '.join(names)}, found, fired, up_to)"
        else:
            yield f"{INDENT}shape = (w0 >> U({MARK})) & U({(1 << self.layout.shape_bits) - 1})"
            for shape in self.layout.shapes:
                yield f"{INDENT}rows = np.flatnonzero(shape == U({shape.number}))"
                chosen = ", ".join(f"{name}[rows]" for name in names)
                yield f"{INDENT}if len(rows):"
                yield f"{INDENT * 2}expand_{shape.number}(rows, {chosen}, found, fired, up_to)"
        yield f"{INDENT}return found"

    def _shape(self, shape: Shape) -> Iterator[str]:
        yield f"def expand_{shape.number}({', '.join(('rows', *self.words(), 'found', 'fired', 'up_to'))}):"
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
            yield f"{INDENT * depth}for n{place} in range({field.lowest}, min({field.highest}, up_to) + 1):"
            depth += 1
        chosen = {path: f"{name}[r]" if name[0] == "f" else name for path, name in names.items()}
        moves = self.ends(shape, Writer(chosen, columns=True), offer.moves)
        for line in self._tree(moves, writer, "offered"):
            yield INDENT * depth + line

    def _tree(self, tree: Tree, writer: Writer, mask: str) -> Iterator[str]:
        if isinstance(tree, Branch):
            self.masks += 1
            condition = f"m{self.masks}"
            yield f"{condition} = {writer.of(tree.condition)}"
            yield f"{condition}y = np.logical_and({mask}, {condition})"
            yield f"{condition}n = np.logical_and({mask}, np.logical_not({condition}))"
            yield from self._tree(tree.yes, writer, f"{condition}y")
            yield from self._tree(tree.no, writer, f"{condition}n")
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
        if self.program.is_reduced:
            words = f"canonical({words})" if self.layout.words == 1 else f"*canonical({words})"
        yield f"found.append((rows[r], {broken}, {words}))"


def _of_rows(word: str) -> str:
    """The text of a word in a leaf: each column is indexed by `r`, the rows that reach the leaf."""
    return re.sub(r"\(w(\d+) &", r"(w\1[r] &", word)
