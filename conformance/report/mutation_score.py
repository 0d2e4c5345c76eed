"""The mutation score: what a campaign came to, as JSON with a schema and as a page."""

from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import orjson

from conformance.mutants.campaign import Verdict as Fate
from conformance.report import casualties

FORMAT = 1


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    text = resources.files("conformance.report").joinpath("mutants.schema.json").read_bytes()
    loaded: dict[str, Any] = orjson.loads(text)
    return loaded


def document(fates: Sequence[Fate], catalogued: int) -> dict[str, Any]:
    """What became of each mutant; `catalogued`: how many there are in all."""
    made = {
        "format": FORMAT,
        "verdict": casualties.verdict(fates).value,
        "catalogued": catalogued,
        "tried": len(fates),
        "killed": sum(fate.killed for fate in fates),
        "mutants": [_entry(fate) for fate in fates],
    }
    jsonschema.Draft202012Validator(schema()).validate(made)
    return made


def write(fates: Sequence[Fate], catalogued: int, file: Path) -> None:
    """Write the document."""
    file.parent.mkdir(parents=True, exist_ok=True)
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    file.write_bytes(orjson.dumps(document(fates, catalogued), option=options))


def page(fates: Sequence[Fate], catalogued: int, again: str) -> str:
    """The table in Markdown: a row each, in the order of the rules; `again`: the command that makes it."""
    killed = sum(fate.killed for fate in fates)
    rules = {fate.mutant.rule for fate in fates}
    lines = [
        "# Mutation score",
        "",
        f"{killed} of {len(fates)} mutants of {len(rules)} rules were killed by the rule that they name; "
        f"the catalogue has {catalogued}. A mutant is one edited expression of the model or the "
        "implementation, or one replaced operator of the specification "
        "(`conformance/mutants/catalogue.toml`). *Events* is the length of the shortest sequence that kills "
        "it, *with* the fewest channels or tasks that it needs. "
        f"Made by `{again}`.",
        "",
        "| rule | mutant | outcome | killed by | events | with | where |",
        "|---|---|---|---|---|---|---|",
    ]
    for fate in sorted(fates, key=lambda fate: (fate.mutant.rule, fate.mutant.id)):
        charged = fate.mutant.rule if fate.killed else ", ".join(fate.rules) or "-"
        length = str(fate.length) if fate.rules else "-"
        lines.append(
            f"| {fate.mutant.rule} | `{fate.mutant.id}` | {fate.outcome} | {charged} | {length} | "
            f"{fate.size or '-'} | {fate.where} |"
        )
    return "\n".join(lines) + "\n"


def _entry(fate: Fate) -> dict[str, Any]:
    return {
        "id": fate.mutant.id,
        "layer": fate.mutant.layer,
        "rule": fate.mutant.rule,
        "story": fate.mutant.story,
        "outcome": fate.outcome,
        "charged": list(fate.rules),
        "length": fate.length if fate.rules else None,
        "size": fate.size or None,
        "where": fate.where,
    }
