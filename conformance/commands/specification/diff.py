"""`barrierspec diff`: what behaves otherwise in another revision or another generation of the model."""

from pathlib import Path

import click

from conformance.commands import COMPONENTS


@click.command()
@click.argument("old")
@click.argument("new", required=False)
@click.option("--component", "components", multiple=True, type=click.Choice(COMPONENTS), help="Only this.")
def command(old: str, new: str | None, components: tuple[str, ...]) -> int:
    """Compare two git revisions (NEW left out: the working tree), or two generations of a component.

    Prints behaviours gained, lost and changed with the shortest run of each. Ends with 0 if there are
    none, with 1 if there are.
    """
    from conformance.change.behaviour import Meaning, meaning_of
    from conformance.change.compared import compare_profiles, compare_revisions, component_of
    from conformance.mutants.catalogue import load_catalogue
    from conformance.report import change
    from conformance.verdict import Exit

    click.echo(f"barrierspec diff   {old} -> {new or 'the working tree'}\n")
    generation = None if new is None else component_of(old, new, components)
    if generation is not None and new is not None:
        compared = compare_profiles(old, new, generation)
    else:
        compared = compare_revisions(Path.cwd(), old, new, components or COMPONENTS)
    for line in change.paragraphs(compared.changes):
        click.echo(line)
    for line in change.of_rules(compared.declared) if compared.declared is not None else ():
        click.echo(line)
    for line in change.affected(compared.changes, [mutant.rule for mutant in load_catalogue()]):
        click.echo(line)
    meaning = meaning_of(compared.changes)
    click.echo(f"\n{change.closing(meaning, compared.bound)}")
    return Exit.CONFORMS if meaning is Meaning.COMPATIBLE else Exit.DIVERGES
