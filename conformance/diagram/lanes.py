"""The lane and the look of each event and effect of a component in a diagram, read from the vocabulary."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from conformance.adapters.protocol import Wire
from spec.vocabulary import Interval, Mark, vocabulary

GATE, COORDINATOR = "gate", "coordinator"
SUBTASK, WRITER, BELOW = "subtask", "asynchronous part", "downstream"
SENDER, RECEIVER = "sender", "receiver"
OUTSIDE = "system it reads"
OTHER = "other"
"""The look of an event or effect that the vocabulary does not have."""


class Place(NamedTuple):
    """The place of an event or effect: on `lane`, with an arrow from `source` to `lane` (empty: no arrow)."""

    lane: str
    look: str
    source: str = ""


def _read() -> Mapping[str, Mapping[str, str]]:
    text = resources.files("conformance.diagram").joinpath("looks.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


LOOKS, BANDS = (_read()[name] for name in ("looks", "bands"))
"""The meaning of each look of marks and arrows, and of each look of intervals."""


@cache
def intervals(component: str) -> Sequence[tuple[str, Interval]]:
    """The intervals of a component, each with the state field that it shows."""
    known = vocabulary().get(component)
    return () if known is None else tuple((one.name, shown) for one in known.state for shown in one.drawn)


@cache
def _marks(component: str) -> Mapping[str, Mark]:
    """The marks of events and effects by kind. If an event and an effect have the same kind: the effect's."""
    known = vocabulary().get(component)
    kinds = () if known is None else (*known.events, *known.effects)
    return {one.kind: one.drawn for one in kinds if one.drawn is not None}


def _own(component: str) -> str:
    known = vocabulary().get(component)
    return component if known is None else known.lane


def is_quiet(component: str, word: Wire) -> bool:
    """Whether an effect has no mark, because an interval shows it."""
    mark = _marks(component).get(str(word.get("kind")))
    return mark is not None and mark.quiet


def place_of(component: str, word: Wire) -> Place:
    """The place of an event or effect. If `word` lacks a field of its place: the lane of the component."""
    mark = _marks(component).get(str(word.get("kind")))
    if mark is None:
        return Place(_own(component), OTHER)
    try:
        return Place(mark.lane.format_map(word), mark.look, mark.source.format_map(word))
    except KeyError:  # an event with an effect's kind, or one outside the protocol, may lack a field
        return Place(_own(component), mark.look)


def first_lanes(component: str, config: Wire) -> Sequence[str]:
    """The lanes that a diagram of this configuration always has, in their order."""
    match component:
        case "gate":
            return [*(f"channel {channel}" for channel in range(config.get("channels", 1))), GATE]
        case "coordinator":
            return [COORDINATOR, *(str(task["id"]) for task in config.get("tasks", ()))]
        case "subtask":
            return [COORDINATOR, SUBTASK, WRITER, BELOW]
        case "channel":
            return [SENDER, RECEIVER, GATE]
        case "offsets":
            return ["source", OUTSIDE]
        case "source":
            return [COORDINATOR, "task", OUTSIDE]
    return [component]
