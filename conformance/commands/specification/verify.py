"""`barrierspec verify`: runs every part of the verification, and prints one report and one verdict."""

import shutil
import sys
from pathlib import Path

import click

from conformance.command_line.options import FOLDER
from conformance.command_line.written import write
from conformance.commands import seed
from conformance.parts.verify import PARTS, SEED


@click.command()
@click.option("--only", "chosen", multiple=True, metavar="PART", type=click.Choice(tuple(PARTS)),
              help=f"Run only this part. May be repeated. One of: {', '.join(PARTS)}.")  # fmt: skip
@seed("every random choice", SEED)
@click.option("--quick", is_flag=True, help="Use smaller bounds, for a quick check.")
@click.option("--thorough", is_flag=True,
              help="Include models and proofs that take minutes.")  # fmt: skip
@click.option("--build", default=Path("build"), show_default=True,
              type=FOLDER, help="The folder of the reports.")  # fmt: skip
def command(chosen: tuple[str, ...], seed: int, quick: bool, thorough: bool, build: Path) -> int:
    """Check specification, model and implementation against each other, and print one report.

    Writes verification.json, junit.xml, findings.sarif and a page, index.html, into build/report.
    """
    from conformance.command_line.extras import require_extra
    from conformance.command_line.progress import Progressing
    from conformance.machine import cores
    from conformance.page import of_verify, render
    from conformance.parts.verify import fresh_context, verify
    from conformance.report import verification
    from conformance.report.formats import documents, junit, sarif
    from conformance.report.screen import WIDEST, screen

    if quick and thorough:
        raise click.UsageError("--quick and --thorough exclude each other; leave one out")
    require_extra(*(PARTS[name].extra for name in chosen or PARTS if PARTS[name].extra))
    context = fresh_context(seed, build, quick=quick, processes=cores(), thorough=thorough)
    with Progressing() as watch:
        done = verify(chosen, context=context, watch=watch)
    files = tuple(build / "report" / name for name in ("verification.json", "junit.xml", "index.html"))
    write(files[0], documents.encoded(verification.document(done)))
    write(files[1], junit.junit(done))
    render.write(of_verify.page_of(done), files[2])
    write(build / "report" / "findings.sarif", documents.encoded(sarif.document(done.parts)))
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((WIDEST, 24)).columns if terminal else WIDEST
    click.echo(screen(done, files, width=width, colour=terminal), nl=False)
    return done.verdict.exit_code
