"""The page of a rule, and the index of them, in Markdown; all of it read where it stands."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path

from conformance.mutants.catalogue import Mutant, load_catalogue
from conformance.site import texts
from conformance.site.gate_picture import gate_picture
from conformance.site.generations import Contrast, contrasts
from conformance.site.links import anchor
from conformance.site.scenes import Scene, scene_of
from conformance.site.talk_picture import talk_picture
from conformance.site.texts import Excerpt
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
    "LIVE": "What comes true at last",
}
WIDE = "---\nhide:\n  - navigation\n  - toc\n---\n\n"
"""Two languages beside each other need the room of the navigation."""
STEPS = 3
"""Steps of each language that are shown; the others are named."""


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


def rule_page(rule: Rule, root: Path) -> str:
    """One rule: what it says, how it is stated and done, seen and broken, and in which generations."""
    scene = scene_of(rule.id, root)
    return "\n".join(
        [
            f"{WIDE}# {rule.id}: {rule.title}\n",
            f"> {rule.must}\n",
            f"- Source: {rule.source}\n- Holds for Flink: {rule.holds}\n",
            "## Stated\n",
            _beside([texts.operator(rule)], texts.properties(rule) or _only_tlc(rule)),
            "## Done\n",
            _beside(texts.spec_steps(rule), texts.model_steps(rule)),
            _elsewhere(rule),
            *(_seen(rule, scene) if scene else [f"## Seen\n\n{_unseen(rule)}\n"]),
            *_broken(rule),
            *_generations(rule, scene, root),
        ]
    )


def _only_tlc(rule: Rule) -> str:
    return (
        f"No state and no step can tell whether this holds: only {rule.checked_by} checks it, under weak "
        "fairness."
    )


def _unseen(rule: Rule) -> str:
    if rule.id.startswith("LIVE"):
        return "What comes true at last is shown by no sequence that ends."
    if rule.operator.startswith("DataflowModel!"):
        return (
            "It speaks of more than one component, so no transcript of one shows it; "
            "the [composed dataflow](../../pictures/README.md) is drawn."
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


def _elsewhere(rule: Rule) -> str:
    found = [f"`{one.file}:{one.line}`" for one in texts.implementation(rule)]
    return f"In the implementation: {', '.join(found) or 'no function names it'}.\n"


def _seen(rule: Rule, scene: Scene) -> list[str]:
    picture = gate_picture if scene.component == "gate" else talk_picture
    shows = "" if rule.id in scene.names else f" {rule.id} fires in it by the way."
    return [
        "## Seen\n",
        f"{scene.about}{shows}\n",
        f'<figure class="scene">{picture(scene)}</figure>\n',
        f'??? note "The transcript: {scene.file}"\n',
        *(f"    {line}".rstrip() for line in ("```text", *scene.text.splitlines(), "```")),
        "",
    ]


def _broken(rule: Rule) -> list[str]:
    return [
        "## Broken\n",
        "Each of these breaks it, and `barrierspec mutants --rule "
        f"{rule.id}` sees each caught by this rule.\n",
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
            parts.append("The sequence above is answered otherwise from the event named on:\n")
            parts.append("| generation | at | above | there |\n|---|---|---|---|")
            parts += [_row(one) for one in differing]
            parts.append("")
        else:
            parts.append("Every generation of the model answers the sequence above alike.\n")
    told = [
        f"[{heading}](../../generations.md#{anchor(heading)})"
        for heading, text in _side_by_side(root)
        if rule.id in text
    ]
    if told:
        parts.append(f"Side by side with the releases that were driven: {', '.join(told)}.\n")
    return parts


def _row(found: Contrast) -> str:
    return "| " + " | ".join(map(_cell, found)) + " |"


@cache
def _mutants() -> tuple[Mutant, ...]:
    return load_catalogue()


@cache
def _side_by_side(root: Path) -> tuple[tuple[str, str], ...]:
    """The sections of the page on generations: heading and text."""
    page = (root / "docs/generations.md").read_text(encoding="utf-8")
    return tuple((one.splitlines()[0], one) for one in page.split("\n## ")[1:])


def _html(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cell(text: str) -> str:
    return text.replace("|", "&#124;")
