"""`barrierspec pictures`: draws state graphs of the protocol's components from the model."""

from pathlib import Path

import click

from conformance.command_line.checkout_only import require_package
from conformance.command_line.options import FOLDER


@click.command()
@click.option("--out", default=Path("docs/pictures"), show_default=True,
              type=FOLDER, help="The folder of the pictures.")  # fmt: skip
def command(out: Path) -> int:
    """Draw small state graphs of the components and of the composed dataflow as SVG."""
    require_package("conformance.pictures")
    from conformance.pictures.draw import NotInstalledError
    from conformance.pictures.pages import files
    from conformance.verdict import Exit

    try:
        made = list(files())
    except NotInstalledError as missing:
        raise click.UsageError(str(missing)) from missing
    for name, text in made:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8")
        click.echo(f"  {out / name}")
    return Exit.CONFORMS
