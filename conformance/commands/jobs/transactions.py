"""`barrierspec transactions`: lists and resolves the prepared transactions that a job has left."""

from pathlib import Path

import click

from conformance.command_line.extras import require_extra
from conformance.command_line.options import Place


@click.command()
@click.argument("checkpoints", type=Place(exists=True))
@click.argument("conninfo")
@click.option("--resolve", is_flag=True, help="Commit or roll back each of them.")
def command(checkpoints: Path | str, conninfo: str, resolve: bool) -> int:
    """List the prepared transactions that an ended job has left in PostgreSQL.

    CHECKPOINTS is the checkpoint folder of the job, and CONNINFO the connection string of the server. The
    newest completed checkpoint decides: its transactions have to be committed, all others rolled back. A
    resumed job does this by itself. With --resolve this command does it, for a job that is not resumed. End
    the job first. Exits with 0, also if there are none.
    """
    require_extra("spark")
    from conformance.verdict import Exit
    from impl import transactions
    from impl.connectors.errors import ConnectorError
    from impl.state import StateError

    try:
        storage = transactions.checkpoints_at(checkpoints)
        found = (transactions.resolve if resolve else transactions.left)(storage, conninfo)
    except (ConnectorError, StateError) as refused:
        raise click.ClickException(str(refused)) from refused
    done = {transactions.Fate.COMMIT: "committed", transactions.Fate.ROLL_BACK: "rolled back"}
    for gid, fate in found:
        click.echo(f"{gid}  {done[fate] if resolve else fate.value}")
    click.echo(f"{len(found)} prepared transactions of the job")
    return Exit.CONFORMS
