"""`barrierspec bench`: measured rates and the figures of the runtime, with their bars."""

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.command_line.checkout import require
from conformance.command_line.options import FOLDER

if TYPE_CHECKING:
    from conformance.bench.figures import Report


@click.command()
@click.option("--repeat", default=5, show_default=True, type=click.IntRange(1), help="Runs of each rate.")
@click.option("--only", metavar="TEXT", default="", help="Only measurements with this text in their name.")
@click.option("--quick", is_flag=True, help="Small sizes: to see that it works, not how fast.")
@click.option("--publish", is_flag=True, help="Make the pages of the documentation from the measurements.")
@click.option("--build", default=Path("build"), show_default=True,
              type=FOLDER, help="Folder of the reports.")  # fmt: skip
def command(repeat: int, only: str, quick: bool, publish: bool, build: Path) -> int:
    """Measure the suite's rates (lock-step, the explorer, TLC) and the runtime on Spark.

    Of the runtime: throughput beside Structured Streaming, cost of checkpoints, backpressure, recovery,
    incremental checkpoints, memory; then our engines beside TLC, SPIN and minicheck on gates and on the
    composition, one very large search, and traces of many jobs; more than an hour in all. Prints medians with
    the facts of the machine, and ends with 0 whether the bars are met or not. Writes every sample below
    report/bench/. `--publish` measures nothing: it makes the README's table, docs/run/performance.md, its
    plots and the file of medians behind them from these reports.
    """
    require("conformance.bench")
    from conformance.bench import MEASURED
    from conformance.bench.rates import benchmarks
    from conformance.bench.runtime.scale import FULL, QUICK

    if publish:
        from conformance.bench.published import publish as make_pages

        for page in make_pages(build):
            click.echo(f"  wrote   {page}")
        return 0
    chosen = [known for known in benchmarks() if only in known.name]
    runtime = [name for name in MEASURED if only in name]
    if not chosen and not runtime:
        raise click.UsageError(f"--only: no measurement has {only!r} in its name")
    if chosen:
        from conformance.bench.rates import measure as rates

        _show(partial(rates, chosen, repeat), build, "barrierspec bench")
    for name in runtime:
        measure = import_module(f"conformance.bench.{MEASURED[name]}").measure
        again = f"barrierspec bench --only {name}{' --quick' * quick}"
        _show(partial(measure, build / "bench", QUICK if quick else FULL), build, again)
    return 0


def _show(measure: "partial[Report]", build: Path, again: str) -> None:
    """Measure, print the figures and write the report; a terminal shows that it runs."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from conformance import machine

    with Console(stderr=True).status(again):
        report = measure()
    console = Console(highlight=False, markup=False)
    place = f"{machine.machine().describe()}; {machine.busy()}"
    console.print(f"{report.title}\n{report.setting}\n{place}", soft_wrap=True)
    table = Table("", "median", "interval", "bar", "", box=box.SIMPLE)
    summaries = [figure.summary() for figure in report.figures]
    for one in summaries:
        table.add_row(*one.cells())
    console.print(table)
    for one in summaries:
        if one.note:
            console.print(f"  {one.name}: {one.note}", soft_wrap=True)
    click.echo(f"  report  {report.write(build, again)}")
