"""`barrierspec run`: the flights job on Spark, with a fault if one is asked for, and its output checked."""

from pathlib import Path

import click
from rich.console import Console

from conformance.verdict import Exit


@click.command()
@click.option(
    "--out",
    default=Path("build/run"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Output, checkpoints, event log.",
)
@click.option(
    "--scenario",
    default="undisturbed",
    show_default=True,
    type=click.Choice(["undisturbed", "killed-while-aligning", "killed-before-notification"]),
)
@click.option(
    "--seed", default=20261121, show_default=True, type=int, help="Draws what the fault leaves open."
)
@click.option(
    "--rate", type=click.FloatRange(0, min_open=True), help="Flights a second; left out: a run of 20 s."
)
@click.option("--rows", type=click.IntRange(1), help="Only so many of the flights.")
@click.option("--master", default="local[8]", show_default=True, help="The Spark master.")
def command(out: Path, scenario: str, seed: int, rate: float | None, rows: int | None, master: str) -> int:
    """Count every flight exactly once, on Spark, while workers are being killed."""
    import shutil

    from conformance.parts.pipeline import RUNS, described
    from impl import flights
    from impl.flights_check import check_flights
    from impl.spark.errors import SparkRuntimeError

    planned = next(one for one in RUNS if one.name == scenario)
    shutil.rmtree(out, ignore_errors=True)
    csv = flights.first_flights(rows, out / "flights.csv") if rows else flights.flights_csv()
    console = Console(stderr=True)
    with console.status("starting Spark") as status:
        try:
            result = flights.run(
                out,
                seed,
                planned.faults,
                rate or flights.ROWS_PER_SECOND,
                lambda progress: status.update(described(scenario, progress)),
                csv=csv,
                master=master,
            )
        except SparkRuntimeError as refused:
            raise click.ClickException(str(refused)) from refused
    report = check_flights(out / "committed", csv)
    click.echo(report.describe())
    click.echo(
        f"{len(result.attempts)} attempts, {len(result.checkpoints)} checkpoints completed, "
        f"{len(result.faults)} faults, {result.seconds:.1f} s"
    )
    click.echo(f"committed output in {out / 'committed'}, event log in {out / 'events'}, seed {seed}")
    return Exit.CONFORMS if report.exact else Exit.DIVERGES
