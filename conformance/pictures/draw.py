"""An SVG of a graph: states in columns by the longest way to them, arrows with their events.

An arrow over several columns goes through a place of its own in each of them, so that it passes no state.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from conformance.pictures.graph import Arrow, Drawn

WIDE, HIGH = 132, 40
COLUMN, ROW, LANE = 290, 66, 34
EDGE, HEAD = 24, 60
SWEEPS = 24
"""How often the places of each column are put in the order of their neighbours."""
LABELS = 2
"""Events told on one arrow; of more only the number."""
ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.2, 0.8)
"""Where between two columns a label may stand; the first where it covers no other is taken."""
LETTER, LINE = 5.4, 12.0
"""How large a letter of a label is, about."""
STYLE = (
    "text{font:11px sans-serif;fill:#222}.t{font-weight:bold;font-size:15px}"
    ".s{fill:#eef4fb;stroke:#4a6d94}.a{fill:none;stroke:#8a97a6}.b{stroke:#c08a5a;stroke-dasharray:5 3}"
    ".l{font-size:10px;paint-order:stroke;stroke:#fff;stroke-width:4px}.n{fill:#e8f3e4}"
)

Spot = tuple[int, int]
"""A state (its number, -1), or the place of an arrow (its position, the column)."""


class Line(NamedTuple):
    """An arrow and the spots it goes through, from left to right."""

    arrow: Arrow
    spots: tuple[Spot, ...]
    leads_back: bool


def svg(title: str, graph: Drawn) -> str:
    """The picture; the same graph is always the same text."""
    lines = _lines(graph)
    columns = _ordered(graph, lines)
    heights = [sum(_height(spot) for spot in column) for column in columns]
    places: dict[Spot, tuple[float, float]] = {}
    for at, column in enumerate(columns):
        y = HEAD + (max(heights) - heights[at]) / 2
        for spot in column:
            places[spot] = (EDGE + at * COLUMN, y + _height(spot) / 2)
            y += _height(spot)
    width = 2 * EDGE + (len(columns) - 1) * COLUMN + WIDE
    height = HEAD + max(heights) + EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="h" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#7a8796"/></marker></defs>',
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
        f'<text class="t" x="{EDGE}" y="28">{escape(title)}</text>',
    ]
    ordered = sorted(lines, key=lambda line: [places[spot] for spot in line.spots])
    parts += [_path(line, places) for line in ordered]
    parts += [_state(places[number, -1], told, number) for number, told in enumerate(graph.states)]
    taken: list[tuple[float, float, float]] = []
    parts += [_label(line, places, taken) for line in ordered]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _height(spot: Spot) -> int:
    return ROW if spot[1] < 0 else LANE


def _lines(graph: Drawn) -> list[Line]:
    lines = []
    for at, arrow in enumerate(graph.arrows):
        left, right = sorted((arrow.source, arrow.target), key=lambda state: graph.columns[state])
        between = range(graph.columns[left] + 1, graph.columns[right])
        spots = ((left, -1), *((at, column) for column in between), (right, -1))
        lines.append(Line(arrow, spots, left == arrow.target))
    return lines


def _ordered(graph: Drawn, lines: Sequence[Line]) -> list[list[Spot]]:
    """The spots of each column, so that arrows cross seldom."""
    columns: list[list[Spot]] = [[] for _ in range(max(graph.columns) + 1)]
    near: dict[Spot, list[Spot]] = {}
    for state, at in enumerate(graph.columns):
        columns[at].append((state, -1))
        near[state, -1] = []
    for line in lines:
        for spot in line.spots[1:-1]:
            columns[spot[1]].append(spot)
            near[spot] = []
        for one, other in zip(line.spots, line.spots[1:], strict=False):
            near[one].append(other)
            near[other].append(one)
    for sweep in range(SWEEPS):
        rows = {spot: row / len(column) for column in columns for row, spot in enumerate(column)}
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            column.sort(key=lambda spot: (_mean([rows[one] for one in near[spot]]), spot))
            rows.update({spot: row / len(column) for row, spot in enumerate(column)})
    return columns


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.5


def _state(place: tuple[float, float], lines: Sequence[str], number: int) -> str:
    x, y = place
    first = y + 4 - 6.5 * (len(lines) - 1)
    texts = "".join(
        f'<text x="{x + WIDE / 2:g}" y="{first + 13 * at:g}" text-anchor="middle">{escape(line)}</text>'
        for at, line in enumerate(lines)
    )
    look = "s n" if number == 0 else "s"
    return (
        f'<rect class="{look}" x="{x:g}" y="{y - HIGH / 2:g}" width="{WIDE}" height="{HIGH}" rx="7"/>{texts}'
    )


def _path(line: Line, places: Mapping[Spot, tuple[float, float]]) -> str:
    """From column to column, level within each; one that leads back has its head at the left."""
    x, y = places[line.spots[0]]
    drawn = [f"M{x + WIDE:g} {y:g}"]
    for spot in line.spots[1:]:
        after, level = places[spot]
        bend = (after - x - WIDE) / 2
        drawn.append(f"C{x + WIDE + bend:g} {y:g} {after - bend:g} {level:g} {after:g} {level:g}")
        if spot[1] >= 0:
            drawn.append(f"H{after + WIDE:g}")
        x, y = after, level
    look, head = ("a b", "marker-start") if line.leads_back else ("a", "marker-end")
    return f'<path class="{look}" {head}="url(#h)" d="{"".join(drawn)}"/>'


def _label(
    line: Line, places: Mapping[Spot, tuple[float, float]], taken: list[tuple[float, float, float]]
) -> str:
    """Between the first two columns; of an arrow that leads back between the last two.

    `taken` are the middles and widths of the labels before, to which this one is added.
    """
    one, other = line.spots[-2:] if line.leads_back else line.spots[:2]
    (x1, y1), (x2, y2) = places[one], places[other]
    x1 += WIDE
    told = ", ".join(line.arrow.labels[:LABELS])
    if len(line.arrow.labels) > LABELS:
        told += f", +{len(line.arrow.labels) - LABELS}"
    wide = len(told) * LETTER
    spots = [(x1 + (x2 - x1) * along, y1 + (y2 - y1) * (3 * along**2 - 2 * along**3) + 3) for along in ALONG]
    free = (spot for spot in spots if not any(_covers(spot, wide, *known) for known in taken))
    x, y = next(free, spots[0])
    taken.append((x, y, wide))
    return f'<text class="l" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(told)}</text>'


def _covers(spot: tuple[float, float], wide: float, x: float, y: float, its: float) -> bool:
    return abs(spot[0] - x) < (wide + its) / 2 and abs(spot[1] - y) < LINE
