"""`barrierspec engines`: runs whole engines with the same faults, and prints a table of their guarantees."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.command_line.options import FILE, FOLDER, SECONDS
from conformance.commands import seed

if TYPE_CHECKING:
    from conformance.engines.campaign import Order
    from conformance.verdict import Verdict


@click.command()
@click.option("--row", "names", metavar="ROW", multiple=True,
              help="Run only this row, such as spark or flink@1.20.5. May be repeated.")  # fmt: skip
@click.option("--faults", default=60, show_default=True, type=click.IntRange(1), help="Faults for each row.")
@seed("faults and settings", 20261125)
@click.option("--seconds", default=7_200.0, show_default=True, type=SECONDS, help="The time budget in s.")
@click.option("--only", metavar="NUMBER", multiple=True, type=click.IntRange(0), help="Run only this round.")
@click.option("--repeat", default=1, show_default=True, type=click.IntRange(1),
              help="The number of times that each round of --only runs.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Run only rounds without a verdict in results.json.")
@click.option("--page", type=FILE, help="Write the table between the two marks of this page.")
@click.option("--no-run", is_flag=True, help="Run no round; print the results in results.json.")
@click.option("--build", default=Path("build/engines"), show_default=True, type=FOLDER,
              help="The folder in which rounds run and results.json is written.")  # fmt: skip
def command(  # noqa: PLR0913 - a click command
    names: tuple[str, ...],
    faults: int,
    seed: int,
    seconds: float,
    only: tuple[int, ...],
    repeat: int,
    resume: bool,
    page: Path | None,
    no_run: bool,
    build: Path,
) -> int:
    """Run the same job on whole engines, inject the same faults, and classify the committed output of each.

    Flink runs from its released jars. PyFlink, Bytewax and Pathway run from PyPI, in environments of their
    own. Structured Streaming runs from this environment. Exits with 1 if a round refutes the guarantee that
    the documentation of an engine claims.
    """
    from conformance.command_line.extras import require_extra
    from conformance.engines.campaign import Order
    from conformance.engines.rows import table_row, table_rows
    from conformance.report import engines as report

    require_extra("spark")
    rows = [table_row(name) for name in names] or list(table_rows().values())
    order = Order(rows, seed, faults, seconds, only, repeat)
    file = build / "results.json"
    verdict = run_and_print(order, file, resume or no_run, not no_run)
    if page is not None:
        from conformance.engines.results import read

        page.write_text(report.page(page.read_text(encoding="utf-8"), read(file)), encoding="utf-8")
    return verdict.exit_code


def run_and_print(order: "Order", file: Path, resume: bool = False, run: bool = True) -> "Verdict":
    """Run the rounds, write each into `file` when it ends, and print the table; returns its verdict."""
    from conformance.adapters.flink.releases import FlinkError
    from conformance.engines.campaign import run_campaign
    from conformance.engines.processes import EngineError
    from conformance.engines.results import read, summaries, written
    from conformance.report import engines as report
    from conformance.verdict import Verdict, together

    rounds = read(file) if resume else []
    file.parent.mkdir(parents=True, exist_ok=True)
    stopped = None
    if run:
        try:
            for one in run_campaign(order, file.parent, rounds, click.echo):
                rounds.append(one)
                file.write_bytes(written(rounds))
                click.echo(report.line(one))
        except (EngineError, FlinkError) as cannot:
            stopped = str(cannot)
    found = summaries(rounds)
    click.echo(report.text(found))
    verdicts = [one.verdict for one in found]
    if stopped is not None:
        click.echo(f"UNDETERMINED  {stopped}")
        verdicts.append(Verdict.UNDETERMINED)
    verdict = together(verdicts)
    click.echo(f"{verdict.value}  {report.bound(found)}; seed {order.seed}")
    return verdict
