"""The text of the one state that stands for all that a program need not tell apart.

First ranks are put in the place of ids, even numbers in their order; then the channels are sorted by all that
is known of each.
"""

from collections.abc import Iterator

from model.engines.kernel_text import INDENT
from model.engines.packing import WORD
from model.engines.program import Program
from model.engines.symmetry import element_path
from model.engines.terms import Writer


def canonical(program: Program, *, columns: bool) -> Iterator[str]:
    """A function of the words of a state, of one or of columns of them; nothing if all are told apart."""
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
    symmetry = program.symmetry
    if symmetry is None:
        return
    shape, places = program.layout.shapes[0], program.layout.places[0]
    positions = {shape.fields[position].path: position for position in shape.varying}
    of_channels = [
        [
            places[positions[path]]
            for path in (element_path(name, channel) for name in symmetry.names)
            if path in positions
        ]
        for channel in range(symmetry.size)
    ]
    for channel, own in enumerate(of_channels):
        parts, shift = [], 0
        for place in own:
            part = f"((w{place.word} >> U({place.shift})) & U({(1 << place.bits) - 1}))"
            parts.append(f"({part} << U({shift}))")
            shift += place.bits
        yield f"k{channel} = {' | '.join(parts)}"
    least, greatest = ("np.minimum", "np.maximum") if columns else ("min", "max")
    for end in range(symmetry.size - 1, 0, -1):
        for at in range(end):
            pair = f"k{at}, k{at + 1}"
            yield f"{pair} = {least}({pair}), {greatest}({pair})"
    for channel, own in enumerate(of_channels):
        shift = 0
        for place in own:
            kept = ((1 << WORD) - 1) & ~place.mask
            part = f"((k{channel} >> U({shift})) & U({(1 << place.bits) - 1}))"
            yield f"w{place.word} = (w{place.word} & U({kept})) | ({part} << U({place.shift}))"
            shift += place.bits
