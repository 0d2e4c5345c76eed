"""The findings of a command for machines: JSON with a schema, JUnit XML, SARIF, annotations of GitHub."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from conformance import escape
from conformance.parts.result import Finding, PartResult
from conformance.report.formats import annotations, documents, junit, sarif
from conformance.verdict import together
from conformance.version import own_version

FORMAT = 1


class Outputs(NamedTuple):
    """The files that are to be written."""

    json: Path | None = None
    junit: Path | None = None
    sarif: Path | None = None
    annotations: Path | None = None


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
    documents.check("findings", made)
    return made


def files(
    outputs: Outputs, command: str, parts: Sequence[PartResult], again: str
) -> Iterator[tuple[Path, bytes]]:
    """The selected files, each with its content."""
    if outputs.json is not None:
        yield outputs.json, documents.encoded(document(command, parts, again))
    if outputs.junit is not None:
        yield outputs.junit, junit.encoded(junit.of_parts(f"barrierspec {command}", parts))
    if outputs.sarif is not None:
        yield outputs.sarif, documents.encoded(sarif.document(parts))
    if outputs.annotations is not None:
        yield outputs.annotations, "".join(f"{line}\n" for line in annotations.lines(parts)).encode()


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "rule": found.rule,
        "line": found.line,
        "story": found.story,
        "file": found.file or None,
        "row": found.row or None,
    }
