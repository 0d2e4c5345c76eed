"""The page of a rule, and the index of them, in Markdown; all of it read where it stands."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from conformance.adapters.in_process import model_adapter
from conformance.adapters.protocol import Hello
from conformance.diagram.component import of_component
from conformance.diagram.figure import figure
from conformance.mutants.catalogue import Mutant, load_catalogue
from conformance.report.divergence import phrases
from conformance.site import texts
from conformance.site.links import anchor
from conformance.site.scenes import Scene, scene_of
from conformance.site.texts import Excerpt
from model.components import COMPONENTS, WireError
from spec.rules import Rule, load_rules

FOLDER = "reference/rules"
FAMILIES = {
    "ALIGN": "Alignment at an input gate",
    "TRACK": "Tracking, at least once",
    "UNAL": "Unaligned barriers",
    "TASK": "The snapshot steps of a subtask",
    "COORD": "The coordinator",
    "SUB": "Subsumption and retention",
    "SINK": "Two-phase commit",
    "OFFSET": "Offsets that a source commits",
    "ONCE": "Exactly-once, end to end",
    "LIVE": "Liveness",
}
WIDE = "---\nhide:\n  - toc\n---\n\n"
"""Two languages beside each other need the space of the table of contents."""
_mutants = cache(load_catalogue)
STEPS = 3
"""Steps of each language that are shown; the others are named."""

_ONLY_TLC = "No single state or step decides this property: only TLC checks it, under weak fairness."


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Each page with its path below the folder of the documentation. `root`: of the checkout."""
    rules = load_rules()
    yield f"{FOLDER}/index.md", index_page(rules)
    for rule in rules:
        yield f"{FOLDER}/{rule.id}.md", rule_page(rule, root)


def index_page(rules: Sequence[Rule]) -> str:
    """Every rule with its sentence, by family."""
    parts = [
        "# Rules\n",
        f"The {len(rules)} requirements of the protocol, each with the one ID by which model, specification, "
        "implementation, tests and reports cite it. A rule's page is made of `spec/rules.toml` and of the "
        "sources as they were when this site was built.\n",
    ]
    for family, members in groupby(rules, lambda rule: rule.id.partition("-")[0]):
        parts.append(f"## {FAMILIES[family]}\n\n| rule | | holds for Flink |\n|---|---|---|")
        parts += [f"| [{one.id}]({one.id}.md) | {_cell(one.title)} | {_cell(one.holds)} |" for one in members]
        parts.append("")
    return "\n".join(parts)


def navigation() -> dict[str, list[str]]:
    """The pages of the rules for the navigation, by family; their order is that of previous and next."""
    families = groupby(load_rules(), lambda rule: rule.id.partition("-")[0])
    return {FAMILIES[family]: [f"{FOLDER}/{one.id}.md" for one in some] for family, some in families}


def rule_page(rule: Rule, root: Path) -> str:
    """One rule: its sentence, an example, its TLA+ beside its Python, its mutants, and its generations."""
    scene = scene_of(rule.id, root)
    return "\n".join(
        [
            f"{WIDE}# {rule.id}: {rule.title}\n",
            f"> {rule.must}\n",
            f"- Source: {rule.source}\n- Holds for Flink: {rule.holds}\n",
            *(_example(rule, scene) if scene else [f"## Example\n\n{_without_example(rule)}\n"]),
            "## The property\n",
            _beside([texts.operator(rule)], texts.properties(rule) or _ONLY_TLC),
            "## The protocol step\n",
            _beside(texts.spec_steps(rule), texts.model_steps(rule)),
            _implementation(rule),
            *_mutant_table(rule),
            *_generations(rule, scene, root),
        ]
    )


def _without_example(rule: Rule) -> str:
    if rule.id.startswith("LIVE"):
        return "A liveness property needs an infinite execution; a transcript is finite."
    if rule.operator.startswith("DataflowModel!"):
        return (
            "The rule concerns more than one component, and a transcript has one; "
            "see the state graph of the [composed dataflow](../../pictures/README.md)."
        )
    return "No golden transcript shows it yet."


