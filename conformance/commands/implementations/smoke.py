"""`barrierspec smoke`: checks whether an adapter speaks the adapter protocol."""

import shlex
import time

import click

from conformance.commands import limit, seed


@click.command()
@click.option(
    "--adapter", required=True, metavar="CMD", help="The implementation: a command, or `module:attribute`."
)
@seed("the runs")
@limit
def command(adapter: str, seed: int, limit: float) -> int:
    """Check whether an adapter speaks the protocol: its offer, its answers, its errors and its end.

    One check compares every component with the model in 100 short random cases. `conform` compares them in
    more cases. Exits with 1 if a check fails.
    """
    from itertools import groupby

    from conformance.adapters.choose import open_adapter
    from conformance.drive.smoke import smoke
    from conformance.report.formats.columns import command as command_lines
    from conformance.report.formats.columns import wrapped
    from conformance.verdict import Exit

    begun = time.monotonic()
    implementation = open_adapter(adapter, limit)
    failed = checked = 0
    try:
        for subject, checks in groupby(smoke(implementation, seed), lambda check: check.subject):
            done = list(checks)
            checked += len(done)
            wrong = [check for check in done if check.wrong is not None]
            failed += len(wrong)
            good = f"{len(done) - len(wrong)} of {len(done)} checks" if wrong else _checks(len(done))
            notes = "; ".join(check.note for check in done if check.note)
            mark = "FAILS" if wrong else "ok   "
            click.echo(wrapped(f"  {mark}  {subject:<11}  {good}; {notes}".rstrip("; "), indent=22))
            for check in wrong:
                click.echo(wrapped(f"           {check.name}: {check.wrong}", indent=13))
    finally:
        implementation.bye()
    took = f"{_checks(checked)} in {time.monotonic() - begun:.1f} s"
    again = shlex.join(["--adapter", adapter])
    if failed:
        click.echo(f"\nDIVERGES   {failed} of {took} fail")
        click.echo(command_lines("  again   ", f"barrierspec smoke {again} --seed {seed}"))
        return Exit.DIVERGES
    click.echo(f"\nCONFORMS   {took}; `conform` checks more")
    click.echo(command_lines("  next    ", f"barrierspec conform {again}"))
    return Exit.CONFORMS


def _checks(number: int) -> str:
    return "1 check" if number == 1 else f"{number} checks"
