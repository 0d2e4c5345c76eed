"""`barrierspec checkpoints`: lists the checkpoints and savepoints of a job, and verifies all their files."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.table import Table

from conformance.command_line.extras import require_extra
from conformance.command_line.options import FILE, Place
from conformance.verdict import Exit

if TYPE_CHECKING:
    from impl.state import CheckpointStorage, CompletedCheckpoint


@click.command()
@click.argument("folder", type=Place(exists=True))
@click.option("--tasks", is_flag=True, help="List the state of each task, too.")
@click.option("--plot", type=FILE, help="Draw the checkpoints of the run as SVG into this file.")
def command(folder: Path | str, tasks: bool, plot: Path | None) -> int:
    """List checkpoints and savepoints: ids, sizes, offsets, and whether their files are unaltered.

    FOLDER is the output folder of a job, a checkpoint folder, a folder of savepoints, or one savepoint. All
    but the output folder may be a URI in an object store. The command reads every file and verifies its
    checksum. The column `new` counts the bytes that no older checkpoint of the list has. Checkpoints with
    state in RocksDB share files. Savepoints share no files. Exits with 1 if a file was altered.
    """
    require_extra("spark")
    from impl.state import StateError

    try:
        return _list(Console(highlight=False), folder, tasks, plot)
    except StateError as refused:
        raise click.ClickException(str(refused)) from refused


def _list(console: Console, folder: Path | str, tasks: bool, plot: Path | None) -> int:
    from impl.state import locations, savepoints_in
    from impl.state.checkpoint_storage import ATTEMPTS
    from impl.state.locations import CHECKPOINTS, SAVEPOINTS, beside, is_in_memory, location_of

    output = folder if isinstance(folder, Path) else None
    if output is not None and (recorded := locations.recorded_checkpoint_folder(output)) is not None:
        folder = recorded
        if is_in_memory(folder):
            raise click.UsageError(
                f"{output}: the checkpoints of this job are in the memory of its driver; take a savepoint "
                "(barrierspec savepoint --to FOLDER), or give the job checkpoint_storage filesystem"
            )
    elif output is not None and (output / CHECKPOINTS / ATTEMPTS).is_dir():
        folder = output / CHECKPOINTS
    elif output is not None:
        output = output.parent
    if ATTEMPTS in location_of(folder).folders():
        if plot is not None:
            _draw(output, plot)
        altered = _list_checkpoints(console, folder, tasks)
        altered += _list_savepoints(console, beside(folder, SAVEPOINTS), tasks)
        if output is not None:
            altered += _list_savepoints(console, output / SAVEPOINTS, tasks)
        return Exit.DIVERGES if altered else Exit.CONFORMS
    if savepoints_in(folder):
        return Exit.DIVERGES if _list_savepoints(console, folder, tasks) else Exit.CONFORMS
    if location_of(folder).size("_metadata") is None:
        raise click.UsageError(
            f"{folder}: expected a checkpoint folder with an entry 'attempts', or a savepoint with a file "
            "'_metadata', got neither; name the output folder of a job"
        )
    return Exit.DIVERGES if _list_savepoints(console, folder, tasks, only=True) else Exit.CONFORMS


def _list_checkpoints(console: Console, folder: Path | str, tasks: bool) -> int:
    """List the completed checkpoints; returns the number of altered checkpoints."""
    from impl.state import CheckpointStorage, StateError

    storage = CheckpointStorage(folder)
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


def _list_savepoints(console: Console, folder: Path | str, tasks: bool, *, only: bool = False) -> int:
    """List the savepoints in a folder; returns the number of altered savepoints.

    `only`: whether the folder is itself a savepoint.
    """
    from impl.state import SavepointFolder, StateError, savepoints_in

    found = (SavepointFolder(folder),) if only else savepoints_in(folder)
    listed = Table("savepoint", "tasks", "bytes", "records before it", "job", "verdict", box=box.SIMPLE)
    listed.add_column("folder", overflow="fold")
    altered = 0
    whole: list[CompletedCheckpoint] = []
    for one in found:
        name = str(one.where).rpartition("/")[2]
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
            stopped if request.get("kind") == "stop" else "continued",
            "whole",
            name,
        )
    if listed.row_count:
        console.print(listed)
    if tasks and whole:
        _list_tasks(console, whole[-1])
    return altered


def _draw(output: Path | None, target: Path) -> None:
    """Draw every checkpoint that the run has completed, also a checkpoint that no longer exists."""
    from conformance.report import plots
    from impl.metrics import FILE, read_metrics

    if output is None:
        raise click.UsageError("--plot needs a job's output folder, which has the metrics; name that folder")
    measured = output / FILE
    if not measured.is_file():
        raise click.UsageError(
            f"{measured} is missing: a run writes it into its output folder; leave --plot out"
        )
    try:
        checkpoints = read_metrics(measured)
    except (ValueError, KeyError, TypeError, AttributeError) as odd:
        why = f"expected one line of JSON for each checkpoint, got {odd!r:.200}"
        raise click.UsageError(f"{measured}: {why}; leave --plot out") from odd
    if not checkpoints:
        raise click.UsageError(f"{measured} has no completed checkpoint; leave --plot out")
    drawn = plots.checkpoints(checkpoints, f"{len(checkpoints)} checkpoints of {output.name}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(drawn)
    click.echo(f"{target}: {len(checkpoints)} checkpoints")


def _list_tasks(console: Console, completed: "CompletedCheckpoint") -> None:
    """Print the state of each task in a checkpoint or savepoint."""
    listed = Table("task", "bytes", "offset", box=box.SIMPLE)
    listed.add_column("file", overflow="fold")
    listed.add_column("checksum", overflow="fold")
    for task, handle in sorted(completed.handles.items()):
        offset = "" if handle.offset is None else f"{handle.offset:,}"
        listed.add_row(task, f"{handle.whole_size:,}", offset, handle.file, handle.checksum[:16])
    kind = "checkpoint" if completed.savepoint is None else "savepoint"
    click.echo(f"{kind} {completed.checkpoint}")
    console.print(listed)


def _print_restore(storage: "CheckpointStorage") -> int:
    """Print the checkpoint from which a resumed run starts; returns 1 if a resumed run is refused, else 0."""
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
