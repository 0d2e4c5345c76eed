"""One scene in every generation that the model knows: where it is told otherwise, and how."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from conformance.adapters.in_process import model_adapter
from conformance.adapters.protocol import Hello
from conformance.report.divergence import phrases
from conformance.site.scenes import Scene
from model.components import COMPONENTS, WireError


class Contrast(NamedTuple):
    """The first event at which a generation answers otherwise than in the scene."""

    profile: str
    event: str
    here: str
    """What is said in the scene."""
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
    for moment in scene.moments:
        try:
            state, effects, _ = component.apply(state, moment.event)
            said = phrases.of_effects(effects)
        except WireError:
            said = "refused"
        if said != (here := phrases.of_effects(moment.effects)):
            return Contrast(profile, phrases.of_event(moment.event), here, said)
    return None
