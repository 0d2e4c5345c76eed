"""A verification as JUnit XML, for CI servers: a test suite a part, a test case for the part and each rule.

A rule that is charged is a failure, what could not be judged is an error, a part that was not selected
is skipped. A part's own case carries its verdict, so that a part cannot look green when its rules do.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from conformance import escape
from conformance.parts.result import Finding, PartResult
from conformance.report.screen import title_of
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.parts.verify import Verification

Element = ElementTree.Element


def junit(verification: "Verification") -> Element:
    """The element `testsuites`."""
    root = of_parts("barrierspec verify", verification.parts, verification.not_run)
    root.set("time", f"{verification.seconds:.3f}")
    return root


def of_parts(name: str, parts: Iterable[PartResult], not_run: Iterable[str] = ()) -> Element:
    """The same for the parts of any command."""
    suites = [*map(_suite, parts), *map(_not_run, not_run)]
    root = ElementTree.Element("testsuites", {"name": name, **_counts(suites)})
    root.extend(suites)
    return root


def encoded(root: Element) -> bytes:
    """The XML of an element, indented."""
    ElementTree.indent(root)
    xml: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return xml


def _suite(result: PartResult) -> Element:
    suite = ElementTree.Element("testsuite", {"name": escape.xml(result.name)})
    suite.append(_part_case(result))
    suite.extend(_rule_cases(result))
    suite.extend(_doubt_cases(result))
    for name, value in _own_counts(suite).items():
        suite.set(name, value)
    suite.set("time", f"{result.seconds:.3f}")
    return suite


def _part_case(result: PartResult) -> Element:
    case = _case(result.name, "the part as a whole", result.seconds)
    if result.verdict is Verdict.DIVERGES:
        _outcome(case, "failure", "DIVERGES", result.bound, f"again: {result.again}")
    elif result.verdict is Verdict.UNDETERMINED:
        _outcome(case, "error", "UNDETERMINED", result.bound, f"again: {result.again}")
    else:
        ElementTree.SubElement(case, "system-out").text = escape.xml(result.bound)
    return case


def _rule_cases(result: PartResult) -> Iterator[Element]:
    """One for each rule that was exercised or charged, in the order of their IDs."""
    charged: dict[str, list[Finding]] = {}
    for finding in result.findings:
        if finding.rule is not None:
            charged.setdefault(finding.rule, []).append(finding)
    for rule in sorted({*result.rules, *charged}):
        findings = charged.get(rule, [])
        case = _case(result.name, f"{rule} {title_of(Finding(rule, ''))}")
        if findings:
            _outcome(
                case,
                "failure",
                rule,
                findings[0].line,
                "\n\n".join(one.story or one.line for one in findings),
            )
        yield case


def _doubt_cases(result: PartResult) -> Iterator[Element]:
    for finding in result.findings:
        if finding.rule is None:
            case = _case(result.name, finding.line)
            _outcome(case, "error", "could not be judged", finding.line, finding.story)
            yield case


def _not_run(name: str) -> Element:
    suite = ElementTree.Element("testsuite", {"name": name})
    case = _case(name, "the part as a whole")
    ElementTree.SubElement(case, "skipped", {"message": "not asked for"})
    suite.append(case)
    for key, value in _own_counts(suite).items():
        suite.set(key, value)
    return suite


def _case(part: str, name: str, seconds: float = 0.0) -> Element:
    return ElementTree.Element(
        "testcase",
        {"classname": f"barrierspec.{escape.xml(part)}", "name": escape.xml(name), "time": f"{seconds:.3f}"},
    )


def _outcome(case: Element, tag: str, kind: str, message: str, text: str) -> None:
    element = ElementTree.SubElement(case, tag, {"type": kind, "message": escape.xml(message)})
    element.text = escape.xml(text)


def _own_counts(suite: Element) -> dict[str, str]:
    counts = {"tests": len(suite.findall("testcase"))}
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts[name] = len(suite.findall(f"testcase/{tag}"))
    return {name: str(count) for name, count in counts.items()}


def _counts(suites: Sequence[Element]) -> dict[str, str]:
    names = ("tests", "failures", "errors", "skipped")
    return {name: str(sum(int(suite.get(name, "0")) for suite in suites)) for name in names}
