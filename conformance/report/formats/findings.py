"""What a command has found, for machines: JSON with a schema, JUnit XML, SARIF, annotations of GitHub."""

from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import orjson

from conformance import escape
from conformance.adapters.in_process import own_version
from conformance.parts.result import Finding, PartResult
from conformance.report.formats import annotations, junit, sarif
from conformance.verdict import together

FORMAT = 1


class Asked(NamedTuple):
    """Which files are to be written."""

    json: Path | None = None
    junit: Path | None = None
    sarif: Path | None = None
    annotations: Path | None = None


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    loaded: dict[str, Any] = orjson.loads(
        resources.files("conformance.report").joinpath("schemas", "findings.schema.json").read_bytes()
    )
    return loaded


def document(command: str, parts: Sequence[PartResult], again: str) -> dict[str, Any]:
    """The findings of a command as JSON values that fit the schema."""
    verdict = together(result.verdict for result in parts)
    made: dict[str, Any] = {
        "format": FORMAT,
        "version": own_version(),
        "command": command,
        "verdict": verdict.value,
        "exit_code": int(verdict.exit_code),
        "again": again,
        "parts": [
            {
                "name": result.name,
                "verdict": result.verdict.value,
                "bound": result.bound,
                "rules": list(result.rules),
                "findings": [_finding(found) for found in result.findings],
                **({"tried": dict(result.tried)} if result.tried else {}),
            }
            for result in parts
        ],
    }
    made = escape.json(made)
    jsonschema.Draft202012Validator(schema()).validate(made)
    return made


def write(asked: Asked, command: str, parts: Sequence[PartResult], again: str) -> None:
    """Write the files that are asked for."""
    if asked.json is not None:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        asked.json.write_bytes(orjson.dumps(document(command, parts, again), option=options))
    if asked.junit is not None:
        junit.write_tree(junit.of_parts(f"barrierspec {command}", parts), asked.junit)
    if asked.sarif is not None:
        sarif.write(parts, asked.sarif)
    if asked.annotations is not None:
        asked.annotations.parent.mkdir(parents=True, exist_ok=True)
        asked.annotations.write_text("".join(f"{line}\n" for line in annotations.lines(parts)), "utf-8")


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "rule": found.rule,
        "line": found.line,
        "story": found.story,
        "file": found.file or None,
        "row": found.row or None,
    }
