"""One scene in every generation of the model: where the effects differ, and how."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from conformance.adapters.in_process import model_adapter
from conformance.adapters.protocol import Hello
from conformance.report.divergence import phrases
from conformance.site.scenes import Scene
from model.components import COMPONENTS, WireError


class Contrast(NamedTuple):
    """The first event at which the effects of a generation differ from those of the scene."""

    profile: str
    event: str
    here: str
    """The effects in the scene."""
    there: str


def contrasts(scene: Scene) -> list[Contrast]:
    """Of each generation that differs, the oldest first; of the scene's own none."""
    found = (_contrast(scene, profile) for profile in _profiles()[scene.component])
    return [one for one in found if one is not None]


@cache
def _profiles() -> Mapping[str, tuple[str, ...]]:
    hello = model_adapter().hello()
    assert isinstance(hello, Hello)
    return {name: offer.profiles for name, offer in hello.components.items()}


def _contrast(scene: Scene, profile: str) -> Contrast | None:
    component = COMPONENTS[scene.component]
    try:
        state = component.new({**scene.config, "profile": profile})
    except WireError as refused:
        return Contrast(profile, "its configuration", "is taken", f"refused: {refused}")
    for step in scene.steps:
        try:
            state, effects, _ = component.apply(state, step.event)
            effects_there = phrases.of_effects(effects)
        except WireError:
            effects_there = "refused"
        if effects_there != (here := phrases.of_effects(step.expected.effects)):
            return Contrast(profile, phrases.of_event(step.event), here, effects_there)
    return None
