"""The progress of a command on the terminal. Without a terminal, a job prints one line every 5 seconds."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median_high
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from conformance.command_line.standard_streams import as_it_is
from conformance.parts.result import PartResult
from conformance.parts.verify import Watch

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from impl.job import Progress as JobProgress
    from impl.metrics import CheckpointMeasures

LINE_EVERY_SECONDS = 5.0
_LOOK_SECONDS = 0.5


class Progressing(Watch):
    """A `Watch` of a verification: shows the running part, its activity and its elapsed time on stderr."""

    def __init__(self, console: Console | None = None) -> None:
        console = console or Console(file=as_it_is(sys.stderr))
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[part]:<13}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            redirect_stdout=False,  # a forked process of a part must not wait for our console's lock
            redirect_stderr=False,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", part="", start=False)

    def __enter__(self) -> "Progressing":
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def begins(self, part: str) -> None:
        """Show the name of the part, and start its clock."""
        self._progress.reset(self._task, description="", part=part)

    def show(self, what: str) -> None:
        """Show `what` as the current activity."""
        self._progress.update(self._task, description=what)

    def ends(self, result: PartResult) -> None:
        """Show the verdict of the part until the next part begins."""
        self._progress.update(self._task, description=result.verdict.value)


class RunDisplay:
    """Shows a running job: a table of its tasks on a terminal, else a line every 5 seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        terminal = console.is_terminal
        self._live = Live(console=console, transient=True, auto_refresh=False) if terminal else None
        self._next_line = 0.0

    def __enter__(self) -> "RunDisplay":
        if self._live is not None:
            self._live.start()
            self._live.update(Text("starting Spark"), refresh=True)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, line: str, progress: "JobProgress") -> None:
        """Show the current state of the run. `line`: its summary."""
        if self._live is not None:
            self._live.update(Group(Text(line), tasks_table(progress)), refresh=True)
        elif progress.seconds >= self._next_line:
            self._next_line = progress.seconds + LINE_EVERY_SECONDS
            self._console.print(line, highlight=False, soft_wrap=True)


def tasks_table(progress: "JobProgress") -> Table:
    """A table with a row for each task that has reported measurements."""
    table = Table("task", box=box.SIMPLE)
    for title in ("records", "bytes buffered", "alignment ms", "snapshot ms", "snapshot bytes"):
        table.add_column(title, justify="right")
    for task, reported in sorted(progress.tasks.items()):
        snapshot = reported.snapshot
        table.add_row(
            task,
            f"{reported.records:,}",
            f"{reported.buffered:,}",
            f"{snapshot.alignment_ms:,.1f}",
            f"{snapshot.writing_ms:,.1f}",
            f"{snapshot.bytes:,}",
        )
    return table


def summary(checkpoints: "list[CheckpointMeasures]") -> str:
    """A line with the medians over the checkpoints of a run."""
    if not checkpoints:
        return "no checkpoint was completed"
    duration = median_high(one.duration_ms for one in checkpoints)
    alignment = median_high(one.alignment_ms for one in checkpoints)
    size = median_high(one.bytes for one in checkpoints)
    return (
        f"checkpoints took {duration:,.0f} ms from trigger to completion, {alignment:,.1f} ms the longest "
        f"alignment, {size:,} bytes (medians of {len(checkpoints)})"
    )


@contextmanager
def tasks_shown(spark: "SparkSession", what: str, console: Console | None = None) -> Iterator[None]:
    """A context that shows `what` and the number of finished Spark tasks; with Spark Connect only `what`."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    done = threading.Event()
    context: SparkContext | None = getattr(spark, "sparkContext", None)
    with console.status(what) as status:

        def look(context: "SparkContext") -> None:
            while not done.wait(_LOOK_SECONDS):
                status.update(f"{what}: {progress(context)}")

        looking = threading.Thread(target=look, args=(context,), daemon=True) if context else None
        if looking is not None:
            looking.start()
        try:
            yield
        finally:
            done.set()
            if looking is not None:
                looking.join()


def progress(context: "SparkContext") -> str:
    """A text with the number of finished tasks and of all tasks, over the active stages."""
    tracker = context.statusTracker()
    stages = [known for one in tracker.getActiveStageIds() if (known := tracker.getStageInfo(one))]
    done, all_tasks = (
        sum(getattr(one, name) for one in stages) for name in ("numCompletedTasks", "numTasks")
    )
    return f"{done:,} of {all_tasks:,} tasks"
