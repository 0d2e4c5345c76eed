"""`barrierspec matrix`: several implementations beside the model, one table."""

from pathlib import Path

import click


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--examples", default=30, show_default=True, type=click.IntRange(1), help="How much is tried.")
@click.option("--seed", default=0, show_default=True, type=int, help="Decides every case.")
@click.option("--limit", default=10.0, show_default=True, type=click.FloatRange(0, min_open=True),
              help="Seconds that one answer may take.")  # fmt: skip
@click.option("--out", default=Path("build/report/matrix.md"), show_default=True,
              type=click.Path(dir_okay=False, path_type=Path), help="The page.")  # fmt: skip
def command(file: Path, examples: int, seed: int, limit: float, out: Path) -> int:
    """Examine the implementations that FILE lists in every component that they offer.

    FILE has a table [[implementation]] for each, with `name` and `adapter` (a command, or `model`, `impl`,
    or `barrierspec flink serve 2.2.1`). Ends with 1 if one diverges, with 2 if one could not be judged.
    """
    from conformance.drive.examine import Plan
    from conformance.drive.several import SeveralError, examine_all, implementations
    from conformance.report import several
    from conformance.verdict import together

    try:
        chosen = implementations(file)
    except SeveralError as wrong:
        raise click.UsageError(str(wrong)) from wrong
    all_done = []
    for done in examine_all(chosen, Plan(seed=seed, examples=examples, batch=20), limit):
        all_done.append(done)
        click.echo(several.line(done))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(several.page(all_done, seed=seed, examples=examples), encoding="utf-8")
    verdict = together(done.verdict for done in all_done)
    click.echo(f"\n{verdict.value}   {len(all_done)} implementations\n  page    {out}")
    return verdict.exit_code
