"""What a person at a terminal sees while a verification runs; nothing where there is no terminal."""

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from conformance.parts.result import PartResult
from conformance.standard_streams import as_it_is


class Progressing:
    """A `Watch` on stderr: the part, what it is doing now, and the time it took so far."""

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begins(self, part: str) -> None:
        """The clock of the part starts."""
        self._progress.reset(self._task, description="", part=part)

    def says(self, what: str) -> None:
        """What it is doing now."""
        self._progress.update(self._task, description=what)

    def ends(self, result: PartResult) -> None:
        """How it ended stays on the screen until the next one begins."""
        self._progress.update(self._task, description=result.verdict.value)
