"""`barrierspec conform`: compare an implementation with the model step by step, and print the verdict."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.adapters.protocol import ANSWER_LIMIT_SECONDS
from conformance.command_line.options import FOLDER, SECONDS, pinned
from conformance.commands import COMPONENTS, limit, page, reports, seed, write_findings
from conformance.verdict import together

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.adapters.protocol import Adapter
    from conformance.drive.conform import Replayed, Reported
    from conformance.drive.plan import Plan
    from conformance.report.formats.findings import Outputs

BATCH = 100
"""The maximum number of events in one request to a process."""
LONG_LIFE = 100_000
"""The number of checkpoints in the life of one instance, in a thorough run."""
EXTRA_STATES = 1
"""The number of hidden states for which the complete suites of a thorough run are made."""


@click.command()
@click.option("--adapter", metavar="CMD", help="The implementation: a command, or `module:attribute`.")
@click.option("--component", "components", multiple=True, help="Check only this component. May be repeated.")
@click.option("--rule", "rules", multiple=True, metavar="ID",
              help="Run only cases that exercise this rule. May be repeated.")  # fmt: skip
@click.option(
    "--examples",
    default=100,
    show_default=True,
    type=click.IntRange(1),
    help="The number of examples for each component.",
)
@click.option("--steps", default=0, metavar="N", type=click.IntRange(0),
              help="Add random steps until all components together have N steps.")  # fmt: skip
@click.option("--life", metavar="N", type=click.IntRange(0, 10**9),
              help="The number of checkpoints in the life of one instance. From 20,000 on, the "
                   "command measures memory and time.  "
              "[default: 20 for each example]")  # fmt: skip
@seed("every case")
@click.option("--seconds", type=SECONDS, help="The time budget in seconds. Without it there is no limit.")
@click.option(
    "--config",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="Run only configurations with this value. May be repeated.",
)
@limit
@click.option("--replay", "replay_file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="Replay a saved divergence: its .json file, or its .tla file in TLC.")  # fmt: skip
@click.option("--out", default=Path("build/divergences"), show_default=True,
              type=FOLDER, help="The folder in which the command saves divergences.")  # fmt: skip
@click.option("--known-divergences", "known_file", type=click.Path(dir_okay=False, path_type=Path),
              help="A file of expected divergences. If one of them does not occur, the run "
                   "fails.")  # fmt: skip
@click.option("--fail-fast", is_flag=True, help="Stop at the first component that diverges.")
@click.option("--fix", is_flag=True,
              help="Update the file of --known-divergences: add new divergences, remove those that "
                   "do not occur.")  # fmt: skip
@click.option(
    "--thorough",
    is_flag=True,
    help="Run complete suites for two extra states instead of one, and a life of 100,000 checkpoints.",
)
@click.option("--no-suites", is_flag=True, help="Run no complete suites.")
@reports
@page
def command(  # noqa: PLR0913 - a click command
    adapter: str | None,
    components: tuple[str, ...],
    rules: tuple[str, ...],
    examples: int,
    steps: int,
    life: int | None,
    seed: int,
    seconds: float | None,
    options: tuple[str, ...],
    limit: float,
    replay_file: Path | None,
    out: Path,
    known_file: Path | None,
    fail_fast: bool,
    fix: bool,
    thorough: bool,
    no_suites: bool,
    files: "Outputs",
    html_file: Path | None,
) -> int:
    """Send the same events to an implementation and to the model, and compare after every step."""
    from conformance.adapters.choose import open_adapter
    from conformance.adapters.process import ProcessAdapter
    from conformance.drive.conform import Order, again, conform
    from conformance.drive.known_divergences import Known, read, write
    from conformance.drive.plan import Plan
    from conformance.report.conform import THOROUGH
    from conformance.rules.selection import selected_rules

    unknown = sorted(set(components) - set(COMPONENTS))
    if unknown:
        known = ", ".join(COMPONENTS)
        raise click.UsageError(f"unknown component {', '.join(unknown)}; expected one of: {known}")
    selected = selected_rules(rules, components)
    if replay_file is not None:
        return again(replay_file, adapter, limit, click.echo, _shown(replay_file, html_file)).exit_code
    if adapter is None:
        raise click.UsageError("give --adapter 'CMD ...' (or `module:attribute`), or --replay FILE")
    if fix and known_file is None:
        raise click.UsageError(
            "--fix rewrites the file that --known-divergences names; give --known-divergences, too"
        )
    if known_file is not None and not fix and not known_file.exists():
        raise click.UsageError(
            f"expected a list of divergences at {known_file}, got no file; add --fix to write it"
        )
    listed = None if known_file is None else Known(read(known_file), grows=fix)
    opened = open_adapter(adapter, limit)
    ends = None if seconds is None else time.monotonic() + seconds
    plan = Plan(
        seed=seed,
        examples=examples,
        batch=BATCH if isinstance(opened, ProcessAdapter) else 1,
        pinned=pinned(options),
        may_go_on=lambda: ends is None or time.monotonic() < ends,
        selected=selected,
        steps=steps,
        extra_states=None if no_suites else THOROUGH if thorough else EXTRA_STATES,
        checkpoints=LONG_LIFE if thorough and life is None else life,
    )
    repeated = ["--limit", f"{limit:g}"] if limit != ANSWER_LIMIT_SECONDS else []
    repeated += [] if known_file is None else ["--known-divergences", str(known_file)]
    repeated += ["--fail-fast"] if fail_fast else []
    order = Order(adapter, components, plan, out, listed, fix, fail_fast, repeated)
    try:
        done = conform(opened, order, click.echo)
        if html_file is not None:
            _write_page(done, opened, adapter, plan, html_file)
    finally:
        opened.bye()
    if fix and listed is not None and known_file is not None:
        write(known_file, listed.kept())
        click.echo(f"  list    {known_file}, {len(listed.kept())} entries")
    write_findings(files, "conform", done.parts, done.again)
    return together(done.verdicts).exit_code


def _write_page(done: "Reported", opened: "Adapter", command: str, plan: "Plan", file: Path) -> None:
    from conformance.page.of_conform import page_of
    from conformance.page.render import write

    write(page_of(done, opened, command, plan), file)
    click.echo(f"  page    {file}")


def _shown(replay_file: Path, html_file: Path | None) -> "Callable[[Replayed, Adapter], None] | None":
    """A function that writes the page of a replay; None without `--html`."""
    if html_file is None:
        return None
    if replay_file.suffix == ".tla":
        raise click.UsageError(
            "--html shows the answers of an implementation, but TLC replays a .tla file; give the .json file"
        )

    def write_page(done: "Replayed", adapter: "Adapter") -> None:
        from conformance.page.of_conform import page_of_replay
        from conformance.page.render import write

        write(page_of_replay(done, adapter, replay_file), html_file)

    return write_page
