"""A part that passes, and stores a record for a later part."""

from conformance.parts.result import Context, PartResult
from conformance.verdict import Verdict


def run(context: Context) -> PartResult:
    context.progress("counting")
    (context.build / "record").write_text("7 events")
    return PartResult(
        "passes",
        Verdict.CONFORMS,
        "7 steps",
        {"steps": 7},
        ("ALIGN-01", "ALIGN-05"),
        again="barrierspec again",
    )
