"""Plots as SVG, drawn by matplotlib: lines over two axes, and the checkpoints of a run as bars."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import StringIO
from typing import TYPE_CHECKING

from conformance.command_line.extras import require_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from impl.metrics import CheckpointMeasures

Points = Iterable[Sequence[float]]
COLOURS = ("#0072b2", "#e69f00")
"""The colours of a run's attempts, in turn: the colour changes at each restore."""


def lines(title: str, across: str, up: str, series: Mapping[str, Points]) -> str:
    """One line for each series, by its name; both axes begin at 0. The same points make the same text.

    Raises MissingPartError without matplotlib.
    """
    figure = _figure(4.2)
    axes = figure.add_subplot(title=title, xlabel=across, ylabel=up)
    for name, points in series.items():
        axes.plot(*zip(*points, strict=True), label=name, marker="o" if len(series) == 1 else "")
    axes.set(xlim=0, ylim=0)
    axes.grid(alpha=0.4)
    if len(series) > 1:
        figure.legend(loc="outside right upper")
    return _svg(figure)


def checkpoints(measured: Sequence["CheckpointMeasures"], title: str) -> str:
    """Plots the duration of each checkpoint, with its longest alignment in a dark colour, and its size.

    Raises ValueError without a checkpoint, and MissingPartError without matplotlib.
    """
    if not measured:
        raise ValueError("no checkpoint was completed, so there is nothing to draw")
    figure = _figure(5.6)
    times, sizes = figure.subplots(2, sharex=True)
    figure.suptitle(title)
    attempts = list(dict.fromkeys(one.attempt for one in measured))
    colours = [COLOURS[attempts.index(one.attempt) % 2] for one in measured]
    places = range(len(measured))
    tips: dict[str, str] = {}
    for axes, kind, values in (
        (times, "time", [one.duration_ms for one in measured]),
        (sizes, "size", [one.bytes / 1024 for one in measured]),
    ):
        bars = axes.bar(places, values, color=colours)
        for at, (bar, one, value) in enumerate(zip(bars, measured, values, strict=True)):
            bar.set_gid(f"{kind}-{at}")
            tips[f"{kind}-{at}"] = f"checkpoint {one.checkpoint}, attempt {one.attempt}: {value:,.4g}"
    aligned = [min(one.alignment_ms, one.duration_ms) for one in measured]
    times.bar(places, aligned, color="#222222", alpha=0.6)
    times.set_ylabel("ms to completion; dark: alignment")
    sizes.set_ylabel("KiB of all snapshots")
    some = sorted({0, len(measured) // 2, len(measured) - 1})
    sizes.set_xticks(some, [str(measured[at].checkpoint) for at in some])
    sizes.set_xlabel("checkpoint")
    text = _svg(figure)
    for name, tip in tips.items():
        text = text.replace(f'<g id="{name}">', f'<g id="{name}"><title>{escape(tip)}</title>')
    return text


def _figure(height: float) -> "Figure":
    require_extra("plots")
    from matplotlib.figure import Figure

    return Figure(figsize=(9, height), layout="constrained")


def _svg(figure: "Figure") -> str:
    """The SVG without a date. Its names depend only on the plotted data."""
    from matplotlib import rc_context

    text = StringIO()
    with rc_context({"svg.hashsalt": "barrierspec", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
