"""`barrierspec suspend`: end the driver of a job in another process, and keep its checkpoints."""

from pathlib import Path

import click

from conformance.command_line.extras import require_extra
from conformance.command_line.options import SECONDS
from conformance.commands.jobs.cancel import end_job


@click.command()
@click.argument("output", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--seconds", default=60.0, show_default=True, type=SECONDS, help="The time limit in seconds.")
def command(output: Path, seconds: float) -> int:
    """Suspend the job whose output folder is OUTPUT, and wait for the end of its driver.

    All completed checkpoints stay, whatever `externalized_checkpoint_retention` says. To continue the job,
    run it again with `resume=True`. Exits with 2 if the job ends in another way or cannot be suspended, and
    with 64 if no job answers.
    """
    require_extra("spark")
    from impl.savepoints import SUSPEND

    return end_job(output, SUSPEND, "suspended", seconds)
