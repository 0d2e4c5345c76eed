"""`barrierspec trace`: replay what real runs left behind through the model."""

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
"""Packages that are sent to Spark executors on other machines."""


class _RunsUnlessNamed(click.Group):
    """A command group whose default subcommand is `runs`: `trace FOLDER` is `trace runs FOLDER`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `runs` before arguments that name no subcommand."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["runs", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_RunsUnlessNamed, name="trace")
def command() -> None:
    """Replay recorded runs through the model: our own event logs (`runs`), or a Flink job's log (`flink`)."""


@command.command()
@click.argument(
    "logs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--spark", "master", metavar="MASTER", help="Validate on Spark, many logs at once: local[2].")
@click.option(
    "--parts",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Cut each log at completed checkpoints into at most so many parts, validated side by side.",
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
    """Validate event-log folders: is each a run of the protocol, and which situations do they show in total?

    A folder stands for all event logs below it. On Spark one process validates each log, as without Spark:
    the verdicts are the same. With --parts one large log is validated by several processes, or several tasks
    of Spark: the result is the same.

    With --follow the command validates the log of a running job while it is written. It ends with the first
    alarm, because the state after it is not known.
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
    from impl.spark.session import spark_session

    with (
        TemporaryDirectory() as folder,
        spark_session(master, Path(folder) / "spark.log", "trace", PACKAGES) as spark,
        tasks_shown(spark, f"validating {len(logs):,} logs"),
    ):
        if parts > 1:
            absolute = [log.absolute() for log in logs]
            return trace.judged(absolute, click.echo, parts, partial(parts_on_spark, spark=spark))
        return judged_on_spark(logs, spark, click.echo)


def _settings(**options: int) -> "Settings":
    from conformance.observe.flink import Settings

    return Settings(**options)


@command.command()
@click.argument(
    "logs",
    metavar="[LOG]...",
    nargs=-1,
    type=click.Path(dir_okay=False, allow_dash=True),
)
@follows
@bundled(
    "corrupted", lambda corruptions, seed: seed if corruptions else None,
    click.option("--corruptions", is_flag=True,
                 help="Corrupt each log in every known way; all must be rejected."),
    click.option("--seed", default=20261121, show_default=True, type=INTEGER,
                 help="Determines the places that are corrupted."),
)  # fmt: skip
@bundled(
    "settings", _settings,
    click.option("--max-concurrent", default=1, show_default=True, type=click.IntRange(1),
                 help="Checkpoints that may be pending at once in that job."),
    click.option("--retain", default=1, show_default=True, type=click.IntRange(1),
                 help="Completed checkpoints that the job retains."),
    click.option("--max-lines", "most_lines", default=2_000_000, show_default=True, type=click.IntRange(1),
                 help="The number of protocol lines that are kept, about 1 kB of memory each."),
)  # fmt: skip
@click.option("--require", "required", metavar="SITUATION", multiple=True,
              help="A situation that the log must witness, in addition to the usual ones.")  # fmt: skip
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
    """Validate logs of real Flink jobs, 1.13 or newer, at DEBUG: files, gzipped or not, or `-` for stdin.

    Exit codes: 0 every log is accepted (and every corruption rejected), 1 one is not, 2 a log does not
    witness enough, cannot be judged, or has lines of the protocol that cannot be read, 64 a log cannot be
    read at all.

    With --follow and --rest a running job is watched; INFO is enough then, and a LOG need not exist yet.
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
