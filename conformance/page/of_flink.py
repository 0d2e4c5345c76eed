"""The page of `barrierspec trace flink`: each log's verdict, what its rejection says, and the situations."""

from collections.abc import Sequence

from conformance.observe.flink.situations import RARE, REQUIRED, SITUATIONS
from conformance.observe.flink.validate import FlinkResult
from conformance.page.document import Page, Row, Situation
from conformance.parts.result import PartResult
from conformance.verdict import together


def page_of(
    parts: Sequence[PartResult], results: Sequence[FlinkResult], required: Sequence[str], again: str
) -> Page:
    """The page; `results` are those of the logs that could be read and judged."""
    verdict = together(part.verdict for part in parts)
    charged = [finding.rule for part in parts for finding in part.findings if finding.rule is not None]
    said = sum(result.said for result in results)
    headline = f"{said:,} lines of {len(results)} logs are what the protocol does."
    if charged:
        headline = f"What was logged is no run of the protocol: {charged[0]}."
    elif any(part.findings for part in parts):
        headline = "Nothing was rejected, but not everything could be judged."
    rows = tuple(
        Row(part.name, part.verdict, part.bound, part.rules, findings=part.findings) for part in parts
    )
    releases = ", ".join(dict.fromkeys(result.release for result in results)) or "none"
    about = (("wording of", releases), ("jobs", ", ".join(result.job for result in results) or "none"))
    return Page(
        "trace flink", verdict, headline, about, again, rows, (), tuple(_situations(results, required))
    )


def _situations(results: Sequence[FlinkResult], required: Sequence[str]) -> list[Situation]:
    wanted = {*REQUIRED, *required}
    found = []
    for name, meaning in {**SITUATIONS, **RARE}.items():
        times = sum(result.situations.get(name, 0) for result in results)
        if times or name in SITUATIONS or name in wanted:
            found.append(Situation(name, meaning, times, name in wanted))
    return found
