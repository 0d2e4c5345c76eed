"""`barrierspec bench`: measures the rates of the suite and the performance of the runtime."""

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.command_line.checkout_only import require_package
from conformance.command_line.options import FOLDER

if TYPE_CHECKING:
    from conformance.bench.figures import Report


@click.command()
@click.option("--repeat", default=5, show_default=True, type=click.IntRange(1), help="Runs for each rate.")
@click.option("--only", metavar="TEXT", default="", help="Run only measurements whose name has this text.")
@click.option("--quick", is_flag=True, help="Use small sizes, to test the measurements themselves.")
@click.option(
    "--minutes",
    metavar="N",
    type=click.FloatRange(0),
    help="The time in minutes in which the comparison with Flink may begin new turns. By default 40.",
)
@click.option("--publish", is_flag=True, help="Update the documentation from the reports. Measure nothing.")
@click.option("--build", default=Path("build"), show_default=True,
              type=FOLDER, help="The folder of the reports.")  # fmt: skip
def command(repeat: int, only: str, quick: bool, minutes: float | None, publish: bool, build: Path) -> int:
    """Measure the suite's rates (lock-step, the explorer, TLC) and the runtime on Spark.

    The measurements of the runtime are: throughput compared with Structured Streaming and with Flink, the
    cost of checkpoints, backpressure, recovery, incremental checkpoints, and memory. The measurement `flink`
    installs PyFlink in the cache folder, and continues after an interruption. Other measurements compare our
    engines with TLC, SPIN and minicheck, explore one very large model, and validate traces of many jobs.

    A full run takes more than an hour. The command prints medians, the machine, and the target of each
    figure. It exits with 0 even if a figure misses its target. It writes every sample into a file below
    report/bench/. --publish reads these files and writes the table of the README, docs/run/performance.md and
    its plots.
    """
    require_package("conformance.bench")
    from conformance.bench import MEASURED
    from conformance.bench.runtime.scale import FULL, QUICK
    from conformance.bench.suite_rates import benchmarks

    if publish:
        from conformance.bench.published import publish as make_pages

        for page in make_pages(build):
            click.echo(f"  wrote   {page}")
        return 0
    chosen = [known for known in benchmarks() if only in known.name]
    runtime = [name for name in MEASURED if only in name]
    if not chosen and not runtime:
        raise click.UsageError(
            f"--only: no measurement has {only!r} in its name; leave --only out to run all"
        )
    if chosen:
        from conformance.bench.suite_rates import measure as rates

        _show(partial(rates, chosen, repeat), build, "barrierspec bench")
    for name in runtime:
        measure = import_module(f"conformance.bench.{MEASURED[name]}").measure
        again = f"barrierspec bench --only {name}{' --quick' * quick}"
        scale = QUICK if quick else FULL
        if minutes is not None:
            scale = scale._replace(minutes=minutes)
        _show(partial(measure, build / "bench", scale), build, again)
    return 0


def _show(measure: "partial[Report]", build: Path, again: str) -> None:
    """Measure, print the figures and write the report. A terminal shows `again` during the measurement."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from conformance import machine

    with Console(stderr=True).status(again):
        report = measure()
    console = Console(highlight=False, markup=False)
    place = f"{machine.machine().describe()}; {machine.busy()}"
    console.print(f"{report.title}\n{report.setting}\n{place}", soft_wrap=True)
    table = Table("", "median", "interval", "target", "", box=box.SIMPLE)
    summaries = [figure.summary() for figure in report.figures]
    for one in summaries:
        table.add_row(*one.cells())
    console.print(table)
    for one in summaries:
        if one.note:
            console.print(f"  {one.name}: {one.note}", soft_wrap=True)
    click.echo(f"  report  {report.write(build, again)}")