def _beside(left: Sequence[Excerpt], right: Sequence[Excerpt] | str) -> str:
    """TLA+ on the left, Python on the right."""
    columns = (
        _excerpts(left, "tla", "No definition of the protocol names it: it follows from those that do."),
        right if isinstance(right, str) else _excerpts(right, "python", "No step of the model names it."),
    )
    inside = "".join(f'<div markdown="1">\n\n{column}\n\n</div>\n' for column in columns)
    return f'<div class="beside" markdown="1">\n{inside}</div>\n'


def _excerpts(found: Sequence[Excerpt], language: str, none: str) -> str:
    if not found:
        return none
    shortest_first = sorted(found, key=lambda one: len(one.text))
    shown = [f"`{one.file}:{one.line}`\n\n```{language}\n{one.text}\n```" for one in shortest_first[:STEPS]]
    others = sorted(f"`{one.file}:{one.line}`" for one in shortest_first[STEPS:])
    return "\n\n".join([*shown, *([f"Also {', '.join(others)}."] if others else [])])


def _implementation(rule: Rule) -> str:
    found = [f"`{one.file}:{one.line}`" for one in texts.implementation(rule)]
    return f"In the implementation: {', '.join(found) or 'no function names it'}.\n"


def _example(rule: Rule, scene: Scene) -> list[str]:
    diagram = of_component(scene.component, scene.config, scene.steps, is_wrong=False)
    shows = "" if rule.id in scene.names else f" {rule.id} applies in one of its steps."
    return [
        "## Example\n",
        f"{scene.about}{shows}\n",
        str(figure(diagram)).replace("\n", "") + "\n",
        "| step | event | effects |\n|---|---|---|",
        *(
            f"| {at} | {phrases.of_event(step.event)} | {_cell(phrases.of_effects(step.expected.effects))} |"
            for at, step in enumerate(scene.steps, start=1)
        ),
        "",
        f'??? note "The transcript: {scene.file}"\n',
        *(f"    {line}".rstrip() for line in ("```text", *scene.text.splitlines(), "```")),
        "",
    ]


def _mutant_table(rule: Rule) -> list[str]:
    return [
        "## Mutants\n",
        "Each mutant breaks this rule. `barrierspec mutants --rule "
        f"{rule.id}` checks that this rule detects each of them.\n",
        "| mutant | what goes wrong | by |\n|---|---|---|",
        *(f"| `{one.id}` | {_cell(one.story)} | {_edit(one)} |" for one in _mutants() if one.rule == rule.id),
        "",
    ]


def _edit(mutant: Mutant) -> str:
    if mutant.layer == "spec":
        return f"model `{mutant.model}`"
    change = " → ".join(f"<code>{_cell(_html(text))}</code>" for text in (mutant.find, mutant.replace))
    return f"`{mutant.module}`: {change}"


def _generations(rule: Rule, scene: Scene | None, root: Path) -> list[str]:
    parts = ["## In other generations\n", f"It holds for Flink {rule.holds}.\n"]
    if scene is not None:
        differing = contrasts(scene)
        if differing:
            parts.append(
                "These generations answer the example differently, from the event in the second column on:\n"
            )
            parts.append("| generation | event | effects in the example | effects there |\n|---|---|---|---|")
            parts += ["| " + " | ".join(map(_cell, one)) + " |" for one in differing]
            parts.append("")
        else:
            parts.append("Every generation of the model answers the example with the same effects.\n")
    compared = [
        f"[{heading}](../generations.md#{anchor(heading)})"
        for heading, text in _side_by_side(root)
        if rule.id in text
    ]
    if compared:
        parts.append(f"Compared with released Flinks: {', '.join(compared)}.\n")
    return parts


@cache
def _side_by_side(root: Path) -> tuple[tuple[str, str], ...]:
    """The sections of the page on generations: heading and text."""
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
    """Where the effects of a generation differ, and how: the oldest first; of the scene's own none."""
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
