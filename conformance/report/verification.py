"""A verification as JSON, for machines: its shape is published as verification.schema.json.

Every document is held against the schema before it is written and when it is read.
"""

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import orjson

from conformance.adapters.in_process import own_version
from conformance.machine import Machine
from conformance.parts.result import Finding, PartResult
from conformance.parts.verify import PARTS, Verification
from conformance.report.screen import title_of
from conformance.verdict import Verdict

FORMAT = 1
"""Counted up when a reader of the old format could be misled."""


class ReportError(ValueError):
    """A document that is no report of a verification; the message says where it departs from the schema."""


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a report (draft 2020-12)."""
    text = resources.files("conformance.report").joinpath("schemas", "verification.schema.json").read_bytes()
    loaded: dict[str, Any] = orjson.loads(text)
    return loaded


def document(verification: Verification) -> dict[str, Any]:
    """The report as JSON values; raises ReportError if it does not fit its own schema."""
    made = {
        "format": FORMAT,
        "version": own_version(),
        "commit": verification.commit,
        "started": verification.started,
        "seconds": round(verification.seconds, 3),
        "seed": verification.seed,
        "quick": verification.quick,
        "machine": verification.machine._asdict(),
        "verdict": verification.verdict.value,
        "exit_code": int(verification.verdict.exit_code),
        "again": verification.again,
        "parts": [_part(result) for result in verification.parts],
        "not_run": list(verification.not_run),
    }
    check(made)
    return made


def check(made: object) -> None:
    """Hold a document against the schema; raises ReportError."""
    validator = jsonschema.Draft202012Validator(schema())
    for error in validator.iter_errors(made):
        raise ReportError(f"{error.json_path}: {error.message}; see verification.schema.json")


def write(verification: Verification, file: Path) -> None:
    """Write the report, sorted and indented, so that two of them can be compared line by line."""
    text = orjson.dumps(document(verification), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text)


def read(file: Path) -> Verification:
    """The verification that a report tells of; raises ReportError if it is none."""
    try:
        made = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise ReportError(f"{file}: expected JSON, got: {error}; give a file that `verify` wrote") from error
    check(made)
    return Verification(
        parts=tuple(_read_part(entry) for entry in made["parts"]),
        not_run=tuple(made["not_run"]),
        seed=made["seed"],
        quick=made["quick"],
        commit=made["commit"],
        machine=Machine(**made["machine"]),
        started=made["started"],
        seconds=made["seconds"],
    )


def _part(result: PartResult) -> dict[str, Any]:
    part = PARTS.get(result.name)
    return {
        "name": result.name,
        "engine": part.engine if part else "",
        "verdict": result.verdict.value,
        "bound": result.bound,
        "seconds": round(result.seconds, 3),
        "numbers": dict(result.numbers),
        "rules": list(result.rules),
        "findings": [
            {
                "rule": finding.rule,
                "title": title_of(finding),
                "line": finding.line,
                "story": finding.story,
            }
            for finding in result.findings
        ],
        "again": result.again,
    }


def _read_part(entry: dict[str, Any]) -> PartResult:
    return PartResult(
        name=entry["name"],
        verdict=Verdict(entry["verdict"]),
        bound=entry["bound"],
        numbers=entry["numbers"],
        rules=tuple(entry["rules"]),
        findings=tuple(Finding(found["rule"], found["line"], found["story"]) for found in entry["findings"]),
        again=entry["again"],
        seconds=entry["seconds"],
    )
