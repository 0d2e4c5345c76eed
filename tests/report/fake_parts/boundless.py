"""A part that passes without stating its bound."""

from conformance.parts.result import Context, PartResult
from conformance.verdict import Verdict


def run(context: Context) -> PartResult:
    return PartResult("boundless", Verdict.CONFORMS, " ")
