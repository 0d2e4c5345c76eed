"""`barrierspec torture`: hundreds of faults at every point of the protocol, and what was left checked."""

from pathlib import Path

import click
import orjson
from rich.console import Console

from conformance.command_line.extras import require_extra
from conformance.command_line.options import FOLDER, SECONDS
from conformance.commands import seed

MODES = ("exactly-once", "unaligned", "alternating", "at-least-once")


@click.command()
@click.option("--faults", type=click.IntRange(1), help="The number of faults; default: 300, for spark 16.")
@seed("rounds, faults and tasks", 20261121)
@click.option("--mode", type=click.Choice(MODES), help="Of all rounds; default: the first three in turn.")
@click.option("--implementation", default="bundled", type=click.Choice(("bundled", "spark")),
              help="The bundled runtime, or Structured Streaming.")  # fmt: skip
@click.option("--sink", default="idempotent", type=click.Choice(("idempotent", "appending")),
              help="Of spark: a micro-batch is rewritten under its old or a new name.")  # fmt: skip
@click.option("--seconds", default=1_200.0, show_default=True, type=SECONDS, help="Budget.")
@click.option("--only", metavar="ROUND", multiple=True, help="Only round-12, driver-0, frozen-3, ...")
@click.option(
    "--build",
    default=Path("build/torture"),
    show_default=True,
    type=FOLDER,
    help="The folder in which rounds run and torture.json is written.",
)
def command(
    faults: int | None,
    seed: int,
    mode: str | None,
    implementation: str,
    sink: str,
    seconds: float,
    only: tuple[str, ...],
    build: Path,
) -> int:
    """Run a job again and again while it is being broken, and check that nothing was lost or doubled.

    After each round the committed output and the final state are compared with the batch answer row for row,
    the event log is replayed through the model, and nothing may be left behind. In mode at-least-once
    records are doubled; that is found, named, and the command ends with 1.
    """
    require_extra("spark")
    from conformance.torture.campaign import Campaign, run_campaign, run_streaming_campaign
    from conformance.torture.report import progress, report
    from conformance.torture.rounds import UnknownRoundError
    from impl.spark.errors import SparkRuntimeError

    native = implementation == "spark"
    if native and mode:
        raise click.UsageError("--mode is of our own job; Structured Streaming takes --sink")
    planned = len(only) or faults or (16 if native else 300)
    campaign = Campaign(
        seed, sink if native else mode, planned, seconds, build, implementation=implementation, only=only
    )
    console = Console(stderr=True)
    with console.status("starting Spark") as status:

        def tell(so_far: Campaign, name: str) -> None:
            line = progress(so_far, name)
            status.update(line)
            if not console.is_terminal and len(so_far.outcomes) % 10 == 0:
                click.echo(line, err=True)

        try:
            (run_streaming_campaign if native else run_campaign)(campaign, tell, only)
        except (SparkRuntimeError, UnknownRoundError) as refused:
            raise click.ClickException(str(refused)) from refused
    build.mkdir(parents=True, exist_ok=True)
    (build / "torture.json").write_bytes(orjson.dumps(campaign.to_json(), option=orjson.OPT_INDENT_2))
    click.echo(report(campaign), nl=False)
    click.echo(f"  report  {build / 'torture.json'}")
    return campaign.verdict.exit_code
