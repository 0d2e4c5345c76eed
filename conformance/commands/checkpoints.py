"""`barrierspec checkpoints`: what a job has left in its checkpoint folder, verified to the last byte."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.table import Table

from conformance.verdict import Exit

if TYPE_CHECKING:
    from impl.state import CompletedCheckpoint, FileSystemStorage


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--tasks", is_flag=True, help="The state of every task too.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw an SVG of the run.")
def command(folder: Path, tasks: bool, plot: Path | None) -> int:
    """List the completed checkpoints in FOLDER: ids, sizes, offsets, and whether they are as written.

    Every file is read and its checksum computed anew. New are the bytes that no older checkpoint of the list
    has: with state in RocksDB they share the rest. Ends with 1 if a checkpoint was altered.
    """
    from impl.state import FileSystemStorage, StateError

    if not (folder / "attempts").is_dir():
        raise click.UsageError(f"{folder} is no checkpoint folder: a job's has an entry 'attempts'")
    if plot is not None:
        _draw(folder, plot)
    storage = FileSystemStorage(folder)
    console = Console(highlight=False)
    columns = ("checkpoint", "attempt", "tasks", "bytes", "new", "records before it", "verdict")
    listed = Table(*columns, box=box.SIMPLE)
    altered = 0
    seen: set[str] = set()
    whole: list[CompletedCheckpoint] = []
    for checkpoint in storage.completed_ids():
        try:
            completed = storage.load(checkpoint)
        except StateError as refused:
            altered += 1
            listed.add_row(str(checkpoint), "", "", "", "", "", str(refused))
            continue
        whole.append(completed)
        handles = completed.handles.values()
        new = {one.file: one.size for handle in handles for one in handle.shared if one.file not in seen}
        seen.update(new)
        listed.add_row(
            str(checkpoint),
            str(completed.attempt),
            str(len(completed.handles)),
            f"{sum(handle.whole_size for handle in handles):,}",
            f"{sum(handle.size for handle in handles) + sum(new.values()):,}",
            f"{sum(handle.offset or 0 for handle in handles):,}",
            "whole",
        )
    if not listed.row_count:
        click.echo(f"{folder}: no checkpoint is complete")
        return Exit.CONFORMS
    console.print(listed)
    if tasks and whole:
        _list_tasks(console, whole[-1])
    _tell_restore(storage)
    return Exit.DIVERGES if altered else Exit.CONFORMS


def _draw(folder: Path, target: Path) -> None:
    """Every checkpoint that the run has completed, those among them that were replaced since."""
    from conformance.pictures.checkpoints import svg
    from impl.metrics import FILE, read_metrics

    measured = folder.parent / FILE
    if not measured.is_file():
        raise click.UsageError(f"{measured} is missing: a run writes it beside its checkpoint folder")
    checkpoints = read_metrics(measured)
    if not checkpoints:
        raise click.UsageError(f"{measured} tells of no completed checkpoint")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(svg(checkpoints, f"{len(checkpoints)} checkpoints of {folder.parent.name}"))
    click.echo(f"{target}: {len(checkpoints)} checkpoints")


def _list_tasks(console: Console, completed: "CompletedCheckpoint") -> None:
    """The tasks of the newest whole checkpoint."""
    listed = Table("task", "bytes", "offset", "file", "checksum", box=box.SIMPLE)
    for task, handle in sorted(completed.handles.items()):
        offset = "" if handle.offset is None else f"{handle.offset:,}"
        listed.add_row(task, f"{handle.whole_size:,}", offset, handle.file, handle.checksum[:16])
    click.echo(f"checkpoint {completed.checkpoint}")
    console.print(listed)


def _tell_restore(storage: "FileSystemStorage") -> None:
    latest = storage.latest_completed()
    if latest.completed is None:
        click.echo("no checkpoint can be restored; a run begins anew in a fresh folder")
    else:
        click.echo(f"a run that resumes goes on from checkpoint {latest.completed.checkpoint}")
