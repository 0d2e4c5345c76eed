"""`barrierspec trace`: validates the logs of real runs by replaying them through the model."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from conformance import escape
from conformance.command_line.following import (
    Following,
    followed,
    followed_run,
    follows,
    follows_runs,
    present,
)
from conformance.command_line.options import INTEGER, bundled
from conformance.commands import page, reports, write_findings
from conformance.verdict import Verdict, together

if TYPE_CHECKING:
    from conformance.observe.flink import Settings
    from conformance.parts.trace import Watched
    from conformance.report.formats.findings import Outputs

PACKAGES = ("impl", "model", "conformance")
"""The packages that Spark executors on other machines get."""


class _RunsUnlessNamed(click.Group):
    """A command group with the default subcommand `runs`: `trace FOLDER` means `trace runs FOLDER`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with `runs` before them if the first argument names no subcommand."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["runs", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_RunsUnlessNamed, name="trace")
def command() -> None:
    """Replay recorded runs through the model: event logs of our runtime (`runs`), or Flink logs (`flink`)."""


@command.command()
@click.argument(
    "logs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option(
    "--spark",
    "master",
    metavar="MASTER",
    help="Validate many logs in parallel on this Spark master: local[2].",
)
@click.option(
    "--parts",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="The maximum number of parts of each log. Parts end at completed checkpoints; they run in parallel.",
)
@follows_runs
@reports
@page
def runs(
    logs: tuple[Path, ...],
    master: str | None,
    parts: int,
    following: Following,
    files: "Outputs",
    html_file: Path | None,
) -> int:
    """Check that each event log is a run of the protocol, and count the situations in all logs.

    A folder means all event logs in it and below it. Without --parts, one process validates each log, with
    and without Spark. With --parts, several processes or several Spark tasks validate one log. The verdicts
    are the same in all these cases.

    With --follow, the command validates the log of a running job while the job writes it. The command ends
    with the first alarm, because the state after an alarm is not known.
    """
    if following.is_given:
        return followed_run(following, logs)
    from conformance.parts import trace
    from conformance.parts.result import PartResult, verdict_of
    from conformance.parts.traces import logs_under
    from conformance.report.formats.columns import wrapped

    found = logs_under(logs)
    watched = trace.judged(found, click.echo, parts) if master is None else _judged_on(master, found, parts)
    for name, count in watched.situations.items():
        click.echo(f"  {count:>7,}  {name}")
    for finding in watched.findings:
        click.echo(finding.line)
        if finding.story:
            click.echo(f"  {finding.story}")
    verdict = verdict_of(watched.findings)
    click.echo(wrapped(f"{verdict.value}  {watched.bound()}", 2))
    again = escape.shell(
        [
            "barrierspec",
            "trace",
            *map(str, logs),
            *(["--spark", master] if master else []),
            *(["--parts", str(parts)] if parts > 1 else []),
        ]
    )
    part = PartResult(
        "trace", verdict, watched.bound(), rules=tuple(sorted(watched.rules)), findings=watched.findings
    )
    write_findings(files, "trace runs", [part], again)
    if html_file is not None:
        from conformance.page.of_trace import page_of
        from conformance.page.render import write

        write(page_of(found, watched, part, again), html_file)
        click.echo(f"  page    {html_file}")
    return verdict.exit_code


def _judged_on(master: str, logs: Sequence[Path], parts: int) -> "Watched":
    from conformance.command_line.progress import tasks_shown
    from conformance.parts import trace
    from conformance.parts.traces import judged_on_spark, parts_on_spark
    from impl.spark.errors import SparkRuntimeError
    from impl.spark.session import spark_session

    try:
        with (
            TemporaryDirectory() as folder,
            spark_session(master, Path(folder) / "spark.log", "trace", PACKAGES) as spark,
            tasks_shown(spark, f"validating {len(logs):,} logs"),
        ):
            if parts > 1:
                absolute = [log.absolute() for log in logs]
                return trace.judged(absolute, click.echo, parts, partial(parts_on_spark, spark=spark))
            return judged_on_spark(logs, spark, click.echo)
    except SparkRuntimeError as refused:
        raise click.ClickException(str(refused)) from refused


def _settings(**options: int) -> "Settings":
    from conformance.observe.flink import Settings

    return Settings(**options)


