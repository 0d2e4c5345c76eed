"""Writes the text of a function that maps a state to the state that represents it.

First the function replaces ids by their ranks (`renaming`). Then it sorts the channels or tasks by all of
their fields (`symmetry`).
"""

from collections.abc import Iterator

from model.checker.compiled.kernel_text import INDENT
from model.checker.compiled.packing import MARK, WORD, Place
from model.checker.compiled.program import Program
from model.checker.compiled.symmetry import columns_of
from model.checker.terms import Writer


def canonical(program: Program, *, columns: bool) -> Iterator[str]:
    """The text of the function, for the words of one state or for columns of many states.

    Empty if the program has no reduction.
    """
    if not program.is_reduced:
        return
    words = [f"w{word}" for word in range(program.layout.words)]
    if not columns:
        yield "@jit"
    yield f"def canonical({', '.join(words)}):"
    for line in (*_ranked(program, columns), *_sorted(program, columns)):
        yield INDENT + line
    yield f"{INDENT}return {', '.join(words)}"
    yield ""


def _ranked(program: Program, columns: bool) -> Iterator[str]:
    shape, places = program.layout.shapes[0], program.layout.places[0]
    writer = Writer({}, columns)
    ids = program.places_of_ids()
    for number, position in enumerate(ids):
        place, lowest = places[position], shape.fields[position].lowest
        bits = f"(w{place.word} >> U({place.shift})) & U({(1 << place.bits) - 1})"
        yield f"v{number} = I({bits}) + ({lowest})"
    for number in range(len(ids)):
        first = [f"(v{number} > 0)", *(f"(v{number} != v{other})" for other in range(number))]
        yield f"d{number} = {writer.joined('and', first)}"
    for number, position in enumerate(ids):
        place, field = places[position], shape.fields[position]
        below = [
            f"I({writer.joined('and', [f'd{other}', f'(v{other} <= v{number})'])})"
            for other in range(len(ids))
        ]
        none = f"np.minimum(v{number}, 0)" if columns else f"min(v{number}, 0)"
        kept = ((1 << WORD) - 1) & ~place.mask
        rank = f"2 * ({' + '.join(below)}) + {none} - ({field.lowest})"
        yield f"w{place.word} = (w{place.word} & U({kept})) | (U({rank}) << U({place.shift}))"


def _sorted(program: Program, columns: bool) -> Iterator[str]:
    """The text that sorts the channels or tasks of each shape."""
    symmetry, layout = program.symmetry, program.layout
    if symmetry is None:
        return
    words = [f"w{word}" for word in range(layout.words)]
    for shape in layout.shapes:
        own = [[layout.places[shape.number][at] for at in column] for column in columns_of(shape, symmetry)]
        if not any(own):
            continue
        lines = _sorted_columns(own, columns)
        if len(layout.shapes) == 1:
            yield from lines
            continue
        number = f"((w0 >> U({MARK})) & U({(1 << layout.shape_bits) - 1})) == U({shape.number})"
        if not columns:
            yield f"if {number}:"
            yield from (INDENT + line for line in lines)
            continue
        kept = [f"o{word}" for word in range(layout.words)]
        yield f"{', '.join(kept)} = {', '.join(words)}"
        yield from lines
        for word, old in zip(words, kept, strict=True):
            chosen = number.replace("w0", "o0")
            yield f"{word} = np.where({chosen}, {word}, {old})"


def _sorted_columns(of_each: list[list[Place]], columns: bool) -> Iterator[str]:
    """Text that joins the fields of each element to one number, sorts the numbers, and splits them."""
    for each, own in enumerate(of_each):
        parts, shift = [], 0
        for place in own:
            part = f"((w{place.word} >> U({place.shift})) & U({(1 << place.bits) - 1}))"
            parts.append(f"({part} << U({shift}))")
            shift += place.bits
        yield f"k{each} = {' | '.join(parts)}"
    least, greatest = ("np.minimum", "np.maximum") if columns else ("min", "max")
    for end in range(len(of_each) - 1, 0, -1):
        for at in range(end):
            pair = f"k{at}, k{at + 1}"
            yield f"{pair} = {least}({pair}), {greatest}({pair})"
    for each, own in enumerate(of_each):
        shift = 0
        for place in own:
            kept = ((1 << WORD) - 1) & ~place.mask
            part = f"((k{each} >> U({shift})) & U({(1 << place.bits) - 1}))"
            yield f"w{place.word} = (w{place.word} & U({kept})) | ({part} << U({place.shift}))"
            shift += place.bits
