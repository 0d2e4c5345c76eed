"""`barrierspec explain`: prints a rule, its source, and the places that state or test it."""

import textwrap
from typing import TYPE_CHECKING

import click

from conformance.rules import index as rule_index

if TYPE_CHECKING:
    from spec.rules import Rule

KINDS = {
    "invariant": "invariant: it holds of every state or step, and no step fires it",
    "temporal": "temporal: only TLC checks it, under weak fairness",
}
"""Maps each kind of rule to the text that the command prints."""


@click.command()
@click.argument("rule_id", metavar="ID")
@click.argument("part", required=False)
def command(rule_id: str, part: str | None) -> int:
    """Print a rule, its source, and where specification, model and tests state it.

    With `theorem` as ID, print each clause of the proof of exactly-once. With PART, the name of a clause or
    of a broken variant such as `process/the channel is not blocked`, also print the runs that break the
    clause.
    """
    if rule_id.lower() == "theorem":
        return explain_theorem(part)
    if part is not None:
        raise click.UsageError("only 'theorem' has parts; leave PART out")
    from conformance.report.formats.columns import wrapped
    from conformance.rules.places import places

    rule = rule_index.rule(rule_id)
    click.echo(wrapped(f"{rule.id}  {rule.title}", len(rule.id) + 2) + "\n")
    for line in textwrap.wrap(rule.must, 76):
        click.echo(f"  {line}")
    click.echo()
    named = {
        "source": rule.source,
        "releases": rule.holds,
        "compared": _compared(rule),
        "operator": rule.operator,
        "property": rule.property,
        "kind": KINDS.get(rule.kind, ""),
        "mutants": ", ".join(rule.mutants),
    }
    for field, value in named.items():
        if value:
            click.echo(wrapped(f"  {field:<9} {value}", 12))
    for place, lines in places(rule.id).items():
        click.echo(f"\n  {place}")
        for line in lines or ["nowhere"]:
            click.echo(f"    {line}")
    return 0


def _compared(rule: "Rule") -> str:
    """The released classes with which the rule was compared, or the reason why there are none."""
    from conformance.released.matrix import PUBLISHED, in_order, read

    if rule.undecided:
        return f"with no released class: {rule.undecided}"
    _, cells = read(PUBLISHED)
    seen = [cell.version for cell in in_order(cells.values()) if rule.id in cell.rules]
    return f"with released classes, from Flink {seen[0]} to {seen[-1]}" if seen else ""


def explain_theorem(part: str | None) -> int:
    """Print the clauses of exactly-once, or one part with the runs that break it; returns the exit code.

    `part`: the name of a clause or of a variant; None: all clauses. Raises BadParameter if it names neither.
    """
    from conformance.report.theorem import clause_lines, variant_lines
    from model.theorem.exactly_once import EXACTLY_ONCE
    from model.theorem.finite.counterexamples import bound_in_words, refutation
    from model.theorem.prove import prove_theory
    from model.theorem.variants import VARIANTS

    variants = [v for v in VARIANTS if part in (None, v.clause, v.name)]
    clauses = [c for c in (*EXACTLY_ONCE.theorem, *EXACTLY_ONCE.invariant) if part in (None, c.name)]
    if not variants and not clauses:
        raise click.BadParameter(f"expected a clause or a variant such as {VARIANTS[3].name!r}, not {part!r}")
    lemmas = tuple(prove_theory(EXACTLY_ONCE)) if clauses else ()
    for clause in clauses:
        refutes = [variant.name for variant in VARIANTS if variant.clause == clause.name]
        click.echo("\n".join(clause_lines((clause.name, clause.sentence), lemmas, refutes)) + "\n")
    for variant in variants if part else ():
        is_refuted, run = refutation(variant)
        bound = bound_in_words(variant)
        lines = variant_lines(variant.name, variant.clause, run, bound, is_refuted=is_refuted)
        click.echo("\n".join(lines) + "\n")
    return 0
