"""A scene of any other component as a talk: its line of life between those that it hears and answers.

Time runs downwards. An event is an arrow to the component, each effect an arrow away from it; whoever is
named by the field `task` has a line of its own, all others share one.
"""

from collections.abc import Iterator
from html import escape

from conformance.adapters.protocol import Wire
from conformance.report.divergence import phrases
from conformance.site.scenes import Scene

OTHERS = "environment"
WIDE, HEAD, ROW, GAP = 250, 40, 22, 12
LETTER = 6.0
"""How wide a letter of a label is, about."""
STYLE = (
    ".talk-picture text{font:12px sans-serif;fill:#222}"
    ".talk-picture .h{font-weight:bold;text-anchor:middle}"
    ".talk-picture .l{stroke:#b8c2cc;stroke-dasharray:4 4}"
    ".talk-picture .e{stroke:#2f6fae;stroke-width:1.5}"
    ".talk-picture .a{stroke:#b4552d;stroke-width:1.5}"
    ".talk-picture .t{text-anchor:middle;font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:4px}"
)
"""Each for this picture alone: it stands within a page, whose code has classes of a letter, too."""


def talk_picture(scene: Scene) -> str:
    """The diagram as SVG, in one line."""
    said = [one for moment in scene.moments for one in (moment.event, *moment.effects)]
    names = list(dict.fromkeys(map(_other, said)))
    columns = [*names[:1], scene.component, *names[1:]]
    places = {name: 90 + WIDE * at for at, name in enumerate(columns)}
    arrows = list(_arrows(scene, places))
    longest = max((len(phrases.of_effect(one)) for one in said), default=0)
    width = places[columns[-1]] + max(90, int(LETTER * longest) - WIDE // 2 + 20)
    height = HEAD + len(said) * ROW + len(scene.moments) * GAP + 10
    parts = [
        f'<svg class="talk-picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" '
        f'style="min-width:{width * 17 // 20}px" role="img"><title>{escape(scene.about)}</title>',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#4a5561"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *(
            f'<text class="h" x="{x}" y="20">{escape(name)}</text><path class="l" d="M{x} 28V{height - 6}"/>'
            for name, x in places.items()
        ),
        *arrows,
    ]
    return "".join([*parts, "</svg>"])


def _arrows(scene: Scene, places: dict[str, int]) -> Iterator[str]:
    own, y = places[scene.component], HEAD
    for moment in scene.moments:
        y += GAP + ROW // 2
        yield _arrow("e", places[_other(moment.event)], own, y, phrases.of_event(_nameless(moment.event)))
        for effect in moment.effects:
            y += ROW
            yield _arrow("a", own, places[_other(effect)], y, phrases.of_effect(_nameless(effect)))
        y += ROW // 2


def _arrow(look: str, start: int, end: int, y: int, label: str) -> str:
    text = f'<text class="t" x="{(start + end) // 2}" y="{y - 4}">{escape(label)}</text>'
    return f'<path class="{look}" marker-end="url(#tip)" d="M{start} {y}H{end}"/>{text}'


def _other(word: Wire) -> str:
    return str(word.get("task", OTHERS))


def _nameless(word: Wire) -> Wire:
    """Without the task, whose line the arrow touches."""
    return {name: value for name, value in word.items() if name != "task"}
