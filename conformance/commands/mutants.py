"""`barrierspec mutants`: each broken variant must be killed, and by the rule that it names."""

import subprocess

import click

LAYERS = ("spec", "model", "impl")


@click.command()
@click.option("--layer", "layers", multiple=True, type=click.Choice(LAYERS), help="Only of this layer.")
@click.option("--rule", "rules", multiple=True, metavar="ID", help="Only of this rule; may be repeated.")
def command(layers: tuple[str, ...], rules: tuple[str, ...]) -> int:
    """Try every mutant of the catalogue and print what caught it.

    Ends with 1 if one survives or is killed by another rule, with 2 if one could not be tried.
    """
    from rich.console import Console

    from conformance import rule_index
    from conformance.mutants.campaign import MutantFailure, run_campaign
    from conformance.mutants.catalogue import Mutant, load_catalogue
    from conformance.report import casualties
    from conformance.rule_index import UnknownRuleError
    from conformance.verdict import Exit
    from spec.tool_output import TlcError

    try:
        wanted = {rule_index.rule(rule).id for rule in rules}
    except UnknownRuleError as error:
        raise click.UsageError(str(error)) from error

    def chosen(mutant: Mutant) -> bool:
        return (not layers or mutant.layer in layers) and (not wanted or mutant.rule in wanted)

    total = sum(map(chosen, load_catalogue()))
    if not total:
        raise click.UsageError("no mutant of the catalogue has this layer and rule")
    click.echo(casualties.heading())
    console = Console(stderr=True)
    status = console.status(f"0 of {total}")
    verdicts = []
    try:
        if console.is_terminal:
            status.start()
        for verdict in run_campaign(chosen):
            verdicts.append(verdict)
            status.update(f"{len(verdicts)} of {total}")
            click.echo(casualties.row(verdict))
    except (MutantFailure, TlcError, subprocess.TimeoutExpired) as error:
        status.stop()
        click.echo(f"\nUNDETERMINED   {len(verdicts)} of {total} tried, then: {error}")
        return Exit.UNDETERMINED
    finally:
        status.stop()
    click.echo(casualties.closing(verdicts))
    return casualties.verdict(verdicts).exit_code
