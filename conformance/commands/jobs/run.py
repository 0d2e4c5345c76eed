"""`barrierspec run`: runs the flights job on Spark, with a fault if an option names one, and checks it."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from conformance.command_line.extras import require_extra
from conformance.command_line.options import FOLDER, INTEGER, Number, Place
from conformance.verdict import Exit, Verdict

if TYPE_CHECKING:
    from impl.config import CheckpointConfig

KILLED_DRIVER = "killed-driver"
SCENARIOS = ("undisturbed", "killed-while-aligning", "killed-before-notification", KILLED_DRIVER)
MODES = ("exactly-once", "at-least-once", "unaligned", "alternating")
PATIENCE_MS = 100
"""The time in ms that a checkpoint of mode alternating aligns before its barriers overtake."""
MARK = ".barrierspec-run"
"""The name of a file in each folder that a run has made. The command empties only such a folder."""


@click.command()
@click.option(
    "--out",
    default=Path("build/run"),
    show_default=True,
    type=FOLDER,
    help="The output folder, which is new or of an earlier run.",
)
@click.option(
    "--scenario",
    default=SCENARIOS[0],
    show_default=True,
    type=click.Choice(SCENARIOS),
    help="The injected fault; `undisturbed`: none.",
)
@click.option(
    "--seed",
    default=20261121,
    show_default=True,
    type=INTEGER,
    help="The seed that determines the task in which the fault is injected.",
)
@click.option(
    "--rate", type=Number(0, min_open=True), help="Flights per second. By default a run takes 20 s."
)
@click.option("--rows", type=click.IntRange(1), help="Count only this number of flights, the first ones.")
@click.option("--master", default="local[8]", show_default=True, help="The Spark master.")
@click.option(
    "--supervise",
    is_flag=True,
    help="Replace the driver's process if it is killed. The scenario killed-driver always does so.",
)
@click.option(
    "--from-savepoint",
    type=Place(exists=True),
    help="Start from this savepoint of an earlier run into the same folder.",
)
@click.option(
    "--claim",
    is_flag=True,
    help="Make the run own the savepoint: it deletes the savepoint when it is subsumed.",
)
@click.option(
    "--checkpoints",
    type=Place(),
    help="The place of the checkpoints: a folder, or a URI such as s3://BUCKET/PREFIX.",
)
@click.option(
    "--rest-port",
    type=click.IntRange(0, 65_535),
    help="Serve the job's web page at this port of localhost. 0: a free port; OUT/rest.url has the address.",
)
@click.option(
    "--mode", default=MODES[0], show_default=True, type=click.Choice(MODES), help="The checkpointing mode."
)
def command(  # noqa: PLR0913 - a click command
    out: Path,
    scenario: str,
    seed: int,
    rate: float | None,
    rows: int | None,
    master: str,
    supervise: bool,
    from_savepoint: Path | str | None,
    claim: bool,
    checkpoints: Path | str | None,
    rest_port: int | None,
    mode: str,
) -> int:
    """Count every flight exactly once on Spark, with the fault of --scenario, and check the output.

    In mode at-least-once the job may count a flight twice after a failure. The command then exits with 1. It
    exits with 2, without a check of the output, if the job fails or if a resumed job replaces it. It exits
    with 64 if the job cannot start with these options, or if another job writes into the same folder.
    """
    require_extra("spark")
    from conformance.command_line.progress import RunDisplay, summary
    from conformance.parts.pipeline import RUNS, Run, described
    from impl.config import CLAIM, NO_CLAIM, ConfigError
    from impl.connectors.errors import ConnectorError
    from impl.faults import Action, FaultPlan, Point
    from impl.jobs import flights
    from impl.jobs.flights_check import check_flights
    from impl.metrics import read_metrics
    from impl.output_lock import reserved
    from impl.process_tree import exit_on_sigterm
    from impl.spark.errors import (
        JobCancelledError,
        JobFailedError,
        JobSuspendedError,
        SparkRuntimeError,
        UnknownEffectError,
    )
    from impl.state.errors import StateError, StorageError, SupersededError

    injected = FaultPlan(Point.COMPLETION_STORED, occurrence=5, action=Action.KILL_DRIVER)
    planned = next(one for one in (*RUNS, Run(KILLED_DRIVER, (injected,))) if one.name == scenario)
    _require_usable(out, continues=from_savepoint is not None)
    try:
        with RunDisplay(Console(stderr=True)) as display, exit_on_sigterm(), reserved(out):
            if from_savepoint is None:
                emptied(out)
            csv = flights.first_flights(rows, out / "flights.csv") if rows else flights.flights_csv()
            result = flights.run(
                out,
                seed,
                planned.faults,
                flights.FlightsOptions(
                    rate=rate or flights.ROWS_PER_SECOND,
                    csv=csv,
                    checkpoints=checkpoints_of(mode),
                    from_savepoint=from_savepoint,
                    claim_mode=CLAIM if claim else NO_CLAIM,
                    checkpoint_folder=checkpoints,
                    supervised=supervise or scenario == KILLED_DRIVER,
                    master=master,
                    rest_port=rest_port,
                    on_progress=lambda progress: display.show(described(scenario, progress), progress),
                ),
            )
    except (JobCancelledError, JobSuspendedError) as ended:
        click.echo(f"{Verdict.UNDETERMINED.value}  {ended}; its output was not checked")
        return Exit.UNDETERMINED
    except (JobFailedError, UnknownEffectError, StorageError, SupersededError) as failed:
        click.echo(f"{Verdict.UNDETERMINED.value}  the job failed, and its output was not checked: {failed}")
        return Exit.UNDETERMINED
    except (SparkRuntimeError, ConfigError, StateError, ConnectorError) as refused:
        raise click.ClickException(str(refused)) from refused
    stopped = result.stopped_with
    if stopped is not None:
        click.echo(f"stopped with savepoint {stopped.checkpoint} in {stopped.folder}")
        click.echo(f"continue with: barrierspec run --out {out} --from-savepoint {stopped.folder}")
        return Exit.CONFORMS
    report = check_flights(out / "committed", csv)
    click.echo(report.describe())
    click.echo(
        f"{len(result.attempts)} attempt{'s' * (len(result.attempts) != 1)}, "
        f"{len(result.checkpoints)} checkpoint{'s' * (len(result.checkpoints) != 1)} completed, "
        f"{len(result.faults)} of {len(planned.faults)} faults occurred, {result.seconds:.1f} s"
    )
    click.echo(summary(read_metrics(result.paths.metrics) if result.checkpoints else []))
    for signal in result.deaths:
        click.echo(f"a driver died by {signal}; another driver resumed from its newest checkpoint")
    for damaged in result.refused:
        click.echo(f"checkpoint {damaged.checkpoint} was refused: {damaged.reason}")
    if result.not_cleaned is not None:
        click.echo(f"unneeded files are left in {result.paths.checkpoints}: {result.not_cleaned}")
    click.echo(f"committed output in {out / 'committed'}, event log in {out / 'events'}, seed {seed}")
    if not report.exact:
        return Exit.DIVERGES
    return Exit.CONFORMS if len(result.faults) == len(planned.faults) else Exit.UNDETERMINED


def checkpoints_of(mode: str) -> "CheckpointConfig":
    """The checkpoint configuration for a value of --mode."""
    from impl.config import AT_LEAST_ONCE, EXACTLY_ONCE, CheckpointConfig

    kept = AT_LEAST_ONCE if mode == "at-least-once" else EXACTLY_ONCE
    return CheckpointConfig(
        checkpointing_mode=kept,
        unaligned_checkpoints_enabled=mode in ("unaligned", "alternating"),
        aligned_checkpoint_timeout_ms=PATIENCE_MS if mode == "alternating" else 0,
    )


def _require_usable(out: Path, *, continues: bool) -> None:
    """Raise UsageError if `out` has files that no run has made.

    `continues`: whether the run starts from a savepoint. Then `out` must be the folder of an earlier run.
    """
    if continues and not (out / MARK).exists():
        raise click.UsageError(
            f"{out} is no folder of an earlier run. The run that took the savepoint has uncommitted output "
            "in its own output folder; name that folder with --out"
        )
    if out.exists() and any(out.iterdir()) and not (out / MARK).exists():
        raise click.UsageError(f"{out} has files that no run has made; name a new folder with --out")


def emptied(out: Path) -> None:
    """Make `out` an empty folder with a mark; its lock stays.

    Raises UsageError, and removes nothing, if `out` has files that no run has made.
    """
    from impl.output_lock import LOCK

    others = [path for path in out.iterdir() if path.name != LOCK] if out.exists() else []
    if others and not (out / MARK).exists():
        raise click.UsageError(f"{out} has files that no run has made; name a new folder with --out")
    for path in others:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).touch()
