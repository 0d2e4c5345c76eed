"""`barrierspec savepoint`: takes a savepoint of a job in another process, and may stop the job with it."""

from pathlib import Path

import click

from conformance.command_line.extras import require_extra
from conformance.command_line.options import SECONDS, Place


@click.command()
@click.argument("output", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--stop", is_flag=True, help="End the job with the savepoint. All records before it are committed."
)
@click.option("--drain", is_flag=True, help="With --stop: every function first receives the end of its data.")
@click.option("--to", type=Place(), help="The folder or URI in which the savepoint is created.")
@click.option("--seconds", default=60.0, show_default=True, type=SECONDS, help="The time limit in seconds.")
def command(output: Path, stop: bool, drain: bool, to: Path | str | None, seconds: float) -> int:
    """Take a savepoint of the job whose output folder is OUTPUT, and print the savepoint's folder.

    The job may run on another host that has access to the same folder. The job takes the savepoint when all
    its tasks run, also after a restart. Then the job continues; with --stop it ends. To start from the
    savepoint, use `barrierspec run --from-savepoint`, or the option `from_savepoint` of your own job. Exits
    with 2 if the job answers that the savepoint failed, and with 64 if no job answers.
    """
    require_extra("spark")
    from conformance.verdict import Exit, Verdict
    from impl.savepoints import SavepointRequest, request_savepoint
    from impl.spark.errors import SavepointAbortedError, SavepointFailedError
    from impl.state import StateError

    try:
        taken = request_savepoint(output, SavepointRequest(to, stop, drain), seconds)
    except SavepointAbortedError as failed:
        click.echo(f"{Verdict.UNDETERMINED.value}  the job took no savepoint: {failed}", err=True)
        return Exit.UNDETERMINED
    except (SavepointFailedError, StateError) as refused:
        raise click.ClickException(str(refused)) from refused
    click.echo(f"savepoint {taken.checkpoint} in {taken.folder}" + (", the job has ended" if stop else ""))
    return Exit.CONFORMS
