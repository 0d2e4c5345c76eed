"""A part that charges a rule twice, and leaves one check undetermined."""

from conformance.parts.result import Context, Finding, PartResult, verdict_of

FINDINGS = (
    Finding(None, "the store gave no answer", "stderr said: \x1b[31mout of memory\x1b[0m"),
    Finding("ALIGN-04", "gate diverges at step 2", "  step  event\n     2  barrier 4 on 1"),
    Finding("ALIGN-04", "gate diverges at step 9", "  step  event\n     9  barrier 8 on 0"),
)


def run(context: Context) -> PartResult:
    return PartResult(
        "diverges", verdict_of(FINDINGS), "9 steps", {"steps": 9}, ("ALIGN-01", "ALIGN-04"), FINDINGS, "again"
    )
