"""`barrierspec trace`: replay recorded runs through the model."""

from pathlib import Path

import click

from conformance.verdict import Verdict, together


@click.command()
@click.argument(
    "logs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
def command(logs: tuple[Path, ...]) -> int:
    """Validate event-log folders: is each a run of the protocol, and what has it witnessed?"""
    from conformance.observe import EventLogError, validate

    verdicts: list[Verdict] = []
    for log in logs:
        try:
            result = validate(log)
        except EventLogError as unreadable:
            raise click.ClickException(str(unreadable)) from unreadable
        verdicts.append(result.verdict)
        click.echo(f"{result.verdict.value}  {log}\n  {result.describe()}")
        if result.rejection is not None:
            click.echo(f"  {result.rejection.event}")
        for name, count in result.situations.items():
            click.echo(f"  {count:>7,}  {name}")
    verdict = together(verdicts)
    return verdict.exit_code
