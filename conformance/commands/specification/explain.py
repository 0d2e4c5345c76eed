"""`barrierspec explain`: one rule, what it says, where it comes from and where it stands."""

import textwrap

import click

from conformance.rules import index as rule_index

KINDS = {
    "invariant": "invariant: it holds of every state or step, and no step fires it",
    "temporal": "temporal: only TLC checks it, under weak fairness",
}
"""The kinds of rule that are worth a line, and the line."""


@click.command()
@click.argument("rule_id", metavar="ID")
def command(rule_id: str) -> int:
    """Say what a rule demands, where it comes from, and where it stands in spec, model and tests."""
    from conformance.report.formats.columns import wrapped
    from conformance.rules.places import places

    rule = rule_index.rule(rule_id)
    click.echo(wrapped(f"{rule.id}  {rule.title}", len(rule.id) + 2) + "\n")
    for line in textwrap.wrap(rule.must, 76):
        click.echo(f"  {line}")
    click.echo()
    named = {
        "source": rule.source,
        "holds": f"Flink {rule.holds}",
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
