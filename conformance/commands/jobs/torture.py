"""`barrierspec torture`: injects hundreds of faults into a job; checks output, state and resource leaks."""

from pathlib import Path

import click
import orjson
from rich.console import Console

from conformance.command_line.extras import require_extra
from conformance.command_line.options import FOLDER, SECONDS
from conformance.commands import seed

KINDS = ("round", "driver", "executor", "server", "frozen", "clock", "standalone")
MODES = ("exactly-once", "unaligned", "alternating", "at-least-once")


@click.command()
@click.option("--faults", type=click.IntRange(1), help="The number of faults. By default 300, for spark 16.")
@seed("rounds, faults and tasks", 20261121)
@click.option(
    "--mode", type=click.Choice(MODES), help="The mode of all rounds. By default the first three in turn."
)
@click.option("--implementation", default="bundled", type=click.Choice(("bundled", "spark")),
              help="The runtime under test: the bundled runtime, or Structured Streaming.")  # fmt: skip
@click.option("--sink", default="idempotent", type=click.Choice(("idempotent", "appending")),
              help="For spark: a repeated micro-batch replaces its output, or appends it again.")  # fmt: skip
@click.option("--storage", default="folders", type=click.Choice(("folders", "s3")),
              help="The place of checkpoints and output; s3: a moto server that fails some "
                   "requests.")  # fmt: skip
@click.option("--source", default="generated", type=click.Choice(("generated", "kafka")),
              help="The source; kafka: a broker that the campaign freezes, disconnects and "
                   "kills.")  # fmt: skip
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS),
              help="Run only rounds of this kind, and of others that are named, until all faults are "
                   "injected.")  # fmt: skip
@click.option("--seconds", default=1_200.0, show_default=True, type=SECONDS, help="The time budget in s.")
@click.option(
    "--only", metavar="ROUND", multiple=True, help="Run only this round, such as round-12 or driver-0."
)
@click.option(
    "--build",
    default=Path("build/torture"),
    show_default=True,
    type=FOLDER,
    help="The folder in which rounds run and torture.json is written.",
)
def command(  # noqa: PLR0913 - a click command
    faults: int | None,
    seed: int,
    mode: str | None,
    implementation: str,
    sink: str,
    storage: str,
    source: str,
    kinds: tuple[str, ...],
    seconds: float,
    only: tuple[str, ...],
    build: Path,
) -> int:
    """Run a job repeatedly with injected faults, and check that no record is lost or duplicated.

    After each round the command compares the committed output and the final state, row by row, with a batch
    computation. It replays the event log through the model. It checks that no file, thread, socket or process
    remains. In mode at-least-once records may be duplicated. The command then names these records and exits
    with 1.
    """
    require_extra("spark")
    from conformance.torture.brokers.broker import BrokerNotFoundError
    from conformance.torture.campaign import Campaign, run_campaign, run_streaming_campaign
    from conformance.torture.report import progress, report
    from conformance.torture.rounds import UnknownRoundError
    from conformance.torture.servers.object_server import ObjectServerNotFoundError
    from conformance.torture.servers.spark_cluster import ClusterNotStartedError
    from impl.spark.errors import SparkRuntimeError

    streaming = implementation == "spark"
    if streaming and mode:
        raise click.UsageError("--mode is for the bundled runtime; use --sink with --implementation spark")
    if kinds and (streaming or only):
        raise click.UsageError("--kind is for the bundled runtime, and not for named rounds; leave it out")
    if storage == "s3" and (streaming or any(one.startswith(("server", "clock")) for one in (*only, *kinds))):
        raise click.UsageError(
            "--storage s3 is for the bundled runtime, and not for rounds of a server or a clock; leave it out"
        )
    if storage != "s3" and any(one.startswith("standalone") for one in (*only, *kinds)):
        raise click.UsageError(
            "the hosts of rounds on a standalone cluster share nothing but an object store; add --storage s3"
        )
    if source == "kafka" and (
        streaming
        or any(one.startswith(("server", "frozen", "clock", "standalone")) for one in (*only, *kinds))
    ):
        raise click.UsageError(
            "--source kafka is for the bundled runtime, and for its rounds round, "
            "driver and executor; leave it out"
        )
    planned = len(only) or faults or (16 if streaming else 300)
    campaign = Campaign(
        seed,
        sink if streaming else mode,
        planned,
        seconds,
        build,
        implementation=implementation,
        only=only,
        kinds=kinds,
        storage=storage,
        source=source,
    )
    console = Console(stderr=True)
    with console.status("starting Spark") as status:

        def show(so_far: Campaign, name: str) -> None:
            line = progress(so_far, name)
            status.update(line)
            if not console.is_terminal and len(so_far.outcomes) % 10 == 0:
                click.echo(line, err=True)

        try:
            (run_streaming_campaign if streaming else run_campaign)(campaign, show, only)
        except (
            SparkRuntimeError,
            UnknownRoundError,
            ObjectServerNotFoundError,
            BrokerNotFoundError,
            ClusterNotStartedError,
        ) as refused:
            raise click.ClickException(str(refused)) from refused
    build.mkdir(parents=True, exist_ok=True)
    (build / "torture.json").write_bytes(orjson.dumps(campaign.to_json(), option=orjson.OPT_INDENT_2))
    click.echo(report(campaign), nl=False)
    click.echo(f"  report  {build / 'torture.json'}")
    return campaign.verdict.exit_code
