"""Writes the findings of a command in machine-readable formats: JSON, JUnit XML, SARIF, GitHub annotations.

GitHub shows an annotation at a file and a line. For a log these are the file and the line of the finding;
otherwise the file is the implementation that the command started. A finding that names a rule is an `error`.
A finding without a rule states that a part could not run; it is a `warning`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from conformance import escape
from conformance.parts.result import Finding, PartResult
from conformance.report.formats import documents, junit, sarif
from conformance.verdict import together
from conformance.version import own_version

FORMAT = 1


class Outputs(NamedTuple):
    """The file for each format; None: this format is not written."""

    json: Path | None = None
    junit: Path | None = None
    sarif: Path | None = None
    annotations: Path | None = None


def document(command: str, parts: Sequence[PartResult], again: str) -> dict[str, Any]:
    """Return the findings of a command as JSON values, checked against the schema `findings`."""
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
    documents.check("findings", made)
    return made


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "rule": found.rule,
        "line": found.line,
        "story": found.story,
        "file": found.file or None,
        "row": found.row or None,
        **({"case": dict(found.case)} if found.case else {}),
    }


def files(
    outputs: Outputs, command: str, parts: Sequence[PartResult], again: str
) -> Iterator[tuple[Path, bytes]]:
    """Yield each selected file with its content."""
    if outputs.json is not None:
        yield outputs.json, documents.encoded(document(command, parts, again))
    if outputs.junit is not None:
        seconds = sum(part.seconds for part in parts)
        yield outputs.junit, junit.of_parts(f"barrierspec {command}", parts, seconds=seconds)
    if outputs.sarif is not None:
        yield outputs.sarif, documents.encoded(sarif.document(parts))
    if outputs.annotations is not None:
        yield outputs.annotations, "".join(f"{line}\n" for line in annotations(parts)).encode()


def annotations(parts: Sequence[PartResult]) -> Iterator[str]:
    """Yield one GitHub workflow command for each finding: `::error file=...,line=...,title=...::message`."""
    for part in parts:
        for found in part.findings:
            yield _line(part, found)


def _line(part: PartResult, found: Finding) -> str:
    file, row = (found.source, 1) if found.source else (found.file, found.row or 1)
    place = {"file": file, "line": str(row) if file else ""}
    fields = {**place, "title": f"{part.name}: {found.rule or 'could not be judged'}"}
    properties = ",".join(
        f"{name}={escape.workflow_property(value)}" for name, value in fields.items() if value
    )
    message = f"{found.line}\n\n{found.story}".rstrip()
    return f"::{'warning' if found.rule is None else 'error'} {properties}::{escape.workflow_data(message)}"
