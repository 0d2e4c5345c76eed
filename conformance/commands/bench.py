"""`barrierspec bench`: measured rates beside their bars."""

from pathlib import Path

import click


@click.command()
@click.option("--repeat", default=5, show_default=True, type=click.IntRange(1), help="Runs of each.")
@click.option("--only", metavar="TEXT", default="", help="Only what has this in its name.")
@click.option("--build", default=Path("build"), show_default=True,
              type=click.Path(file_okay=False, path_type=Path), help="Folder of the reports.")  # fmt: skip
def command(repeat: int, only: str, build: Path) -> int:
    """Measure lock-step, the explorer and TLC, and print medians with the facts of the machine.

    Ends with 0 whether the bars are met or not: rates are told, not judged. Writes report/bench.json.
    """
    from rich.console import Console

    from conformance.bench import benchmarks
    from conformance.report import rates

    chosen = [known for known in benchmarks() if only in known.name]
    if not chosen:
        raise click.UsageError(f"--only: nothing that is measured has {only!r} in its name")
    console = Console(stderr=True)
    measured = []
    for benchmark in chosen:
        if console.is_terminal:
            with console.status(f"{benchmark.name}: {benchmark.setting}"):
                measured.append(benchmark.measure(repeat))
        else:
            measured.append(benchmark.measure(repeat))
    file = build / "report" / "bench.json"
    rates.write(measured, file)
    click.echo(rates.table(measured), nl=False)
    click.echo(f"\n  report  {file}")
    return 0
