"""The mutation score: the outcomes of a campaign as JSON.

An interrupted campaign continues from this document.

The document has a checksum of the sources. If the sources have changed, a campaign starts from the beginning.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from conformance import machine
from conformance.errors import InputError
from conformance.mutants.campaign import MutantResult
from conformance.mutants.catalogue import load_catalogue
from conformance.report import mutants
from conformance.report.formats import documents

FORMAT = 2
_SUITE = ("adapters", "cases", "compare", "components", "drive", "generators", "mutants")
_JUDGED_BY = ("spec", "model", "impl", *(f"conformance/{name}" for name in _SUITE))
_PINNED = ("conformance/rule-cases.txt", "conformance/scenarios.toml")
_SUFFIXES = (".py", ".tla", ".toml", ".json")


@cache
def sources(folders: tuple[str, ...] = _JUDGED_BY) -> str:
    """A checksum over all files on which the outcome of a mutant depends, as they were at the first call.

    `folders`: the folders of these files.
    """
    return sources_now(folders)


def sources_now(folders: tuple[str, ...] = _JUDGED_BY) -> str:
    """The checksum over these files as they are now."""
    checksum = hashlib.sha256()
    files = [machine.HOME / name for name in _PINNED]
    for folder in folders:
        found = (machine.HOME / folder).rglob("*")
        files += sorted(file for file in found if file.suffix in _SUFFIXES)
    for file in files:
        checksum.update(f"{file.relative_to(machine.HOME).as_posix()}\0".encode())
        checksum.update(file.read_bytes())
    return checksum.hexdigest()[:16]


class ScoreError(InputError):
    """A file of outcomes is invalid, or a campaign cannot continue. The message states what to do."""


def document(fates: Sequence[MutantResult], catalogued: int) -> dict[str, Any]:
    """The document with the outcome of each mutant. `catalogued`: the number of mutants in the catalogue."""
    made = {
        "format": FORMAT,
        "commit": machine.source(),
        "sources": sources(),
        "verdict": mutants.verdict(fates).value,
        "catalogued": catalogued,
        "tried": len(fates),
        "killed": sum(fate.killed for fate in fates),
        "mutants": [_entry(fate) for fate in fates],
    }
    documents.check("mutants", made)
    return made


def write(fates: Sequence[MutantResult], catalogued: int, file: Path) -> None:
    """Write the document, completely or not at all, because a campaign may be interrupted at any time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_bytes(documents.encoded(document(fates, catalogued)))
    part.replace(file)


def judged(file: Path) -> Mapping[str, MutantResult]:
    """The outcomes of an earlier campaign over the same sources, by mutant; empty if there is none.

    Raises ScoreError if the file is not a document of a campaign.
    """
    try:
        read = orjson.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except orjson.JSONDecodeError as wrong:
        raise ScoreError(f"{file}: expected what `mutants` writes, got {wrong}; delete it") from wrong
    if not isinstance(read, dict) or (read.get("format"), read.get("sources")) != (FORMAT, sources()):
        return {}
    catalogue = {mutant.id: mutant for mutant in load_catalogue()}
    return {
        one["id"]: MutantResult(
            catalogue[one["id"]], tuple(one["charged"]), one["length"] or 0, one["where"], one["size"] or ""
        )
        for one in read["mutants"]
    }


def _entry(fate: MutantResult) -> dict[str, Any]:
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
