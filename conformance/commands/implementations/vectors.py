"""`barrierspec vectors`: test vectors for implementations in any language."""

from itertools import islice
from pathlib import Path

import click

from conformance import escape
from conformance.command_line.options import FOLDER
from conformance.commands import COMPONENTS, limit, seed

SHOWN = 5
"""The maximum number of differences that the command prints."""


@click.group()
def command() -> None:
    """Write runs of the model with every effect and state as JSON lines, and compare adapters with them."""


@command.command()
@click.argument("folder", type=FOLDER)
@click.option(
    "--component", "components", multiple=True, type=click.Choice(COMPONENTS), help="Only this component."
)
@click.option(
    "--walks", default=50, show_default=True, type=click.IntRange(0), help="Walks for each component."
)
@seed("the walks")
@click.option("--whole", is_flag=True, help="Include the tours of the large closed models.")
@click.option("--no-paths", is_flag=True, help="Leave out directed cases, which need z3.")
@click.option("--transcripts", "folder_of_transcripts",
              type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="Include the golden transcripts in this folder, such as tests/transcripts.")  # fmt: skip
@click.option(
    "--itf", is_flag=True, help="Also write each scenario and directed case in the Informal Trace Format."
)
def write(  # noqa: PLR0913 - a click command
    folder: Path,
    components: tuple[str, ...],
    walks: int,
    seed: int,
    whole: bool,
    no_paths: bool,
    folder_of_transcripts: Path | None,
    itf: bool,
) -> int:
    """Write the vectors into FOLDER: named scenarios, directed cases, tours and walks."""
    from conformance.vectors import files
    from conformance.vectors.make import vectors_of
    from conformance.vectors.transcripts import read_all

    played = [*read_all(folder_of_transcripts)] if folder_of_transcripts is not None else []
    chosen = components or COMPONENTS
    made = {
        one: vectors_of(one, seed=seed, walks=walks, whole=whole, paths=not no_paths, transcripts=played)
        for one in chosen
    }
    for component, counts in files.write(folder, made):
        parts = ", ".join(f"{number:,} {origin}" for origin, number in counts.items())
        click.echo(f"  {component:<12} {counts.total():>7,} vectors: {parts}")
    if itf:
        click.echo(f"  itf          {files.write_itf(folder, chosen):>7,} files")
    click.echo(f"\n  next    {escape.shell(('barrierspec', 'vectors', 'verify', str(folder)))} --adapter CMD")
    return 0


@command.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--adapter", default="model", show_default=True, metavar="CMD",
              help="The implementation: a command, `impl`, or `model` to find changes of the "
                   "model.")  # fmt: skip
@limit
def verify(folder: Path, adapter: str, limit: float) -> int:
    """Send the events of the vectors in FOLDER to an adapter, and print the answers that differ."""
    from conformance.adapters.choose import open_adapter
    from conformance.adapters.protocol import Hello, Unsupported
    from conformance.vectors import files
    from conformance.vectors.check import Difference, check, is_offered
    from conformance.verdict import Verdict

    played = skipped = 0
    differences: list[Difference] = []
    implementation = open_adapter(adapter, limit)
    try:
        hello = implementation.hello()
        if not isinstance(hello, Hello):
            raise click.UsageError(
                f"--adapter: expected an answer to hello, got {hello.describe()}; run `barrierspec smoke`"
            )
        for component in files.components_in(folder):
            for vector in files.read(folder, component):
                played += 1
                if not is_offered(vector, hello.components):
                    skipped += 1
                    continue
                came = check(vector, implementation)
                skipped += isinstance(came, Unsupported)
                if isinstance(came, Difference):
                    differences.append(came)
    finally:
        implementation.bye()
    for difference in islice(differences, SHOWN):
        click.echo("\n".join(difference.lines()))
    more = f", {len(differences) - SHOWN:,} of them not shown" if len(differences) > SHOWN else ""
    verdict = Verdict.DIVERGES if differences else Verdict.CONFORMS
    if played == skipped:
        verdict = Verdict.UNDETERMINED
    counts = f"{len(differences):,} of {played:,} vectors differ{more}; {skipped:,} skipped as not offered"
    click.echo(
        f"{verdict.value}   {counts}\n  again   "
        + escape.shell(("barrierspec", "vectors", "verify", str(folder), "--adapter", adapter))
    )
    return verdict.exit_code
