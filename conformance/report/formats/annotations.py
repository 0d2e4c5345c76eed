"""What was found as annotations of GitHub: a line of a workflow's log each, shown at the file it names.

A rule that is charged is an `error`, what could not be judged a `warning`.
"""

from collections.abc import Iterator, Sequence

from conformance import escape
from conformance.parts.result import Finding, PartResult


def lines(parts: Sequence[PartResult]) -> Iterator[str]:
    """A workflow command for each finding: `::error file=...,line=...,title=...::message`."""
    for part in parts:
        for found in part.findings:
            yield _line(part, found)


def _line(part: PartResult, found: Finding) -> str:
    place = {"file": found.file, "line": str(found.row) if found.row else ""}
    fields = {**place, "title": f"{part.name}: {found.rule or 'could not be judged'}"}
    properties = ",".join(
        f"{name}={escape.workflow_property(value)}" for name, value in fields.items() if value
    )
    message = f"{found.line}\n\n{found.story}".rstrip()
    return f"::{'warning' if found.rule is None else 'error'} {properties}::{escape.workflow_data(message)}"
