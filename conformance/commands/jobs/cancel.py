"""`barrierspec cancel`: cancel a job that runs in another process."""

from pathlib import Path

import click

from conformance.command_line.extras import require_extra
from conformance.command_line.options import SECONDS


@click.command()
@click.argument("output", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--seconds", default=60.0, show_default=True, type=SECONDS, help="The time limit in seconds.")
def command(output: Path, seconds: float) -> int:
    """Cancel the job whose output folder is OUTPUT, without a savepoint, and wait for its end.

    The setting `externalized_checkpoint_retention` of the job decides whether its checkpoints stay. A job can
    resume from checkpoints that stay. Exits with 2 if the job ends in another way, and with 64 if no job
    answers.
    """
    require_extra("spark")
    from impl.savepoints import CANCEL

    return end_job(output, CANCEL, "cancelled", seconds)


def end_job(output: Path, end: str, ended: str, seconds: float) -> int:
    """Request the end of the job in `output`, wait for it, and return the exit code.

    `end`: the kind of request, as in `impl.savepoints`. `ended`: the participle for the messages. Raises
    ClickException if no job answers.
    """
    from conformance.verdict import Exit, Verdict
    from impl.savepoints import request_end
    from impl.spark.errors import SavepointAbortedError, SavepointFailedError
    from impl.state import StateError

    try:
        request_end(output, end, seconds)
    except SavepointAbortedError as failed:
        click.echo(f"{Verdict.UNDETERMINED.value}  the job was not {ended}: {failed}", err=True)
        return Exit.UNDETERMINED
    except (SavepointFailedError, StateError) as refused:
        raise click.ClickException(str(refused)) from refused
    click.echo(f"{ended} the job in {output}")
    return Exit.CONFORMS
