"""Lines over two axes as one self-contained SVG."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 900, 420, 70, 180, 50, 50
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#7f7f7f")


class Panel(NamedTuple):
    """What is drawn. `series`: by name, points from left to right."""

    across: str
    up: str
    series: Mapping[str, Sequence[tuple[float, float]]]


def svg(title: str, panel: Panel) -> str:
    """The picture; both axes begin at 0. Raises ValueError without a point."""
    points = [point for one in panel.series.values() for point in one]
    if not points:
        raise ValueError("there is nothing to draw")
    widest, highest = max(x for x, _ in points) or 1.0, (max(y for _, y in points) or 1.0) * 1.05
    right, base = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return _LEFT + x / widest * (right - _LEFT), base - y / highest * (base - _TOP)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="22" font-size="15">{escape(title)}</text>',
        f'<text x="{_LEFT}" y="{_TOP - 10}">{escape(panel.up)}</text>',
        f'<text x="{right}" y="{base + 36}" text-anchor="end">{escape(panel.across)}</text>',
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = place(widest * share, highest * share)
        lines += [
            f'<line x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{highest * share:,.4g}</text>',
            f'<text x="{x:.1f}" y="{base + 18}" text-anchor="middle">{widest * share:,.6g}</text>',
        ]
    for number, (name, drawn) in enumerate(panel.series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in drawn))
        y = _TOP + 18 * number
        lines += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>',
            f'<rect x="{right + 12}" y="{y - 1}" width="20" height="3" fill="{colour}"/>',
            f'<text x="{right + 38}" y="{y + 4}">{escape(name)}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"
