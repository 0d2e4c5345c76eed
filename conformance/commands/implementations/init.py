"""`barrierspec init`: writes an adapter, a workflow, hooks and a list of known divergences."""

from pathlib import Path

import click

from conformance.command_line.options import FOLDER
from conformance.skeletons import languages


@click.command()
@click.argument("folder", default=Path(), type=FOLDER)
@click.option("--language", required=True, type=click.Choice([*languages()]), help="The language.")
@click.option("--from", "requirement", metavar="REQUIREMENT",
              help="The requirement, in pip's syntax, that CI and hooks install. By default this "
                   "version.")  # fmt: skip
@click.option("--keep", is_flag=True, help="Keep existing files unchanged, and write the others.")
def command(folder: Path, language: str, requirement: str | None, keep: bool) -> int:
    """Write an adapter with an example that conforms, and the files that run it in CI.

    These files are a GitHub workflow, pre-commit hooks and an empty list of known divergences. FOLDER is the
    root of a git repository, by default the current folder. If one of the files exists, the command writes
    nothing and exits with 64, unless --keep is given.
    """
    from conformance import escape
    from conformance.skeletons import skeleton, write_skeleton
    from conformance.verdict import Exit

    made = skeleton(language, requirement)
    kept = write_skeleton(made, folder, keep=keep)
    for name in made.files:
        click.echo(f"  {'kept ' if name in kept else 'wrote'}   {escape.line(str(folder / name))}")
    enter = None if folder == Path() else escape.shell(["cd", str(folder)])
    first = " && ".join(filter(None, (enter, made.build, made.smoke)))
    click.echo(f"  next    {first}\n          {made.conform}\n          git add {' '.join(made.files)}")
    return Exit.CONFORMS
