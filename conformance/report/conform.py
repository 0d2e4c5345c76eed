"""What `barrierspec conform` prints: one line a component, the stories, the verdict with its bound."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from conformance import escape
from conformance.adapters.choose import OURS, open_adapter
from conformance.adapters.flink.adapter import UNGUARDED, is_release
from conformance.adapters.hello_words import unknown_words
from conformance.adapters.in_process import InProcess
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Adapter, Crashed, Hello, Hung, Malformed, Wire
from conformance.drive.examine import Examination, Plan, examine, not_offered, seen_again
from conformance.drive.listed import Known
from conformance.drive.lockstep import Played, replay
from conformance.drive.oracle import Oracle
from conformance.drive.plan import for_offer
from conformance.generators import generate
from conformance.parts.result import Finding, PartResult
from conformance.released.known_divergences import is_alignment_clock
from conformance.report.divergence import refusal, replays, saved, story
from conformance.report.divergence.saved import ReplayError, name_of
from conformance.report.divergence.story import Telling
from conformance.report.formats.columns import command as command_lines
from conformance.report.formats.columns import wrapped
from conformance.rules.coverage import rules_that_fire
from conformance.rules.selection import components_of
from conformance.verdict import Verdict, together
from model.components import WireError
from spec.tool_output import TlcError


def opened(command: str, limit: float) -> InProcess | ProcessAdapter:
    """The adapter of a command line; raises UsageError if the line cannot be split or is empty."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise click.UsageError(f"--adapter: {error} in {command!r}") from error
    if not words:
        raise click.UsageError(f"--adapter: expected a command, or one of {', '.join(OURS)}")
    return open_adapter(command, limit)


def refuse_unknown_words(hello: Hello) -> None:
    """Raise UsageError if a `hello` has a word that the protocol does not have: nobody would examine it."""
    unknown = unknown_words(hello)
    if unknown:
        raise click.UsageError(f"hello has words that the protocol does not have: {'; '.join(unknown)}")


NO_RULE = "none"
"""Charged where something happened although no rule fires."""


class Reported(NamedTuple):
    """What came of a run."""

    verdicts: tuple[Verdict, ...]
    parts: tuple[PartResult, ...]
    """The same for machines, a part a component."""
    again: str
    """The command line that examines the same again."""
    examined: tuple[Examination, ...] = ()
    """What came of each component; the first parts are theirs."""
    hello: Hello | None = None
    """What the implementation said of itself, if it answered."""

    @property
    def implementation(self) -> str:
        """Its name and version."""
        return name_of(self.hello) if self.hello is not None else "the implementation"


