"""The triangle: compares TLA+, Python and z3 for every model of the manifest that has a projection."""

from concurrent.futures import ProcessPoolExecutor
from itertools import repeat

from conformance.compare.triangle import Agreement, triangle
from conformance.parts.result import DUMPS, Context, Finding, PartResult, verdict_of
from spec.manifest import Model, load_manifest

UNRULED = "none"
"""The id in reports for an edge that only the specification has, because no rule fires in the model."""


def run(context: Context) -> PartResult:
    """Compare TLA+, Python and z3 for each model; with `thorough`, also for models with large graphs."""
    models = [model for model in load_manifest().values() if model.is_compared(thorough=context.thorough)]
    models.sort(key=lambda model: model.states, reverse=True)  # so that no process waits for the last one
    context.progress(f"triangle: {len(models)} models in TLA+, Python and z3")
    with ProcessPoolExecutor(context.processes) as pool:
        agreements = list(pool.map(triangle, models, repeat(context.build / DUMPS)))
    findings = tuple(
        finding
        for model, agreement in zip(models, agreements, strict=True)
        for finding in _findings(model, agreement)
    )
    in_z3 = sum(agreement.steps > 0 for agreement in agreements)
    states = sum(agreement.states for agreement in agreements)
    edges = sum(agreement.edges for agreement in agreements)
    return PartResult(
        name="triangle",
        verdict=verdict_of(findings),
        bound=f"{len(models)} models, {states:,} states, {edges:,} edges agree, {in_z3} models in z3 too",
        numbers={
            "models": len(models),
            "states": states,
            "edges": edges,
            "z3_steps": sum(agreement.steps for agreement in agreements),
        },
        rules=tuple(sorted({rule for model in models for rule in model.rules})),
        findings=findings,
    )


def _findings(model: Model, agreement: Agreement) -> tuple[Finding, ...]:
    difference = agreement.difference
    if difference is None:
        return ()
    rule = difference.rules[0] if difference.rules else UNRULED
    line = f"{model.name}: {difference.sides}"
    return (Finding(rule, line, difference.story),)
