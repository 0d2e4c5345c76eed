"""The page of `barrierspec conform`: a case for each divergence, and one for each component that conforms."""

from collections.abc import Iterator
from pathlib import Path

from conformance import escape
from conformance.adapters.protocol import Adapter, Wire
from conformance.diagram.component import of_component
from conformance.divergence import Divergence
from conformance.drive.bounds.examination import Examination
from conformance.drive.conform import Replayed, Reported
from conformance.drive.plan import Plan
from conformance.generators import generate
from conformance.page.case import Case, Step, sample, steps_of, witness
from conformance.page.document import Page, Row
from conformance.parts.result import PartResult
from conformance.refusals import explanation
from conformance.report.divergence import description, phrases
from conformance.verdict import Verdict, together


def page_of(done: Reported, adapter: Adapter, command: str, plan: Plan) -> Page:
    """The page. The implementation plays each case once more, because the page shows its states."""
    verdict = together(done.verdicts)
    cases = []
    rows = []
    for part, examined in zip(done.parts, done.examined, strict=False):
        shown = _case(part, examined, done, adapter, command, plan)
        cases += [shown] if shown is not None else []
        rows.append(_row(part, examined.coverage.missing, has_case=examined.divergence is not None))
    rows += [_row(part, ()) for part in done.parts[len(done.examined) :]]
    about = (("implementation", done.implementation), ("adapter", command), ("seed", str(plan.seed)))
    return Page("conform", verdict, _headline(done, verdict), about, done.again, tuple(rows), tuple(cases))


def page_of_replay(done: Replayed, adapter: Adapter, file: Path) -> Page:
    """The page of a saved divergence that was played again, whether it still occurs or not."""
    divergence, name = done.played.divergence, done.implementation
    if divergence is not None:
        shown = _diverging(divergence, name, adapter, tuple(_commands(done.command, file)))
        verdict = Verdict.DIVERGES
        headline = (
            f"{name} departs from the protocol at {divergence.charge or 'an event that fires no rule'}."
        )
    else:
        steps = witness(adapter, done.component, done.config, done.events)
        shown = _shown(done.component, done.config, steps, f"{done.component}: played again", name, "")
        verdict = Verdict.CONFORMS
        headline = f"{name} answers these {len(steps)} steps as the protocol does; nothing else was tried."
    rules = tuple(sorted({rule for step in shown.steps for rule in step.rules}))
    about = (("implementation", name), ("adapter", done.command), ("replayed", str(file)))
    again = ("barrierspec", "conform", "--adapter", done.command, "--replay", str(file))
    row = Row(done.component, verdict, f"{len(shown.steps)} steps", rules)
    return Page("conform --replay", verdict, headline, about, escape.shell(again), (row,), (shown,))


def _headline(done: Reported, verdict: Verdict) -> str:
    parted = [one.divergence.charge or "no rule" for one in done.examined if one.divergence is not None]
    if parted:
        return f"{done.implementation} departs from the protocol at {', '.join(parted)}."
    if verdict is Verdict.CONFORMS:
        steps = sum(one.steps for one in done.examined)
        return f"{done.implementation} answered {steps:,} steps as the protocol does."
    if verdict is Verdict.DIVERGES:
        return "An entry of the known divergences no longer diverges."
    return "Not everything could be judged."


def _row(part: PartResult, missing: tuple[str, ...], *, has_case: bool = False) -> Row:
    """The row of one component. `has_case`: whether a case on the page shows its finding."""
    return Row(part.name, part.verdict, part.bound, part.rules, missing, () if has_case else part.findings)


def _case(
    part: PartResult, done: Examination, reported: Reported, adapter: Adapter, command: str, plan: Plan
) -> Case | None:
    divergence = done.divergence
    if divergence is not None:
        file = next((Path(one.file) for one in part.findings if one.file), None)
        commands = () if file is None else tuple(_commands(command, file))
        return _diverging(divergence, reported.implementation, adapter, commands)
    if done.stopped is not None or not done.steps or reported.hello is None:
        return None
    offer = reported.hello.components[done.component]
    pinned = {**generate.offered(done.component, offer), **plan.pinned}
    injects = generate.injects(done.component, offer)
    found = sample(done.component, adapter, plan, pinned, injects=injects)
    if found is None:
        return None
    config, steps = found
    note = "No divergence. Of the first cases, this one fires most rules; its beginning is shown."
    return _shown(done.component, config, steps, f"{done.component}: one case", reported.implementation, note)


def _diverging(
    divergence: Divergence, implementation: str, adapter: Adapter, commands: tuple[tuple[str, str], ...]
) -> Case:
    steps = steps_of(divergence, adapter)
    refused = explanation.refused_answer(divergence)
    return Case(
        title=description.headline(divergence),
        under=f"{implementation}, {phrases.of_config(divergence.component, divergence.config)}",
        steps=steps,
        diagram=of_component(divergence.component, divergence.config, steps, is_wrong=True),
        rule=divergence.rule,
        is_wrong=True,
        sentences=description.difference(divergence),
        refusal=None if refused is None else explanation.refusal(refused),
        commands=commands,
    )


def _shown(
    component: str, config: Wire, steps: tuple[Step, ...], title: str, implementation: str, note: str
) -> Case:
    diagram = of_component(component, config, steps, is_wrong=False)
    return Case(title, f"{implementation}, {phrases.of_config(component, config)}", steps, diagram, note=note)


def _commands(command: str, file: Path) -> Iterator[tuple[str, str]]:
    """The replay files that were written for a divergence."""
    yield "again", escape.shell(["barrierspec", "conform", "--adapter", command, "--replay", str(file)])
    test = file.with_name(f"test_{file.stem}.py")
    if test.is_file():
        yield "as a test", escape.shell(["pytest", str(test)])
    for module in sorted((file.parent / file.stem).glob("*.tla")):
        yield "in TLC", escape.shell(["barrierspec", "conform", "--replay", str(module)])
