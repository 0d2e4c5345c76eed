"""One page about several implementations: a table of components, and one of whole jobs with faults."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader

from conformance import escape
from conformance.observe.guarantees.anomalies import Subject
from conformance.report.conform import COMPONENTS
from conformance.report.divergence import phrases
from conformance.report.formats.columns import wrapped

if TYPE_CHECKING:
    from conformance.drive.bounds.examination import Examination
    from conformance.drive.implementations import Examined
    from conformance.torture.pipelines import Tortured


def line(done: "Examined") -> str:
    """The line of one implementation that was examined."""
    parts = ", ".join(f"{name} {cell(found)}" for name, found in done.components.items())
    text = escape.line(f"{done.implementation.name}: {parts or done.name}")
    return wrapped(f"  {done.verdict.value:<12} {text}", 15)


def cell(found: "Examination | None") -> str:
    """The cell of one component: the broken rule, the steps that passed, or the verdict UNDETERMINED."""
    if found is None:
        return "-"
    if found.divergence is not None:
        lost = "flaky" if found.divergence.repeats is not None else found.divergence.lost
        return f"{found.verdict.value}{f' at {_charged(found)}' if lost is None else f', {lost}'}"
    if found.broken:
        return "DIVERGES at the frames"
    if found.undetermined:
        return found.verdict.value
    return f"{found.steps:,} steps" + (f" ({len(found.known)} known)" if found.known else "")


def _charged(found: "Examination") -> str:
    """The charged rule, or the words `no rule`."""
    return (found.divergence.charge if found.divergence is not None else None) or "no rule"


def line_of_job(job: "Tortured") -> str:
    """The line of one whole job that was run: what its state and its output have kept."""
    kept = f"state {job.keeps(Subject.STATE)}, output {job.keeps(Subject.OUTPUT)}"
    faults = len(job.outcome.injected)
    name = escape.line(job.pipeline.name)
    return wrapped(f"  {job.verdict.value:<12} {name}: {kept}; {faults} faults", 15)


def page(all_done: Sequence["Examined"], jobs: Sequence["Tortured"] = (), *, seed: int, examples: int) -> str:
    """The tables in Markdown, then each divergence with its shortest run and each reason for UNDETERMINED."""
    names = dict.fromkeys([*COMPONENTS, *(name for done in all_done for name in done.components)])
    offered = [name for name in names if any(name in done.components for done in all_done)]
    environment = Environment(
        loader=PackageLoader("conformance.report", "templates"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["markdown"] = escape.markdown
    return environment.get_template("matrix.md.jinja").render(
        all_done=all_done,
        jobs=jobs,
        seed=seed,
        examples=examples,
        offered=offered,
        cells=lambda done: [cell(done.components.get(name)) for name in offered],
        charged=_charged,
        phrases=phrases,
        Subject=Subject,
    )