@command.command()
@click.argument("logs", metavar="[LOG]...", nargs=-1, type=click.Path(dir_okay=False, allow_dash=True))
@follows
@bundled(
    "corrupted", lambda corruptions, seed: seed if corruptions else None,
    click.option("--corruptions", is_flag=True,
                 help="Corrupt each log in every known way, and check that the model rejects each result."),
    click.option("--seed", default=20261121, show_default=True, type=INTEGER,
                 help="The seed that determines the corrupted places."),
)  # fmt: skip
@bundled(
    "settings", _settings,
    click.option("--max-concurrent", default=1, show_default=True, type=click.IntRange(1),
                 help="The maximum number of pending checkpoints of the job."),
    click.option("--retain", default=1, show_default=True, type=click.IntRange(1),
                 help="The number of completed checkpoints that the job retains."),
    click.option("--max-lines", "most_lines", default=2_000_000, show_default=True, type=click.IntRange(1),
                 help="The maximum number of protocol lines in memory, about 1 kB each."),
)  # fmt: skip
@click.option("--require", "required", metavar="SITUATION", multiple=True,
              help="A situation that the log must show, in addition to the usual situations.")  # fmt: skip
@reports
@page
def flink(
    logs: tuple[str, ...],
    corrupted: int | None,
    settings: "Settings",
    required: tuple[str, ...],
    following: Following,
    files: "Outputs",
    html_file: Path | None,
) -> int:
    """Validate logs of real Flink jobs, of release 1.13 or newer, at log level DEBUG.

    LOG is a file, gzipped or not, or `-` for stdin. Exits with 0 if every log is accepted, and every
    corruption rejected. Exits with 1 if a log is rejected or a corruption accepted. Exits with 2 if a log
    shows too few situations, cannot be judged, or has unreadable lines of the protocol. Exits with 64 if a
    log cannot be read at all.

    With --follow or --rest, the command watches a running job. Log level INFO is then enough, and a LOG need
    not exist at the start.
    """
    from conformance.observe.flink import (
        REQUIRED,
        FlinkLogError,
        UnjudgedError,
        lines_of,
        read_lines,
        validate_flink,
    )
    from conformance.observe.flink.corruptions import NEVER_OBSERVABLE, corrupt_all
    from conformance.parts.result import Finding, PartResult
    from conformance.refusals import explanation
    from conformance.report import flink_log

    if following.is_given:
        return followed(following, logs, settings)
    present(logs)
    verdicts = []
    parts = []
    judged = []
    for log in logs:
        try:
            lines = lines_of(log) if corrupted is None else read_lines(log)
            result = validate_flink(lines, settings, (*REQUIRED, *required))
        except UnjudgedError as unjudged:
            click.echo(f"{log}: {Verdict.UNDETERMINED.value}  {unjudged}")
            verdicts.append(Verdict.UNDETERMINED)
            note = Finding(None, str(unjudged), file=log)
            parts.append(PartResult(log, Verdict.UNDETERMINED, "not judged", findings=(note,)))
            continue
        except (FlinkLogError, OSError, ValueError) as unreadable:
            raise click.ClickException(f"{log}: {unreadable}") from unreadable
        rejection = result.rejection
        why = [] if rejection is None else explanation.of_rejection(rejection.refused, rejection.waiting)
        click.echo(flink_log.story(log, result, why), nl=False)
        verdicts.append(result.verdict)
        parts.append(flink_log.part(log, result, why))
        judged.append(result)
        if corrupted is not None and result.rejection is None and not result.unreadable:
            assert isinstance(lines, list)
            outcomes = list(corrupt_all(lines, settings, corrupted))
            click.echo(flink_log.table(outcomes, corrupted, NEVER_OBSERVABLE), nl=False)
            verdicts.append(flink_log.verdict_of(outcomes))
            parts.append(flink_log.corruptions_part(log, outcomes))
    options = {
        "--max-concurrent": (settings.max_concurrent,),
        "--retain": (settings.retain,),
        "--max-lines": (settings.most_lines,),
        "--require": required,
        "--seed": () if corrupted is None else (corrupted,),
    }
    words = [str(word) for name, values in options.items() for value in values for word in (name, value)]
    again = escape.shell(
        ["barrierspec", "trace", "flink", *words, *["--corruptions"] * (corrupted is not None), *logs]
    )
    write_findings(files, "trace flink", parts, again)
    if html_file is not None:
        from conformance.page.of_flink import page_of
        from conformance.page.render import write

        write(page_of(parts, judged, required, again), html_file)
        click.echo(f"  page    {html_file}")
    return together(verdicts).exit_code
