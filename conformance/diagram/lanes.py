"""Lanes and looks: where each word of a component stands in a diagram, as `lanes.toml` lists them."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, Literal, NamedTuple

from conformance.adapters.protocol import Wire

GATE, COORDINATOR = "gate", "coordinator"
SUBTASK, WRITER, BELOW = "subtask", "asynchronous part", "downstream"
SENDER, RECEIVER = "sender", "receiver"
OUTSIDE = "system it reads"
OTHER = "other"
"""The look of a word that the list does not have."""


class Place(NamedTuple):
    """Where a word stands: on `lane`, or as an arrow from `source` (empty: none) to it."""

    lane: str
    look: str
    source: str = ""


class Listed(NamedTuple):
    """A condition as it is listed: lane and text may name the values of the field."""

    field: str
    when: Literal["each", "any", "map", "set"] | bool
    lane: str
    look: str
    text: str


class Component(NamedTuple):
    """The places of one component's words."""

    own: str
    """The lane of words that have no other."""
    words: Mapping[str, Place]
    """By kind; a lane may name fields of the word."""
    quiet: frozenset[str] = frozenset()
    """Effects that get a mark only where the two sides differ: intervals show them already."""
    conditions: tuple[Listed, ...] = ()


def _read() -> dict[str, Any]:
    text = resources.files("conformance.diagram").joinpath("lanes.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


_LISTED = _read()
LOOKS: Mapping[str, str] = _LISTED.pop("looks")
"""The looks of marks and arrows, and what each means."""
BANDS: Mapping[str, str] = _LISTED.pop("bands")
"""The looks of intervals, and what each means."""
COMPONENTS: Mapping[str, Component] = {
    name: Component(
        listed["own"],
        {kind: Place(*place) for kind, place in listed["words"].items()},
        frozenset(listed.get("quiet", ())),
        tuple(Listed(*one) for one in listed["conditions"]),
    )
    for name, listed in _LISTED.items()
}


def is_quiet(component: str, word: Wire) -> bool:
    """Whether an effect is shown by an interval already."""
    return component in COMPONENTS and word.get("kind") in COMPONENTS[component].quiet


def place_of(component: str, word: Wire) -> Place:
    """The place of an event or effect; fields that are missing do not matter."""
    known = COMPONENTS.get(component, Component(component, {}))
    place = known.words.get(str(word.get("kind")))
    if place is None:
        return Place(known.own, OTHER)
    try:
        return Place(place.lane.format_map(word), place.look, place.source.format_map(word))
    except KeyError:  # an event outside the protocol may lack anything
        return Place(known.own, place.look)


def first_lanes(component: str, config: Wire) -> Sequence[str]:
    """The lanes that a configuration has from the beginning; others come with the word that names them."""
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
