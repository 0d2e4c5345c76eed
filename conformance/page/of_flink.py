"""The page of `barrierspec trace flink`: each log's verdict, its rejection, diagrams, and the situations.

A log has more steps than a page can show. Of an accepted log, the page shows the gate with the most channels,
and the coordinator, both from the first checkpoint on. Of a rejected log, it shows the last steps of the
component of the last replayed step.
"""

from collections.abc import Iterable, Iterator, Sequence

from conformance.diagram.component import of_component
from conformance.divergence import Answer
from conformance.observe.flink import FlinkResult
from conformance.observe.flink.run_state import Part, Taken
from conformance.observe.situations import FLINK
from conformance.page.case import Case, Step
from conformance.page.document import Page, Row, Situation
from conformance.parts.result import PartResult
from conformance.verdict import together

LOOKED_AT = 4
"""The number of logs whose steps are shown."""


def page_of(
    parts: Sequence[PartResult], results: Sequence[FlinkResult], required: Sequence[str], again: str
) -> Page:
    """The page of a run. `results`: one for each log that could be read and validated."""
    verdict = together(part.verdict for part in parts)
    charged = [finding.rule for part in parts for finding in part.findings if finding.rule is not None]
    lines = sum(result.replayed for result in results)
    headline = f"{lines:,} lines of {len(results)} logs follow the protocol."
    if charged:
        headline = f"The logged run violates the protocol: {charged[0]}."
    elif any(part.findings for part in parts):
        headline = "Nothing was rejected, but not everything could be judged."
    rows = tuple(
        Row(part.name, part.verdict, part.bound, part.rules, findings=part.findings) for part in parts
    )
    releases = ", ".join(dict.fromkeys(result.release for result in results)) or "none"
    about = (
        ("log wording of release", releases),
        ("jobs", ", ".join(result.job for result in results) or "none"),
    )
    cases = tuple(case for result in results[:LOOKED_AT] for case in _cases(result))
    return Page(
        "trace flink", verdict, headline, about, again, rows, cases, tuple(_situations(results, required))
    )


def _cases(result: FlinkResult) -> Iterator[Case]:
    if result.rejection is not None:
        if result.last_part is not None and result.last_part.last:
            behind = f"Line {result.rejection.line} follows these steps, and no rule allows it."
            yield _case(
                result,
                result.last_part,
                f"{result.last_part.name}: the last steps",
                result.last_part.last,
                behind,
            )
        return
    gates = [part for part in result.parts if part.component == "gate" and part.first]
    shown = sorted(gates, key=lambda part: -part.config["channels"])[:1]
    shown += [part for part in result.parts if part.component == "coordinator" and part.first]
    for part in shown:
        yield _case(result, part, f"{part.name}: from the first checkpoint on", part.first, "")


def _case(result: FlinkResult, part: Part, title: str, taken: Iterable[Taken], note: str) -> Case:
    steps = tuple(
        Step(
            part.component,
            one.event,
            Answer(one.effects, part.observe(one.bookmark)),
            None,
            one.rules,
            f"line {one.line}" if one.line else "",
        )
        for one in taken
    )
    diagram = of_component(part.component, part.config, steps, is_wrong=False)
    return Case(title, f"job {result.job}", steps, diagram, is_recorded=True, note=note)


def _situations(results: Sequence[FlinkResult], required: Sequence[str]) -> list[Situation]:
    needed = {*FLINK.required, *required}
    found = []
    for name, meaning in FLINK.meanings().items():
        times = sum(result.situations.get(name, 0) for result in results)
        if times or name in FLINK.usual or name in needed:
            found.append(Situation(name, meaning, times, name in needed))
    return found
