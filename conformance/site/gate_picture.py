"""A scene of an input gate as a space-time diagram: a line for each channel, time from left to right.

Barriers of one checkpoint are joined to a front. A channel is shaded orange while it is blocked, and blue
while its records are stored with the snapshot. The line of the task, below, shows the effects of the gate.
"""

from collections.abc import Iterator, Sequence
from html import escape

from conformance.adapters.protocol import Wire
from conformance.report.divergence import phrases
from conformance.site.scenes import Moment, Scene

LEFT, TOP, ROW = 92, 30, 46
NARROWEST, LETTER = 84, 5.8
"""Of the time between two events: the least, and what a letter of the words below takes."""
NOTE = 15
"""Between two lines of what the task is made to do."""
COLOURS = ("#0072b2", "#b34700", "#00745a", "#8b3f73", "#5a5a5a")
"""By checkpoint id, in turn."""
OF_CHANNELS = ("block", "resume", "start_persisting", "stop_persisting", "process")
"""Effects that show on the lines of the channels."""
STYLE = (
    ".gate-picture text{font:12px sans-serif;fill:#222}"
    ".gate-picture .l{stroke:#7b8794;stroke-width:1.5}"
    ".gate-picture .blocked{fill:#f0b28a}"
    ".gate-picture .persisting{fill:#9ccbe8}"
    ".gate-picture .f{fill:none;stroke-width:2;stroke-dasharray:4 3}"
    ".gate-picture .w{fill:#fff;font-weight:bold;text-anchor:middle}"
    ".gate-picture .n{text-anchor:middle;font-size:11px}"
)
"""Each for this picture alone: it stands within a page, whose code has classes of a letter, too."""


def gate_picture(scene: Scene) -> str:
    """The diagram as SVG, in one line."""
    channels = int(scene.config["channels"])
    task = TOP + channels * ROW
    notes = [_notes(moment) for moment in scene.moments]
    longest = max((len(note) for said in notes for note in said), default=0)
    step = max(NARROWEST, int(LETTER * longest))
    width = LEFT + len(scene.moments) * step + 12
    height = task + 22 + NOTE * max(1, *map(len, notes))
    parts = [
        f'<svg class="gate-picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" '
        f'style="min-width:{width * 17 // 20}px" role="img"><title>{escape(scene.about)}</title>',
        f"<style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *_shades(scene.moments, step, "blocked", 18),
        *_shades(scene.moments, step, "persisting", 10),
        *(_line(f"channel {channel}", _y(channel), width) for channel in range(channels)),
        _line("task", task, width),
        *_fronts(scene.moments, step),
        *(mark for at, moment in enumerate(scene.moments) for mark in _marks(moment, _x(at, step), task)),
        *(
            f'<text class="n" x="{_x(at, step)}" y="{task + 20 + NOTE * row}">{escape(note)}</text>'
            for at, said in enumerate(notes)
            for row, note in enumerate(said)
        ),
    ]
    return "".join([*parts, "</svg>"])


def _x(at: int, step: int) -> int:
    return LEFT + at * step + step // 2


def _y(channel: int) -> int:
    return TOP + channel * ROW


def _line(name: str, y: int, width: int) -> str:
    return f'<text x="8" y="{y + 4}">{name}</text><path class="l" d="M{LEFT - 12} {y}H{width - 8}"/>'


def _shades(moments: Sequence[Moment], step: int, field: str, high: int) -> Iterator[str]:
    """From the event behind which a channel stands in the field to the one behind which it does no more."""
    for at, moment in enumerate(moments):
        for channel in moment.state.get(field, ()):
            y = _y(channel) - high // 2
            yield f'<rect class="{field}" x="{_x(at, step)}" y="{y}" width="{step}" height="{high}"/>'


def _fronts(moments: Sequence[Moment], step: int) -> Iterator[str]:
    """The barriers of each checkpoint, joined in the order of the channels."""
    met: dict[int, dict[int, int]] = {}
    for at, moment in enumerate(moments):
        event = moment.event
        if event["kind"] == "barrier":
            met.setdefault(event["checkpoint"], {}).setdefault(event["channel"], at)
    for checkpoint, places in met.items():
        points = " ".join(f"{_x(at, step)},{_y(channel)}" for channel, at in sorted(places.items()))
        yield f'<polyline class="f" stroke="{_colour(checkpoint)}" points="{points}"/>'


def _marks(moment: Moment, x: int, task: int) -> Iterator[str]:
    event = moment.event
    y = _y(event["channel"]) if "channel" in event else task
    if event["kind"] == "barrier":
        yield (
            f'<rect x="{x - 11}" y="{y - 11}" width="22" height="22" rx="3" '
            f'fill="{_colour(event["checkpoint"])}"/><text class="w" x="{x}" y="{y + 4}">'
            f"{event['checkpoint']}</text>"
        )
        if event.get("alignment", "aligned") != "aligned":
            yield f'<text class="n" x="{x}" y="{y - 15}">{escape(str(event["alignment"]))}</text>'
    else:
        yield f'<circle cx="{x}" cy="{y}" r="5" fill="#4a5561"/>'
        yield f'<text class="n" x="{x}" y="{y - 9}">{escape(_told(event))}</text>'


def _told(event: Wire) -> str:
    """The event without its channel, which is its line."""
    return phrases.of_event({name: value for name, value in event.items() if name != "channel"})


def _notes(moment: Moment) -> list[str]:
    return [phrases.of_effect(one) for one in moment.effects if one["kind"] not in OF_CHANNELS]


def _colour(checkpoint: int) -> str:
    return COLOURS[checkpoint % len(COLOURS)]
