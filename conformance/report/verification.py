"""A verification as JSON. Its schema is published as verification.schema.json."""

from typing import TYPE_CHECKING, Any

from conformance.parts.result import PartResult
from conformance.report.formats import documents
from conformance.report.screen import title_of
from conformance.version import own_version

if TYPE_CHECKING:
    from conformance.parts.verify import Verification

FORMAT = 1
"""The version of the format. It rises when a program that reads the old format could misread the new one."""


def document(verification: "Verification") -> dict[str, Any]:
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
    documents.check("verification", made)
    return made


def _part(result: PartResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "engine": result.engine,
        "verdict": result.verdict.value,
        "bound": result.bound,
        "seconds": round(result.seconds, 3),
        "numbers": dict(result.numbers),
        "rules": list(result.rules),
        "findings": [
            {"rule": finding.rule, "title": title_of(finding), "line": finding.line, "story": finding.story}
            for finding in result.findings
        ],
        "again": result.again,
    }
