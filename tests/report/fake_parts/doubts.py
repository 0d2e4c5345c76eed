"""A part that cannot finish and charges no rule."""

from conformance.parts.result import Context, PartResult
from conformance.verdict import Verdict


def run(context: Context) -> PartResult:
    return PartResult("doubts", Verdict.UNDETERMINED, "the budget ended after 3 steps")
