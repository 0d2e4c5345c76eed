"""A running job on the screen: a table of its tasks on a terminal, a line every few seconds elsewhere."""

from types import TracebackType

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from impl.job import Progress
from impl.metrics import CheckpointMeasures

LINE_EVERY_SECONDS = 5.0


class RunDisplay:
    """What `on_progress` feeds, while a context lasts. Nothing stays of the table at its end."""

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, line: str, progress: Progress) -> None:
        """The state of the run now; `line` says it in one."""
        if self._live is not None:
            self._live.update(Group(Text(line), tasks_table(progress)), refresh=True)
        elif progress.seconds >= self._next_line:
            self._next_line = progress.seconds + LINE_EVERY_SECONDS
            self._console.print(line, highlight=False, soft_wrap=True)


def tasks_table(progress: Progress) -> Table:
    """A row for each task that has told something."""
    table = Table("task", box=box.SIMPLE)
    for title in ("records", "bytes buffered", "alignment ms", "snapshot ms", "snapshot bytes"):
        table.add_column(title, justify="right")
    for task, told in sorted(progress.tasks.items()):
        snapshot = told.snapshot
        table.add_row(
            task,
            f"{told.records:,}",
            f"{told.buffered:,}",
            f"{snapshot.alignment_ms:,.1f}",
            f"{snapshot.writing_ms:,.1f}",
            f"{snapshot.bytes:,}",
        )
    return table


def summary(checkpoints: list[CheckpointMeasures]) -> str:
    """The checkpoints of a run in one line: medians over them."""
    if not checkpoints:
        return "no checkpoint was completed"
    middle = len(checkpoints) // 2
    duration = sorted(one.duration_ms for one in checkpoints)[middle]
    alignment = sorted(one.alignment_ms for one in checkpoints)[middle]
    size = sorted(one.bytes for one in checkpoints)[middle]
    return (
        f"checkpoints took {duration:,.0f} ms from trigger to completion, {alignment:,.1f} ms the longest "
        f"alignment, {size:,} bytes (medians of {len(checkpoints)})"
    )
