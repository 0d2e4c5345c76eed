"""A verification as JUnit XML, for CI servers: each part is a test suite, with a test case for each rule.

A charged rule is a failure, a finding without a rule is an error, and a part that was not selected is
skipped. A further test case has the verdict of the part. It may fail although that of every rule passes.
"""

from collections.abc import Iterable, Iterator
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from conformance import escape
from conformance.parts.result import Finding, PartResult
from conformance.report.screen import title_of
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.parts.verify import Verification

_WHOLE = "the part as a whole"
_TAGS = {Verdict.DIVERGES: "failure", Verdict.UNDETERMINED: "error"}


class _Case(NamedTuple):
    name: str
    tag: str = ""
    """The name of the XML element in the test case; empty for a rule that holds."""
    kind: str = ""
    message: str = ""
    text: str = ""
    seconds: float = 0.0


class _Suite(NamedTuple):
    name: str
    cases: list[_Case]
    seconds: float = 0.0


def junit(verification: "Verification") -> bytes:
    """The XML of a verification."""
    return of_parts("barrierspec verify", verification.parts, verification.not_run, verification.seconds)


def of_parts(
    name: str, parts: Iterable[PartResult], not_run: Iterable[str] = (), seconds: float | None = None
) -> bytes:
    """The XML of the parts of any command. `seconds`: the time that all of them took."""
    from xml.sax import saxutils  # most commands write no XML, and start sooner without these

    from jinja2 import Environment

    suites = [_Suite(result.name, [*_cases(result)], result.seconds) for result in parts]
    suites += [_Suite(one, [_Case(_WHOLE, "skipped", message="not requested")]) for one in not_run]
    environment = Environment(autoescape=False, trim_blocks=True, lstrip_blocks=True)  # the filters escape
    environment.filters["time"] = lambda seconds: f' time="{seconds:.3f}"' if seconds else ""  # if measured
    environment.filters["quoted"] = lambda text: saxutils.quoteattr(escape.xml(text))
    environment.filters["plain"] = lambda text: saxutils.escape(escape.xml(text))
    template = resources.files("conformance.report.formats").joinpath("junit.xml.jinja").read_text("utf-8")
    return environment.from_string(template).render(name=name, suites=suites, seconds=seconds).encode()


def _cases(result: PartResult) -> Iterator[_Case]:
    """The case of the part, and one for each rule exercised or charged and each finding without a rule."""
    tag = _TAGS.get(result.verdict, "system-out")
    text = f"again: {result.again}" if result.verdict in _TAGS else result.bound
    yield _Case(_WHOLE, tag, result.verdict.value, result.bound, text, result.seconds)
    charged: dict[str, list[Finding]] = {}
    for finding in result.findings:
        if finding.rule is not None:
            charged.setdefault(finding.rule, []).append(finding)
    for rule in sorted({*result.rules, *charged}):
        case = _Case(f"{rule} {title_of(Finding(rule, ''))}")
        if rule in charged:
            stories = "\n\n".join(one.story or one.line for one in charged[rule])
            case = case._replace(tag="failure", kind=rule, message=charged[rule][0].line, text=stories)
        yield case
    for one in result.findings:
        if one.rule is None:
            yield _Case(one.line, "error", "could not be judged", one.line, one.story)
