"""`barrierspec bench`: measured rates and the runtime's figures, beside their bars."""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from conformance.bench import MEASURED
from conformance.command_line.options import FOLDER
from conformance.command_line.written import write

if TYPE_CHECKING:
    from conformance.bench.benchmark import Benchmark, Measured
    from conformance.bench.figures import Report
    from conformance.bench.runtime.scale import Scale

T = TypeVar("T")


@click.command()
@click.option("--repeat", default=5, show_default=True, type=click.IntRange(1), help="Runs of each rate.")
@click.option("--only", metavar="TEXT", default="", help="Only what has this in its name.")
@click.option("--quick", is_flag=True, help="The runtime in small: to see that it works, not how fast.")
@click.option("--publish", is_flag=True, help="Make the pages of the documentation of what was measured.")
@click.option("--build", default=Path("build"), show_default=True,
              type=FOLDER, help="Folder of the reports.")  # fmt: skip
def command(repeat: int, only: str, quick: bool, publish: bool, build: Path) -> int:
    """Measure the suite's rates (lock-step, the explorer, TLC) and the runtime on Spark.

    Of the runtime: throughput beside Structured Streaming, cost of checkpoints, backpressure, recovery,
    incremental checkpoints, memory; then our engines beside TLC, SPIN and minicheck on gates and on the
    composition, one very large search, and traces of many jobs; more than an hour in all. Prints medians with
    the facts of the machine, and ends with 0 whether the bars are met or not: rates are reported, not judged.
    Writes report/bench.json for the suite, and report/bench/ for the rest, from which `--publish` makes the
    README's table, docs/performance.md and its pictures; it measures nothing.
    """
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
        raise click.UsageError(f"--only: nothing that is measured has {only!r} in its name")
    if chosen:
        _rates(chosen, repeat, build)
    for name in runtime:
        _runtime(name, build, QUICK if quick else FULL)
    return 0


def _rates(chosen: "list[Benchmark]", repeat: int, build: Path) -> None:
    from conformance import machine
    from conformance.report import measured as texts
    from conformance.report.formats import documents

    measured = [_shown(f"{one.name}: {one.setting}", partial(one.measure, repeat)) for one in chosen]
    file = build / "report" / "bench.json"
    here, load = machine.machine(), machine.load()
    write(file, documents.encoded(document(measured)))
    click.echo(texts.rates(measured, here.describe(), load, machine.cores()), nl=False)
    click.echo(f"\n  report  {file}")


def document(measured: "Sequence[Measured]") -> dict[str, object]:
    """The measured rates and the facts of this machine as JSON values."""
    from conformance import machine

    return {
        "commit": machine.source(),
        "machine": {**machine.machine()._asdict(), "load": machine.load()},
        "measured": [row.as_json() for row in measured],
    }


def _runtime(name: str, build: Path, scale: "Scale") -> None:
    from conformance.bench.runtime.scale import FULL
    from conformance.report.measured import figures

    measure: Callable[[Path, Scale], Report] = import_module(f"conformance.bench.{MEASURED[name]}").measure
    report = _shown(name, lambda: measure(build / "bench", scale))
    quick = "" if scale == FULL else " --quick"
    file = report.write(build, f"barrierspec bench --only {name}{quick}")
    click.echo(figures(report), nl=False)
    click.echo(f"\n  report  {file}")


def _shown(what: str, work: Callable[[], T]) -> T:
    """Do the work; a terminal shows what is running."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        return work()
    with console.status(what):
        return work()
