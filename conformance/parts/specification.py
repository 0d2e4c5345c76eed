"""The specification: TLC on every model that must hold, and on broken models with a `lesson` in the manifest.

It is a finding if a model that must hold is refuted, if a broken model is not refuted on the invariant that
it names, or if a count differs from the pinned one. TLC runs with one worker for each model, so that
counterexamples and depths are always the same. One model runs on each core, the largest models first. The
state graphs of the models that the triangle compares stay in the build folder.
"""

import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from conformance.parts.result import DUMPS, Context, Finding, PartResult, verdict_of
from spec.manifest import Model, load_manifest
from spec.stategraph import kept_at
from spec.tlc import Result, check

UNRULED = "none"
"""The id in reports if a pinned count differs and no rule is violated."""


def run(context: Context) -> PartResult:
    """Check the models: with `quick` only those of the triangle, with `thorough` also long ones."""
    known = load_manifest().values()
    chosen = [
        model
        for model in known
        if (model.violates is None or model.lesson) and (context.thorough or not model.thorough)
    ]
    compared = {model.name for model in chosen if model.is_compared(thorough=context.thorough)}
    models = [model for model in chosen if model.name in compared or not context.quick]
    dumps = context.build / DUMPS
    shutil.rmtree(dumps, ignore_errors=True)
    models.sort(key=lambda model: model.states, reverse=True)

    def checked(model: Model) -> Result:
        context.progress(f"TLC: {model.name}, one of {len(models)} models")
        return check(model, dump=kept_at(model, dumps) if model.name in compared else None)

    with ThreadPoolExecutor(context.processes) as pool:
        results = list(pool.map(checked, models))
    findings = tuple(finding for result in results for finding in findings_of(result))
    states = sum(result.states for result in results)
    failing = [result for result in results if result.model.violates is not None]
    seen = sum(result.violated == result.model.violates for result in failing)
    rules = {rule for result in results for rule in result.model.rules if result.model.violates is None}
    return PartResult(
        name="specification",
        verdict=verdict_of(findings),
        bound=f"{len(models)} models, {states:,} states, {seen} of {len(failing)} expected violations seen",
        numbers={"models": len(models), "states": states, "violations": seen, "expected": len(failing)},
        rules=tuple(sorted(rules)),
        findings=findings,
    )


def findings_of(result: Result) -> Iterator[Finding]:
    """One finding about the differences from the manifest: a wrong violation, else the wrong counts."""
    differences: Sequence[str] = result.differences
    if not differences:
        return
    expected = result.model.violates
    violated = result.violated
    if violated != expected:
        rule = rule_of(violated or expected or UNRULED)
        yield Finding(rule, f"{result.model.name}: {differences[0]}", result.story)
        return
    story = f"{result.model.shows}\nmodel {result.model.name} of {result.model.module}"
    yield Finding(UNRULED, "; ".join(differences), story)


def rule_of(definition: str) -> str:
    """The rule that a definition states: `ALIGN_03` is ALIGN-03; other invariants keep their names."""
    return definition.replace("_", "-")
