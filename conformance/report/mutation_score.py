"""The mutation score: what a campaign came to, as JSON with a schema and as a page.

The document names the sources that were tried by a checksum, so that a campaign that was interrupted can go
on where it stood, as long as these are what they were.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import orjson

from conformance import machine
from conformance.mutants.campaign import Verdict as Fate
from conformance.mutants.catalogue import load_catalogue
from conformance.report import casualties

FORMAT = 2
_JUDGED_BY = ("spec", "model", "impl", "conformance/adapters", "conformance/drive", "conformance/mutants")
_PINNED = ("conformance/rule-cases.txt", "conformance/scenarios.toml")
_SUFFIXES = (".py", ".tla", ".toml", ".json")


@cache
def sources() -> str:
    """A checksum over everything that a mutant is made of and judged by."""
    checksum = hashlib.sha256()
    files = [machine.HOME / name for name in _PINNED]
    for folder in _JUDGED_BY:
        found = (machine.HOME / folder).rglob("*")
        files += sorted(file for file in found if file.suffix in _SUFFIXES)
    for file in files:
        checksum.update(f"{file.relative_to(machine.HOME).as_posix()}\0".encode())
        checksum.update(file.read_bytes())
    return checksum.hexdigest()[:16]


class ScoreError(ValueError):
    """A file is no document of a campaign; the message says what to do."""


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    text = resources.files("conformance.report").joinpath("schemas", "mutants.schema.json").read_bytes()
    loaded: dict[str, Any] = orjson.loads(text)
    return loaded


def document(fates: Sequence[Fate], catalogued: int) -> dict[str, Any]:
    """What became of each mutant; `catalogued`: how many there are in all."""
    made = {
        "format": FORMAT,
        "commit": machine.source(),
        "sources": sources(),
        "verdict": casualties.verdict(fates).value,
        "catalogued": catalogued,
        "tried": len(fates),
        "killed": sum(fate.killed for fate in fates),
        "mutants": [_entry(fate) for fate in fates],
    }
    jsonschema.Draft202012Validator(schema()).validate(made)
    return made


def write(fates: Sequence[Fate], catalogued: int, file: Path) -> None:
    """Write the document, whole or not at all: a campaign may be interrupted at any time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    part = file.with_suffix(".part")
    part.write_bytes(orjson.dumps(document(fates, catalogued), option=options))
    part.replace(file)


def judged(file: Path) -> Mapping[str, Fate]:
    """What an earlier campaign over the same sources came to, by mutant; nothing if there was none."""
    try:
        read = orjson.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except orjson.JSONDecodeError as wrong:
        raise ScoreError(f"{file}: expected what `mutants` writes, got {wrong}; take it away") from wrong
    if not isinstance(read, dict) or (read.get("format"), read.get("sources")) != (FORMAT, sources()):
        return {}
    mutants = {mutant.id: mutant for mutant in load_catalogue()}
    return {
        one["id"]: Fate(
            mutants[one["id"]], tuple(one["charged"]), one["length"] or 0, one["where"], one["size"] or ""
        )
        for one in read["mutants"]
    }


def page(fates: Sequence[Fate], catalogued: int, again: str) -> str:
    """The table in Markdown: a row each, in the order of the rules; `again`: the command that makes it."""
    killed = sum(fate.killed for fate in fates)
    rules = {fate.mutant.rule for fate in fates}
    rest = "" if len(fates) == catalogued else "; `--resume` goes on with the others"
    lines = [
        "# Mutation score",
        "",
        f"{killed} of {len(fates)} mutants of {len(rules)} rules were killed by the rule that they name; "
        f"the catalogue has {catalogued}. A mutant is one edited expression of the model or the "
        "implementation, or one replaced operator of the specification "
        "(`conformance/mutants/catalogue.toml`). *Events* is the length of the shortest sequence that kills "
        "it, *with* the fewest channels or tasks that it needs. "
        f"Made by `{again}` at commit {machine.source()}{rest}.",
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
