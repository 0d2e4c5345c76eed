"""`barrierspec trace`: replay recorded runs through the model."""

from pathlib import Path

import click


@click.command()
@click.argument(
    "logs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
def command(logs: tuple[Path, ...]) -> int:
    """Validate event-log folders: is each a run of the protocol, and what have they witnessed together?"""
    from conformance.parts import trace
    from conformance.parts.result import verdict_of

    watched = trace.judged(logs, click.echo)
    for name, count in watched.situations.items():
        click.echo(f"  {count:>7,}  {name}")
    for finding in watched.findings:
        click.echo(finding.line)
        if finding.story:
            click.echo(f"  {finding.story}")
    verdict = verdict_of(watched.findings)
    click.echo(f"{verdict.value}  {watched.bound()}")
    return verdict.exit_code
