"""`barrierspec gate`: fails if the model's behaviour has changed and the change is not declared."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance import escape
from conformance.commands import COMPONENTS, reports, write_findings

if TYPE_CHECKING:
    from conformance.report.formats.findings import Outputs

WATCHED = ("model", "spec/rules.toml")
"""The gate compares behaviour only if one of these has changed.

`make verify` compares the modules of `spec/` and the implementation with the model.
"""


@click.command()
@click.option("--base", required=True, metavar="REV", help="The revision to compare the working tree with.")
@click.option(
    "--component", "components", multiple=True, type=click.Choice(COMPONENTS), help="Only this one."
)
@reports
def command(base: str, components: tuple[str, ...], files: "Outputs") -> int:
    """Fail if the model's behaviour differs from revision REV and the change is not declared.

    A new version in spec/rules.toml and a new text in CHANGELOG.md declare a change. Exits with 0 if the
    behaviour has not changed or every change is declared, else with 1.
    """
    from conformance.change import repository as repositories
    from conformance.change.behaviour import Meaning, meaning_of
    from conformance.change.compare_revisions import compare_revisions
    from conformance.mutants.catalogue import load_catalogue
    from conformance.parts.result import PartResult
    from conformance.report import change
    from conformance.verdict import Exit, Verdict

    chosen = [word for name in components for word in ("--component", name)]
    again = escape.shell(["barrierspec", "gate", "--base", base, *chosen])
    repository = repositories.find(Path.cwd())
    if not repositories.differs(repository, repositories.commit(repository, base), WATCHED):
        same = f"{' and '.join(WATCHED)} are the same as in {base}"
        click.echo(f"CONFORMS   {same}")
        write_findings(files, "gate", [PartResult("change", Verdict.CONFORMS, same)], again)
        return Exit.CONFORMS
    compared = compare_revisions(repository, base, None, components or COMPONENTS)
    assert compared.declared is not None
    for line in (*change.paragraphs(compared.changes), *change.of_rules(compared.declared)):
        click.echo(line)
    for line in change.affected(compared.changes, [mutant.rule for mutant in load_catalogue()]):
        click.echo(line)
    meaning = meaning_of(compared.changes)
    click.echo(f"\n{change.closing(meaning, compared.bound)}")
    is_declared = meaning is Meaning.COMPATIBLE or compared.declared.is_declared
    found = () if is_declared else tuple(change.findings(compared.changes, compared.declared.missing()))
    verdict = Verdict.CONFORMS if is_declared else Verdict.DIVERGES
    part = PartResult("change", verdict, f"{meaning.value}: {compared.bound}", findings=found)
    write_findings(files, "gate", [part], again)
    if is_declared:
        declared = "" if meaning is Meaning.COMPATIBLE else f", declared as {compared.declared.new_version}"
        click.echo(f"CONFORMS   against {base}{declared}")
        return Exit.CONFORMS
    click.echo(f"DIVERGES   the behaviour differs from {base}, and this change is not declared")
    for todo in compared.declared.missing():
        click.echo(f"  -> {todo}")
    return Exit.DIVERGES
