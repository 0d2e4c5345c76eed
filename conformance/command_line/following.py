"""The options of `barrierspec trace` that watch a running job, and the functions that watch it."""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from conformance.command_line.options import FILE, Number

if TYPE_CHECKING:
    from conformance.observe.flink.run_state import Settings

LONGEST_WATCH = 366 * 86_400.0


class Following(NamedTuple):
    """The values of the options of a watch."""

    follow: bool
    rest: str | None
    json_lines: bool
    prometheus: Path | None
    seconds: float | None
    poll_seconds: float
    of_runs: bool = False
    """Whether the logs are event logs of our runtime. A watch of them uses no REST interface."""

    @property
    def is_given(self) -> bool:
        """Whether the options request a watch.

        Raises UsageError if another option of a watch is given without --follow and --rest.
        """
        if not self.follow and self.rest is None:
            more = "" if self.of_runs else " or --rest"
            alone = {"--json-lines": self.json_lines, "--prometheus": self.prometheus, "--for": self.seconds}
            for name, value in alone.items():
                if value not in (None, False):
                    raise click.UsageError(
                        f"{name}: expected --follow{more} with this option; add it, or leave {name} out"
                    )
            return False
        return True


def follows(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a watch of Flink's logs. The command gets their values as `following`."""
    rest = click.option("--rest", metavar="URL", help="Poll Flink's REST interface: http://localhost:8081.")
    return rest(_watched(command, of_runs=False))


def follows_runs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a watch of our event logs. The command gets their values as `following`."""
    return _watched(command, of_runs=True)


def _watched(command: Callable[..., Any], *, of_runs: bool) -> Callable[..., Any]:
    @wraps(command)
    def gathered(
        follow: bool,
        json_lines: bool,
        prometheus: Path | None,
        seconds: float | None,
        poll_seconds: float,
        rest: str | None = None,
        **others: Any,  # noqa: ANN401 - the other options of the command
    ) -> Any:  # noqa: ANN401 - what the command returns
        given = Following(follow, rest, json_lines, prometheus, seconds, poll_seconds, of_runs)
        return command(following=given, **others)

    options = (
        click.option("--follow", is_flag=True, help="Watch the logs while they are written."),
        click.option("--json-lines", is_flag=True, help="Print one JSON object for each line of a watch."),
        click.option("--prometheus", type=FILE, help="Write the metrics for Prometheus into this file."),
        click.option(
            "--for", "seconds", metavar="SECONDS", type=Number(0, LONGEST_WATCH),
            help="End the watch after this time. 0: read only existing lines. By default until "
                 "SIGINT or SIGTERM.",
        ),
        click.option(
            "--poll", "poll_seconds", metavar="SECONDS", default=1.0, show_default=True,
            type=Number(0.01, 3600), help="The time between two polls.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        gathered = option(gathered)
    return gathered


def followed(following: Following, logs: Sequence[str], settings: "Settings") -> int:
    """Watch logs or a REST interface; returns the exit code of the verdict.

    Raises UsageError if a log is stdin, or if the options do not fit together.
    """
    from conformance.observe.monitor.watching import Options, Watching

    if "-" in logs:
        raise click.UsageError(
            "--follow: expected files, got -; name the file into which the job writes its log"
        )
    if following.follow and not logs:
        raise click.UsageError("--follow: expected at least one LOG, got none; name the job's log")
    if logs and not following.follow:
        raise click.UsageError("--rest: expected no LOG without --follow; add --follow, or leave LOG out")
    options = Options(
        logs=tuple(logs),
        rest=following.rest,
        settings=settings,
        json_lines=following.json_lines,
        prometheus=following.prometheus,
        seconds=following.seconds,
        poll_seconds=following.poll_seconds,
    )
    return Watching(options, click.echo).run().exit_code


def followed_run(following: Following, logs: Sequence[Path]) -> int:
    """Watch the event log in one folder; returns the exit code of the verdict.

    Raises UsageError unless exactly one folder is given.
    """
    from conformance.observe.following.watching import RunWatching
    from conformance.observe.monitor.watching import Options

    if len(logs) != 1:
        raise click.UsageError(
            f"--follow: expected the folder of one event log, got {len(logs)} folders; name one"
        )
    options = Options(
        json_lines=following.json_lines,
        prometheus=following.prometheus,
        seconds=following.seconds,
        poll_seconds=following.poll_seconds,
    )
    return RunWatching(logs[0], options, click.echo).run().exit_code


def present(logs: Sequence[str]) -> None:
    """Raise UsageError if no log is given, BadParameter if a log does not exist."""
    if not logs:
        raise click.UsageError("Missing argument 'LOG...'; give a file, `-`, or --rest URL.")
    for log in logs:
        if log != "-" and not Path(log).exists():
            raise click.BadParameter(f"File {log!r} does not exist.", param_hint="'LOG...'")
