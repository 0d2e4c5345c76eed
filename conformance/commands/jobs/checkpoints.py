"""`barrierspec checkpoints`: the checkpoints and savepoints of a job, verified to the last byte."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.table import Table

from conformance.command_line.extras import require_extra
from conformance.command_line.options import FILE
from conformance.verdict import Exit

if TYPE_CHECKING:
    from impl.state import CompletedCheckpoint, FileSystemStorage


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--tasks", is_flag=True, help="The state of every task too.")
@click.option("--plot", type=FILE, help="Draw an SVG of the run.")
def command(folder: Path, tasks: bool, plot: Path | None) -> int:
    """List checkpoints and savepoints: ids, sizes, offsets, and whether they are as written.

    FOLDER is a job's output, its checkpoint folder, a folder of savepoints or a savepoint. Every file is read
    and its checksum computed anew. New are the bytes that no older checkpoint of the list has: with state in
    RocksDB they share the rest, which savepoints never do. Ends with 1 if anything was altered.
    """
    require_extra("spark")
    from impl.state import savepoints_in

    console = Console(highlight=False)
    if (folder / "checkpoints" / "attempts").is_dir():
        folder = folder / "checkpoints"
    if (folder / "attempts").is_dir():
        if plot is not None:
            _draw(folder, plot)
        altered = _list_checkpoints(console, folder, tasks) + _list_savepoints(
            console, folder.parent / "savepoints", tasks
        )
        return Exit.DIVERGES if altered else Exit.CONFORMS
    there = folder if savepoints_in(folder) else folder.parent
    only = None if savepoints_in(folder) else folder
    if only is not None and not (only / "_metadata").is_file():
        raise click.UsageError(
            f"{folder} is no checkpoint folder: a job's has an entry 'attempts', and a savepoint a file "
            "'_metadata'"
        )
    return Exit.DIVERGES if _list_savepoints(console, there, tasks, only) else Exit.CONFORMS


def _list_checkpoints(console: Console, folder: Path, tasks: bool) -> int:
    """The completed checkpoints; answers how many were altered."""
    from impl.state import FileSystemStorage, StateError

    storage = FileSystemStorage(folder)
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
        return 0
    console.print(listed)
    if tasks and whole:
        _list_tasks(console, whole[-1])
    return altered + _print_restore(storage)


def _list_savepoints(console: Console, folder: Path, tasks: bool, only: Path | None = None) -> int:
    """The savepoints in a folder, or one of them; answers how many were altered."""
    from impl.state import SavepointFolder, StateError, savepoints_in

    found = savepoints_in(folder) if only is None else (SavepointFolder(only),)
    listed = Table("savepoint", "tasks", "bytes", "records before it", "job", "verdict", box=box.SIMPLE)
    listed.add_column("folder", overflow="fold")
    altered = 0
    whole: list[CompletedCheckpoint] = []
    for one in found:
        name = one.directory.name
        if not one.is_complete:
            listed.add_row("", "", "", "", "", "not complete", name)
            continue
        try:
            completed = one.load()
        except StateError as refused:
            altered += 1
            listed.add_row("", "", "", "", "", str(refused), name)
            continue
        whole.append(completed)
        request = completed.savepoint or {}
        handles = completed.handles.values()
        stopped = "drained" if request.get("drained") else "stopped"
        listed.add_row(
            str(completed.checkpoint),
            str(len(completed.handles)),
            f"{sum(handle.whole_size for handle in handles):,}",
            f"{sum(handle.offset or 0 for handle in handles):,}",
            stopped if request.get("kind") == "stop" else "went on",
            "whole",
            name,
        )
    if listed.row_count:
        console.print(listed)
    if tasks and whole:
        _list_tasks(console, whole[-1])
    return altered


def _draw(folder: Path, target: Path) -> None:
    """Every checkpoint that the run has completed, those among them that were replaced since."""
    from conformance.report import plots
    from impl.metrics import FILE, read_metrics

    measured = folder.parent / FILE
    if not measured.is_file():
        raise click.UsageError(f"{measured} is missing: a run writes it beside its checkpoint folder")
    try:
        checkpoints = read_metrics(measured)
    except (ValueError, KeyError, TypeError, AttributeError) as odd:
        why = f"expected the measures of a run, a line of JSON a checkpoint, got {odd!r:.200}"
        raise click.UsageError(f"{measured}: {why}; leave --plot out") from odd
    if not checkpoints:
        raise click.UsageError(f"{measured} has no completed checkpoint")
    drawn = plots.checkpoints(checkpoints, f"{len(checkpoints)} checkpoints of {folder.parent.name}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(drawn)
    click.echo(f"{target}: {len(checkpoints)} checkpoints")


def _list_tasks(console: Console, completed: "CompletedCheckpoint") -> None:
    """The tasks of the newest whole checkpoint or savepoint."""
    listed = Table("task", "bytes", "offset", box=box.SIMPLE)
    listed.add_column("file", overflow="fold")
    listed.add_column("checksum", overflow="fold")
    for task, handle in sorted(completed.handles.items()):
        offset = "" if handle.offset is None else f"{handle.offset:,}"
        listed.add_row(task, f"{handle.whole_size:,}", offset, handle.file, handle.checksum[:16])
    kind = "checkpoint" if completed.savepoint is None else "savepoint"
    click.echo(f"{kind} {completed.checkpoint}")
    console.print(listed)


def _print_restore(storage: "FileSystemStorage") -> int:
    """From where a run goes on; answers how many files keep it from going on."""
    from impl.state import StateError

    try:
        latest = storage.latest_completed()
    except StateError as refused:
        click.echo(f"a resumed run is refused: {refused}")
        return 1
    if latest.completed is None:
        click.echo("no checkpoint can be restored; start a new run in a fresh folder")
    else:
        click.echo(f"a resumed run starts from checkpoint {latest.completed.checkpoint}")
    return 0
