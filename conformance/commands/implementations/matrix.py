"""`barrierspec matrix`: compares several implementations with the model, runs whole jobs, writes one page."""

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
    help="The number of examples for each component.",
)
@seed("every case")
@limit
@click.option("--out", default=Path("build/report/matrix.md"), show_default=True,
              type=FILE, help="The page that the command writes.")  # fmt: skip
def command(file: Path, examples: int, seed: int, limit: float, out: Path) -> int:
    """Compare the implementations in FILE with the model, and run the jobs in FILE with faults.

    FILE has a table [[implementation]] for each implementation. Its keys are `name`, and either `adapter` (a
    command, `model` or `impl`) or `release` (a release of Flink, such as `2.2.1`). The command checks every
    component that the implementation offers.

    FILE has a table [[pipeline]] for each whole job. Its keys are `name`, `runs` (`runtime`, `runtime
    at-least-once`, `structured-streaming` or `structured-streaming appending`) and `keeps`, the guarantee to
    check (by default `exactly-once`). The job runs once on Spark with faults, and the command classifies its
    committed output.

    Exits with 1 if an implementation or a job diverges, and with 2 if one is undetermined.
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
    counted = f"{len(all_done)} implementation{'s' * (len(all_done) != 1)}"
    if jobs_done:
        counted += f", {len(jobs_done)} whole job{'s' * (len(jobs_done) != 1)}"
    click.echo(f"\n{verdict.value}   {counted}\n  page    {out}")
    return verdict.exit_code
