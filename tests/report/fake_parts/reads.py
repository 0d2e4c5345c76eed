"""A part that judges the record that an earlier part has stored in the build folder."""

from conformance.parts.result import Context, PartResult
from conformance.verdict import Verdict


def run(context: Context) -> PartResult:
    return PartResult("reads", Verdict.CONFORMS, f"read: {(context.build / 'record').read_text()}")
