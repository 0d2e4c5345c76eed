"""Computes a diagram in pixels: the elements that the template draws, with their positions.

Time runs to the right, one column for each step. The width of a column depends on the marks of its step.
"""

from collections.abc import Iterator
from typing import NamedTuple

from conformance.diagram.elements import Arrow, Band, Diagram, Mark

COLUMN, SLOT, LANE = 46, 30, 54
"""In pixels: the minimum width of a step, the width of one mark, the height of a lane."""
ROOMY = 560
"""The width in pixels that a diagram with few steps fills. A step gets at most twice the minimum width."""
HEAD, FOOT, EDGE = 34, 12, 18
AFTER = 128
"""The width after the last step, for the state after it."""
LETTER = 7.0
"""The approximate width of a letter of a lane's name."""
HUES = 6
"""The number of colours of checkpoints. With more checkpoints, colours repeat."""
TIP, HALF, GAP = 8.0, 3.4, 7.0
"""The length of an arrow's head, half its width, and its distance from marks."""

TALL = frozenset({"blocked", "open", "pre-committed", "committed", "retained"})
"""Bands that fill the lane; the others are strips below it."""


class Rect(NamedTuple):
    """The rectangle of a band."""

    x: float
    y: float
    width: float
    height: float
    band: Band


class Spot(NamedTuple):
    """A mark and its middle."""

    x: float
    y: float
    mark: Mark
    hue: int
    is_beside: bool
    """Whether the label stands beside the mark, because an arrow comes from above."""


class Drawn(NamedTuple):
    """An arrow and its head."""

    line: str
    head: str
    arrow: Arrow
    hue: int


class Column(NamedTuple):
    """One step: its position and its marks."""

    step: int
    x: float
    width: float
    middle: float
    spots: tuple[Spot, ...]
    arrows: tuple[Drawn, ...]


class Line(NamedTuple):
    """A lane: its name and the line up to where it ends."""

    name: str
    y: float
    ends: float


class Sheet(NamedTuple):
    """The whole diagram."""

    width: float
    height: float
    names: float
    """The width of the lanes' names, which are a separate drawing."""
    lines: tuple[Line, ...]
    rects: tuple[Rect, ...]
    fronts: tuple[tuple[str, int, bool], ...]
    """The path of a front, its hue, and whether it ended in a trigger."""
    columns: tuple[Column, ...]
    after: float
    """The x coordinate at which the state after the last step begins."""
    wrong: int | None


def laid_out(diagram: Diagram) -> Sheet:
    """The places of all elements of a diagram."""
    return _Layout(diagram).sheet()


class _Layout:
    """Computes the positions of steps and lanes, and of all elements from them."""

    def __init__(self, diagram: Diagram) -> None:
        self._diagram = diagram
        self._heights = {lane: HEAD + LANE * (at + 0.5) for at, lane in enumerate(diagram.lanes)}
        slots = dict.fromkeys(range(1, diagram.steps + 1), 1)
        self._slot = dict.fromkeys(slots, float(SLOT))
        for mark in diagram.marks:
            slots[mark.step] = max(slots[mark.step], mark.slot + 1)
            self._slot[mark.step] = max(self._slot[mark.step], len(mark.label) * LETTER + 4)
        self._slots = slots
        self._from_above = {
            (*arrow.end, arrow.slot)
            for arrow in diagram.arrows
            if arrow.start[0] == arrow.end[0] and self._heights[arrow.start[1]] < self._heights[arrow.end[1]]
        }
        self._left: dict[int, float] = {}
        x = float(EDGE)
        for step in slots:
            self._left[step] = x
            x += self._wide(step)
        self._after = x
        self._width = x + AFTER

    def sheet(self) -> Sheet:
        diagram = self._diagram
        bottom = HEAD + LANE * len(diagram.lanes) + FOOT
        return Sheet(
            width=self._width,
            height=bottom,
            names=max(len(lane) for lane in diagram.lanes) * LETTER + 14,
            lines=tuple(
                Line(lane, y, self._x(diagram.closed[lane]) if lane in diagram.closed else self._width)
                for lane, y in self._heights.items()
            ),
            rects=tuple(self._rect(band) for band in diagram.bands),
            fronts=tuple(self._fronts()),
            columns=tuple(self._column(step) for step in self._slots),
            after=self._after,
            wrong=diagram.wrong,
        )

    def _wide(self, step: int) -> float:
        least = min(2 * COLUMN, max(COLUMN, ROOMY / self._diagram.steps))
        return max(least, self._slot[step] * self._slots[step] + COLUMN - SLOT)

    def _x(self, step: int, slot: int = 0) -> float:
        """The x coordinate of the middle of a slot. After the last step: that of the edge."""
        if step > self._diagram.steps:
            return self._width
        free = self._wide(step) - self._slot[step] * (self._slots[step] - 1)
        return self._left[step] + free / 2 + self._slot[step] * slot

    def _rect(self, band: Band) -> Rect:
        x, y = self._x(band.begins), self._heights[band.lane]
        width = max(4.0, self._x(band.ends) - x)
        if band.look not in TALL:
            return Rect(x, y + 14, width, 5, band)
        return Rect(x, y - 13, width, 26, band)

    def _fronts(self) -> Iterator[tuple[str, int, bool]]:
        for front in self._diagram.fronts:
            if len(front.points) < 2:
                continue
            places = [(self._slot_of(step, lane), self._heights[lane]) for step, lane in front.points]
            path = "M" + "L".join(f"{x:g} {y:g}" for x, y in places)
            yield path, self._hue(front.checkpoint), front.is_done

    def _slot_of(self, step: int, lane: str) -> float:
        slots = [mark.slot for mark in self._diagram.marks if (mark.step, mark.lane) == (step, lane)]
        return self._x(step, min(slots, default=0))

    def _column(self, step: int) -> Column:
        diagram = self._diagram
        spots = [
            Spot(
                self._x(step, mark.slot),
                self._heights[mark.lane],
                mark,
                self._hue(mark.checkpoint),
                (step, mark.lane, mark.slot) in self._from_above,
            )
            for mark in diagram.marks
            if mark.step == step
        ]
        arrows = [self._drawn(arrow) for arrow in diagram.arrows if arrow.end[0] == step]
        x = self._left[step]
        wide = self._wide(step)
        return Column(step, x, wide, x + wide / 2, tuple(spots), tuple(arrows))

    def _drawn(self, arrow: Arrow) -> Drawn:
        (step, source), (end, lane) = arrow.start, arrow.end
        x2, y2 = self._x(end, arrow.slot), self._heights[lane]
        x1, y1 = self._x(step) if step != end else x2 - 9, self._heights[source]
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 or 1.0
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        if step != end:  # a mark is where the band begins, too
            x1, y1 = x1 + ux * GAP, y1 + uy * GAP
        x2, y2 = x2 - ux * GAP, y2 - uy * GAP
        bx, by = x2 - ux * TIP, y2 - uy * TIP
        corners = ((x2, y2), (bx - uy * HALF, by + ux * HALF), (bx + uy * HALF, by - ux * HALF))
        head = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        return Drawn(f"M{x1:.1f} {y1:.1f}L{bx:.1f} {by:.1f}", head, arrow, self._hue(arrow.checkpoint))

    def _hue(self, checkpoint: int | None) -> int:
        found = None if checkpoint is None else self._diagram.hues.get(checkpoint)
        return -1 if found is None else found % HUES
