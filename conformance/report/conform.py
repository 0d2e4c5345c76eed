"""What `barrierspec conform` prints: one line a component, the stories, the verdict with its bound."""

import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path

import click

from conformance.adapters.choose import OURS, open_adapter
from conformance.adapters.in_process import InProcess
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Adapter, Crashed, Hello, Hung, Malformed
from conformance.drive import generate
from conformance.drive.examine import Examination, Plan, examine, not_offered
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.report import saved, story
from conformance.report.saved import ReplayError, name_of
from conformance.report.story import Telling
from conformance.verdict import Verdict, together
from model.components import WireError

WIDTH = 100
"""Columns of a line about one component."""


def opened(command: str, limit: float) -> InProcess | ProcessAdapter:
    """The adapter of a command line; raises UsageError if the line cannot be split or is empty."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise click.UsageError(f"--adapter: {error} in {command!r}") from error
    if not words:
        raise click.UsageError(f"--adapter: expected a command, or one of {', '.join(OURS)}")
    return open_adapter(command, limit)


def report(adapter: Adapter, command: str, components: Sequence[str], plan: Plan, out: Path) -> list[Verdict]:
    """Examine the components, print what came of it, and give their verdicts."""
    hello = adapter.hello()
    if not isinstance(hello, Hello):
        click.echo(f"UNDETERMINED  no answer to hello: {hello.describe()}")
        if isinstance(hello, Crashed | Hung | Malformed) and hello.stderr.strip():
            click.echo(hello.stderr.rstrip())
        click.echo(f"  again   {_command_line(command, components, plan)}")
        return [Verdict.UNDETERMINED]
    chosen = list(components) or [name for name in generate.COMPONENTS if name in hello.components]
    pins = "".join(f", {key}={value}" for key, value in plan.pinned.items())
    click.echo(f"barrierspec conform   {name_of(hello)}, seed {plan.seed}{pins}\n")
    examined = []
    for component in chosen:
        offer = hello.components.get(component)
        if offer is None:
            done = not_offered(component)
        else:
            done = examine(
                component, adapter, plan._replace(pinned={**generate.offered(offer), **plan.pinned})
            )
        examined.append(done)
        click.echo(_line(done))
        for doubt in done.doubts:
            click.echo(wrapped(f"               {doubt}", indent=15))
        if isinstance(done.stopped, Crashed | Hung | Malformed) and done.stopped.stderr.strip():
            click.echo("".join(f"               | {line}\n" for line in _tail(done.stopped.stderr)), nl=False)
    for done in examined:
        if done.divergence is not None:
            telling = Telling(done.divergence, name_of(hello), command, done.steps)
            click.echo("\n" + story.tell(telling, saved.save(telling, plan.seed, out)), nl=False)
    verdicts = [done.verdict for done in examined]
    click.echo(_closing(verdicts, chosen, [name for name in generate.COMPONENTS if name not in chosen]))
    if together(verdicts) is not Verdict.DIVERGES:  # its story ends with the command already
        click.echo(f"  again   {_command_line(command, components, plan)}")
    return verdicts


def _command_line(command: str, components: Sequence[str], plan: Plan) -> str:
    """The command that examines the same again; without its time limit, which no seed decides."""
    words = ["barrierspec", "conform", "--adapter", command]
    words += [word for component in components for word in ("--component", component)]
    words += [word for key, value in plan.pinned.items() for word in ("--config", f"{key}={value}")]
    return shlex.join([*words, "--seed", str(plan.seed), "--examples", str(plan.examples)])


def again(replay_file: Path, command: str | None, limit: float) -> Verdict:
    """Play a saved divergence, by default against the implementation it was found in."""
    try:
        known = saved.load(replay_file)
    except ReplayError as error:
        raise click.UsageError(str(error)) from error
    command = command or known.adapter
    adapter = opened(command, limit)
    try:
        oracle = Oracle(known.component, known.config)
        hello = adapter.hello()
        played = replay(oracle, adapter, known.events)
    except (WireError, KeyError) as error:
        raise click.UsageError(f"{replay_file}: {error}; give a file as `conform` wrote it") from error
    finally:
        adapter.bye()
    if played.divergence is not None:
        click.echo(story.tell(Telling(played.divergence, name_of(hello), command, played.steps)), nl=False)
        return Verdict.DIVERGES
    if played.stopped is not None:
        click.echo(f"UNDETERMINED  {played.stopped.describe()}")
        return Verdict.UNDETERMINED
    click.echo(f"CONFORMS   in these {played.steps} steps of {known.component}; nothing else was tried")
    return Verdict.CONFORMS


def _line(done: Examination) -> str:
    unseen = f", not seen: {' '.join(done.unseen)}" if done.unseen else ""
    return wrapped(
        f"  {done.component:<12} {done.verdict.value:<12}  {done.steps:,} steps in {done.cases:,} cases, "
        f"{done.coverage.describe()}{unseen}",
        indent=29,
    )


def wrapped(line: str, indent: int) -> str:
    """Long lists of rules go on below where they began."""
    return textwrap.fill(line, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)


def _tail(stderr: str) -> list[str]:
    return stderr.rstrip().splitlines()[-8:]


def _closing(verdicts: Sequence[Verdict], chosen: Sequence[str], others: Sequence[str]) -> str:
    verdict = together(verdicts)
    if verdict is Verdict.CONFORMS:
        left = f"; not checked: {', '.join(others)}" if others else ""
        return f"\nCONFORMS   within the steps above: {', '.join(chosen)}{left}"
    if verdict is Verdict.DIVERGES:
        return "\nDIVERGES"
    return "\nUNDETERMINED   " + ("see above" if chosen else "the implementation offers no known component")
