"""`barrierspec matrix`: several implementations beside the model, whole jobs with faults, one page."""

import tomllib
from pathlib import Path

import click

from conformance.command_line.options import FILE
from conformance.commands import limit, seed


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--examples",
    default=30,
    show_default=True,
    type=click.IntRange(1),
    help="Examples for each component.",
)
@seed("every case")
@limit
@click.option("--out", default=Path("build/report/matrix.md"), show_default=True,
              type=FILE, help="The page.")  # fmt: skip
def command(file: Path, examples: int, seed: int, limit: float, out: Path) -> int:
    """Examine the implementations in FILE, in every component that they offer, and its jobs under faults.

    FILE has a table [[implementation]] for each, with `name` and `adapter` (a command, or `model` or `impl`)
    or `release` (of Flink, `2.2.1`), and a table [[pipeline]] for each whole job, with `name`, `runs`
    (`runtime`, `runtime at-least-once`, `structured-streaming`, `structured-streaming appending`) and the
    guarantee that it `keeps` (`exactly-once` if left out): the job runs once on Spark with faults, and its
    committed output is classified. Exits with 1 if one diverges, with 2 if one could not be judged.
    """
    from conformance.drive.implementations import implementations
    from conformance.drive.plan import Plan
    from conformance.parts.implementations import examine_all
    from conformance.report import matrix as report
    from conformance.verdict import together

    chosen, jobs, jobs_done = implementations(file), [], []
    if "pipeline" in tomllib.loads(file.read_text(encoding="utf-8")):
        from conformance.torture.pipelines import pipelines, torture_all  # needs the extra `spark`

        jobs = pipelines(file)
    if not chosen and not jobs:
        raise click.UsageError(f"{file}: expected a table [[implementation]] or [[pipeline]], got none")
    all_done = []
    for done in examine_all(chosen, Plan(seed=seed, examples=examples, batch=20), limit):
        all_done.append(done)
        click.echo(report.line(done))
    for one in torture_all(jobs, seed, out.parent / "matrix") if jobs else ():
        jobs_done.append(one)
        click.echo(report.line_of_job(one))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(report.page(all_done, jobs_done, seed=seed, examples=examples), encoding="utf-8")
    verdict = together([*(done.verdict for done in all_done), *(one.verdict for one in jobs_done)])
    counted = f"{len(all_done)} implementations" + (f", {len(jobs_done)} whole jobs" if jobs_done else "")
    click.echo(f"\n{verdict.value}   {counted}\n  page    {out}")
    return verdict.exit_code
