"""The page of each rule and the index of rules, in Markdown, made from the index and the sources."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, PackageLoader

from conformance.adapters.in_process import model_adapter
from conformance.adapters.protocol import Hello
from conformance.diagram.component import of_component
from conformance.diagram.figure import figure
from conformance.mutants.catalogue import load_catalogue
from conformance.report.divergence import phrases
from conformance.site import texts
from conformance.site.links import anchor
from conformance.site.scenes import Scene, scene_of
from model.components import COMPONENTS, WireError
from spec.rules import FAMILIES, Rule, load_rules

FOLDER = "reference/rules"
_mutants = cache(load_catalogue)
STEPS = 3
"""Maximum number of steps in each language that a page quotes; it names the others."""


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yields each page: its path below `docs/`, and its Markdown. `root`: the folder of the checkout."""
    rules = load_rules()
    yield f"{FOLDER}/index.md", index_page(rules)
    for rule in rules:
        yield f"{FOLDER}/{rule.id}.md", rule_page(rule, root)


def index_page(rules: Sequence[Rule]) -> str:
    """The index page: every rule with its sentence, by family."""
    return _environment().get_template("rules.md.jinja").render(rules=rules)


def _families(rules: Sequence[Rule]) -> list[tuple[str, list[Rule]]]:
    by_family = groupby(rules, lambda rule: rule.id.partition("-")[0])
    return [(FAMILIES[family], list(members)) for family, members in by_family]


def navigation() -> dict[str, list[str]]:
    """The paths of the rule pages, by family, in the order of the links to the previous and next page."""
    return {family: [f"{FOLDER}/{one.id}.md" for one in some] for family, some in _families(load_rules())}


def rule_page(rule: Rule, root: Path) -> str:
    """One rule: its sentence, an example, its TLA+ next to its Python, its mutants, and its generations."""
    scene = scene_of(rule.id, root)
    diagram = scene and of_component(scene.component, scene.config, scene.steps, is_wrong=False)
    compared = [
        f"[{heading}](../generations.md#{anchor(heading)})"
        for heading, text in _side_by_side(root)
        if rule.id in text
    ]
    return (
        _environment()
        .get_template("rule.md.jinja")
        .render(
            rule=rule,
            scene=scene,
            diagram=diagram and str(figure(diagram)).replace("\n", ""),
            differing=contrasts(scene) if scene else (),
            compared=compared,
        )
    )


@cache
def _environment() -> Environment:
    """The environment of the Markdown templates, with the functions that they call."""
    loader = PackageLoader("conformance.site", "")
    environment = Environment(loader=loader, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.globals.update(
        texts=texts, phrases=phrases, mutants=_mutants, families=_families, shown=STEPS
    )
    environment.filters.update(
        cell=_cell,
        html=_html,
        place=lambda one: f"`{one.file}:{one.line}`",
        shortest_first=lambda found: sorted(found, key=lambda one: len(one.text)),
    )
    return environment


@cache
def _side_by_side(root: Path) -> tuple[tuple[str, str], ...]:
    """Heading and text of each section of `docs/reference/generations.md`."""
    page = (root / "docs/reference/generations.md").read_text(encoding="utf-8")
    return tuple((one.splitlines()[0], one) for one in page.split("\n## ")[1:])


def _html(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cell(text: str) -> str:
    return text.replace("|", "&#124;")


class Contrast(NamedTuple):
    """The first event at which the effects of a generation differ from those of the scene."""

    profile: str
    event: str
    here: str
    """The effects in the scene."""
    there: str


def contrasts(scene: Scene) -> list[Contrast]:
    """One contrast for each generation whose effects differ from those of the scene, oldest first."""
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