def report(
    adapter: Adapter,
    command: str,
    components: Sequence[str],
    plan: Plan,
    out: Path,
    known: Known | None = None,
    *,
    fix: bool = False,
    fail_fast: bool = False,
) -> Reported:
    """Examine the components, print what came of it, and give their verdicts.

    What was saved in `out` for this command is played first. `known` divergences are passed over; with
    `fix` new ones become known. `fail_fast`: a component that diverges is the last one. Raises ListError
    for a list that cannot be played, UsageError for a released Flink.
    """
    hello = adapter.hello()
    if not isinstance(hello, Hello):
        click.echo(f"UNDETERMINED  no answer to hello: {hello.describe()}")
        if isinstance(hello, Crashed | Hung | Malformed) and hello.stderr.strip():
            click.echo(hello.stderr.rstrip())
        again = _command_line(command, components, plan)
        click.echo(command_lines("  again   ", again))
        lost = PartResult(
            "hello",
            Verdict.UNDETERMINED,
            "nothing was asked",
            findings=(Finding(None, f"no answer to hello: {hello.describe()}"),),
        )
        return Reported((Verdict.UNDETERMINED,), (lost,), again)
    if is_release(hello):
        raise click.UsageError(f"{UNGUARDED}; `barrierspec flink conform {hello.version}` drives it")
    refuse_unknown_words(hello)
    offered = [name for name in generate.COMPONENTS if name in hello.components]
    chosen = list(components) or components_of(plan.asked, offered)
    pins = "".join(f", {key}={value}" for key, value in plan.pinned.items())
    pins += f", only {', '.join(sorted(plan.asked))}" if plan.asked else ""
    click.echo(f"barrierspec conform   {name_of(hello)}, seed {plan.seed}{pins}\n")
    plan = plan._replace(is_known=is_alignment_clock)
    if known is not None:
        known.replay(adapter, chosen)
        listed = known.holds
        plan = plan._replace(is_known=lambda found: listed(found) or is_alignment_clock(found))
    examined = []
    for component in chosen:
        offer = hello.components.get(component)
        if offer is None:
            done = not_offered(component)
        else:
            asked = for_offer(plan, component, offer)._replace(
                asked=plan.asked.intersection(rules_that_fire(component)),
                steps=-(-plan.steps // len(chosen)),
            )
            seen = _seen_before(component, adapter, command, out, asked)
            done = seen or examine(component, adapter, asked)
        examined.append(done)
        click.echo(_line(done))
        for line in (*_reach(done), *done.doubts, *done.broken):
            click.echo(wrapped(f"               {line}", indent=15))
        _echo_stderr(done)
        if fail_fast and done.verdict is Verdict.DIVERGES:
            break
    parts = [_part(done, name_of(hello), command, plan.seed, out) for done in examined]
    verdicts = [done.verdict for done in examined]
    if known is not None:
        parts += _told(known, fix=fix)
        verdicts = [part.verdict for part in parts]
    left = [name for name in generate.COMPONENTS if name not in [done.component for done in examined]]
    click.echo(_closing(verdicts, chosen, left))
    if fail_fast and len(examined) < len(chosen):
        click.echo(f"  not examined, because of --fail-fast: {', '.join(chosen[len(examined) :])}")
    total = sum(done.steps for done in examined)
    if plan.steps:
        click.echo(f"  steps   {total:,} in all, {plan.steps:,} asked for")
    again = _command_line(command, components, plan)
    if together(verdicts) is not Verdict.DIVERGES:  # its story ends with the command already
        click.echo(command_lines("  again   ", again))
    return Reported(tuple(verdicts), tuple(parts), again, tuple(examined), hello)


def _part(done: Examination, implementation: str, command: str, seed: int, out: Path) -> PartResult:
    """One component for machines; a divergence is saved and told."""
    findings = [Finding(None, doubt) for doubt in done.doubts]
    if done.divergence is not None:
        telling = Telling(done.divergence, implementation, command, done.steps)
        files = saved.save(telling, seed, out)
        told = story.tell(telling, files)
        click.echo("\n" + told, nl=False)
        rule = done.divergence.charge or NO_RULE
        findings.append(Finding(rule, story.headline(done.divergence), told, str(files[0])))
    findings += (Finding(NO_RULE, wrong) for wrong in done.broken)
    return PartResult(
        done.component,
        done.verdict,
        done.bound,
        rules=done.coverage.fired,
        findings=tuple(findings),
        tried={**done.tried.values(), "not_asked": list(done.not_asked)},
    )


def _told(known: Known, *, fix: bool) -> list[PartResult]:
    """Say what became of a list; each entry that passes is a finding, unless the list is rewritten."""
    new = f", {known.added} of them new" if known.added else ""
    click.echo(f"\n  known   {len(known.entries)} listed{new}, met {known.met} times")
    if fix or not known.passing:
        return []
    findings = []
    for entry in known.passing:
        passes = f"{entry.component}, {entry.rule}: {list(entry.events)}"
        click.echo(wrapped(f"  passes  {passes}", indent=10))
        findings.append(Finding(entry.rule or NO_RULE, f"is listed and passes: {passes}"))
    click.echo("  What is listed and passes has to leave the list: give --fix")
    bound = f"{len(known.entries)} listed"
    return [PartResult("known divergences", Verdict.DIVERGES, bound, findings=tuple(findings))]


def _seen_before(component: str, adapter: Adapter, command: str, out: Path, plan: Plan) -> Examination | None:
    """A divergence that an earlier run has saved for this command, if it is still there and not known."""
    for found in saved.of_command(out, command, component):
        try:
            played = replay(Oracle(component, found.config), adapter, found.events)
        except (WireError, KeyError):
            continue  # saved by another version of the protocol
        if plan.asked and not plan.asked.intersection(played.fired):
            continue
        if played.divergence is not None and not plan.is_known(played.divergence):
            return seen_again(component, played, plan)
    return None


def _command_line(command: str, components: Sequence[str], plan: Plan) -> str:
    """The command that examines the same again; without its time limit, which no seed decides."""
    words = ["barrierspec", "conform", "--adapter", command]
    words += [word for component in components for word in ("--component", component)]
    words += [word for rule in sorted(plan.asked) for word in ("--rule", rule)]
    words += [word for key, value in plan.pinned.items() for word in ("--config", f"{key}={value}")]
    words += ["--seed", str(plan.seed), "--examples", str(plan.examples)]
    return shlex.join([*words, *(("--steps", str(plan.steps)) if plan.steps else ())])


class Replayed(NamedTuple):
    """What came of a saved divergence that was played again."""

    component: str
    config: Wire
    events: tuple[Wire, ...]
    played: Played
    implementation: str
    command: str
    """What stands after `--adapter`."""


def again(
    replay_file: Path,
    command: str | None,
    limit: float,
    show: Callable[[Replayed, Adapter], None] | None = None,
) -> Verdict:
    """Play a saved divergence, by default against the implementation it was found in.

    `show` gets what came of it while the implementation still runs; TLC's replays have nothing for it.
    """
    if replay_file.suffix == replays.TLA:
        return _by_tlc(replay_file)
    try:
        known = saved.load(replay_file)
    except ReplayError as error:
        raise click.UsageError(str(error)) from error
    command = command or known.adapter
    if not command:
        raise click.UsageError(f"{replay_file} names no implementation; give --adapter")
    adapter = opened(command, limit)
    try:
        oracle = Oracle(known.component, known.config)
        hello = adapter.hello()
        played = replay(oracle, adapter, known.events)
        if show is not None and played.stopped is None:
            done = Replayed(known.component, known.config, known.events, played, name_of(hello), command)
            show(done, adapter)
    except (WireError, KeyError) as error:
        raise click.UsageError(f"{replay_file}: {error}; give a file as `conform` wrote it") from error
    finally:
        adapter.bye()
    if played.divergence is not None:
        click.echo(story.tell(Telling(played.divergence, name_of(hello), command, played.steps)), nl=False)
        click.echo("\n".join(refusal.of_divergence(played.divergence)))
        return Verdict.DIVERGES
    if played.stopped is not None:
        click.echo(f"UNDETERMINED  {played.stopped.describe()}")
        return Verdict.UNDETERMINED
    click.echo(f"CONFORMS   in these {played.steps} steps of {known.component}; nothing else was tried")
    return Verdict.CONFORMS


def _by_tlc(file: Path) -> Verdict:
    try:
        verdict, said = replays.by_tlc(file)
    except OSError as missing:
        raise click.UsageError(
            f"{missing.filename}: {missing.strerror}; give a module with its .cfg"
        ) from missing
    except TlcError as failed:
        click.echo(f"UNDETERMINED  {failed}")
        return Verdict.UNDETERMINED
    click.echo(said.rstrip())
    return verdict


def _line(done: Examination) -> str:
    unseen = f", not seen: {' '.join(done.unseen)}" if done.unseen else ""
    return wrapped(
        f"  {done.component:<12} {done.verdict.value:<12}  {done.steps:,} steps in {done.cases:,} cases, "
        f"{done.coverage.describe()}{unseen}",
        indent=29,
    )


def _reach(done: Examination) -> list[str]:
    """How far it reaches that nothing differs; a divergence needs no bound."""
    if done.verdict is Verdict.DIVERGES or not done.cases:
        return []
    left = [f"not asked: {'; '.join(done.not_asked)}"] if done.not_asked else []
    return [f"tried: {done.tried.describe()}", *left]


def _echo_stderr(done: Examination) -> None:
    if isinstance(done.stopped, Crashed | Hung | Malformed) and done.stopped.stderr.strip():
        tail = done.stopped.stderr.rstrip().splitlines()[-8:]
        click.echo("".join(f"               | {escape.line(line)}\n" for line in tail), nl=False)


def _closing(verdicts: Sequence[Verdict], chosen: Sequence[str], others: Sequence[str]) -> str:
    verdict = together(verdicts)
    if verdict is Verdict.CONFORMS:
        left = f"; not checked: {', '.join(others)}" if others else ""
        return "\n" + wrapped(f"CONFORMS   within the steps above: {', '.join(chosen)}{left}", indent=11)
    if verdict is Verdict.DIVERGES:
        return "\nDIVERGES"
    return "\nUNDETERMINED   " + ("see above" if chosen else "the implementation offers no known component")
