"""The page of `barrierspec verify`: every part with its bound, and every finding with its story."""

from conformance.page.document import Page, Row
from conformance.parts.verify import Verification
from conformance.report.screen import scope
from conformance.verdict import Verdict


def page_of(verification: Verification) -> Page:
    """The page; parts that were not selected are named, because they have not passed."""
    rows = tuple(
        Row(part.name, part.verdict, part.bound, part.rules, findings=part.findings)
        for part in verification.parts
    )
    about = [
        ("commit", verification.commit),
        ("seed", str(verification.seed)),
        ("machine", verification.machine.describe()),
        ("began", verification.started),
        ("took", f"{verification.seconds:,.0f} s"),
    ]
    if verification.not_run:
        about.append(("not run", ", ".join(verification.not_run)))
    return Page(
        "verify", verification.verdict, _headline(verification), tuple(about), verification.again, rows
    )


def _headline(verification: Verification) -> str:
    if verification.verdict is Verdict.CONFORMS and not verification.not_run:
        return "Specification, model and implementation agree, within the bounds below."
    headline = scope(verification).replace("above", "below")
    return f"{headline[0].upper()}{headline[1:]}."
