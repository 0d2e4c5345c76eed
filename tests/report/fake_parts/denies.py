"""A part that passes although it has a finding."""

from conformance.parts.result import Context, Finding, PartResult
from conformance.verdict import Verdict


def run(context: Context) -> PartResult:
    found = (Finding("SUB-01", "an older checkpoint completed"),)
    return PartResult("denies", Verdict.CONFORMS, "all", findings=found)
