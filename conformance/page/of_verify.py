"""The HTML page of `barrierspec verify`: each part with its verdict, bound, rules and findings."""

from conformance.page.document import Page, Row
from conformance.parts.verify import Verification
from conformance.report.screen import scope
from conformance.verdict import Verdict


def page_of(verification: Verification) -> Page:
    """The page of a verification. It names the parts that were not selected: they have no verdict."""
    rows = tuple(
        Row(part.name, part.verdict, part.bound, part.rules, findings=part.findings)
        for part in verification.parts
    )
    facts = [
        ("commit", verification.commit),
        ("seed", str(verification.seed)),
        ("machine", verification.machine.describe()),
        ("started", verification.started),
        ("took", f"{verification.seconds:,.0f} s"),
    ]
    if verification.not_run:
        facts.append(("not run", ", ".join(verification.not_run)))
    return Page(
        "verify", verification.verdict, _headline(verification), tuple(facts), verification.again, rows
    )


def _headline(verification: Verification) -> str:
    if verification.verdict is Verdict.CONFORMS and not verification.not_run:
        return "Specification, model and implementation agree, within the bounds below."
    headline = scope(verification).replace("above", "below")  # on the page the rows follow the headline
    return f"{headline[0].upper()}{headline[1:]}."
