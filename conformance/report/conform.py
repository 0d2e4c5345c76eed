"""The text of `barrierspec conform`: one line for each component, the known divergences, the verdict."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from conformance import escape
from conformance.adapters.protocol import Crashed, Failure, Hung, Malformed
from conformance.report.formats.columns import command as command_lines
from conformance.report.formats.columns import head_and_tail, wrapped
from conformance.verdict import Verdict, together
from spec.vocabulary import vocabulary

if TYPE_CHECKING:
    from conformance.drive.bounds.examination import Examination
    from conformance.drive.bounds.failed_check import FailedCheck
    from conformance.drive.known_divergences import Known, Listed
    from conformance.drive.plan import Plan

THOROUGH = 2
"""The extra states of complete suites with --thorough."""
COMPONENTS = tuple(vocabulary())
"""All components that the suite can drive, in the order of reports."""


def command_line(command: str, components: Sequence[str], plan: "Plan", repeated: Sequence[str]) -> str:
    """The command that repeats the examination, with the arguments `repeated` at its end.

    It has no `--seconds`, as a time limit is not reproducible, and none of the options that write files.
    """
    words = ["barrierspec", "conform", "--adapter", command]
    words += [word for component in components for word in ("--component", component)]
    words += [word for rule in sorted(plan.selected) for word in ("--rule", rule)]
    words += [word for key, value in plan.pinned.items() for word in ("--config", f"{key}={value}")]
    words += ["--seed", str(plan.seed), "--examples", str(plan.examples)]
    words += ["--thorough"] if plan.extra_states == THOROUGH else []
    words += ["--no-suites"] if plan.extra_states is None else []
    words += ["--steps", str(plan.steps)] if plan.steps else []
    words += ["--life", str(plan.checkpoints)] if plan.checkpoints is not None else []
    return shlex.join([*words, *repeated])


def no_hello(answer: Failure, again: str) -> str:
    """The text about an implementation that does not answer `hello`."""
    lines = [f"UNDETERMINED  no answer to hello: {answer.describe()}"]
    if isinstance(answer, Crashed | Hung | Malformed) and answer.stderr.strip():
        lines += head_and_tail(answer.stderr)
    return "\n".join([*lines, command_lines("  again   ", again)])


def heading(implementation: str, plan: "Plan") -> str:
    """The heading: implementation, seed, fixed options and selected rules."""
    pins = "".join(f", {key}={value}" for key, value in plan.pinned.items())
    pins += f", only {', '.join(sorted(plan.selected))}" if plan.selected else ""
    return f"barrierspec conform   {implementation}, seed {plan.seed}{pins}\n"


def component(done: "Examination") -> str:
    """Verdict and coverage of one component, reasons for UNDETERMINED, failed checks.

    `closing` prints the bound of the verdict.
    """
    unseen = f", not seen: {' '.join(done.unseen)}" if done.unseen else ""
    steps = f"{done.steps:,} steps in {done.cases:,} cases, {done.coverage.describe()}{unseen}"
    lines = [wrapped(f"  {done.component:<12} {done.verdict.value:<12}  {steps}", indent=29)]
    margin = " " * 15
    broken = [line for wrong in done.broken for line in wrong.splitlines()]
    lines += (wrapped(f"{margin}{line}", indent=15) for line in (*done.undetermined, *broken))
    stopped = done.stopped if done.divergence is None else None  # the description of a divergence contains it
    if isinstance(stopped, Crashed | Hung | Malformed) and stopped.stderr.strip():
        lines += (f"{margin}| {escape.line(line)}" for line in head_and_tail(stopped.stderr))
    return "\n".join(lines)


def _bounds(examined: Sequence["Examination"]) -> Iterator[str]:
    """For each component without a divergence, the bound within which nothing differs."""
    for done in examined:
        name = done.component
        for line in done.reach.lines if done.verdict is not Verdict.DIVERGES else ():
            yield wrapped(f"  {name:<12} {line}", indent=15)
            name = ""


def known(listed: "Known", *, fix: bool) -> str:
    """The lines about known divergences: the numbers of listed, new and observed ones, and the ones gone."""
    new = f", {listed.added} of them new" if listed.added else ""
    lines = [f"\n  known   {len(listed.entries)} listed{new}, met {listed.met} times"]
    if listed.passing and not fix:
        lines += (wrapped(f"  passes  {entry(one)}", indent=10) for one in listed.passing)
        lines.append("  These entries no longer diverge; remove them with --fix")
    return "\n".join(lines)


def evidence(found: "FailedCheck", command: str, file: Path) -> str:
    """The command that plays a failed check again; `file`: where the check is saved."""
    words = ["barrierspec", "conform", "--adapter", command, "--replay", str(file)]
    return command_lines("  again   ", shlex.join(words))


def entry(listed: "Listed") -> str:
    """One entry of the list of known divergences."""
    if listed.check:
        return f"{listed.component}, check {listed.check}"
    return f"{listed.component}, {listed.rule}: {list(listed.events)}"


def closing(
    verdicts: Sequence[Verdict],
    chosen: Sequence[str],
    examined: Sequence["Examination"],
    plan: "Plan",
    again: str,
) -> str:
    """The verdict of all components, and the command that examines them again."""
    verdict = together(verdicts)
    done = [one.component for one in examined]
    lines = ["", _verdict(verdict, chosen, [name for name in COMPONENTS if name not in done])]
    lines += _bounds(examined)
    if len(examined) < len(chosen):
        lines.append(f"  not examined, because of --fail-fast: {', '.join(chosen[len(examined) :])}")
    if plan.steps:
        total = sum(one.steps for one in examined)
        lines.append(f"  steps   {total:,} in all, {plan.steps:,} requested")
    if all(one.divergence is None for one in examined):  # a description of a divergence contains it
        lines.append(command_lines("  again   ", again))
    return "\n".join(lines)


def _verdict(verdict: Verdict, chosen: Sequence[str], others: Sequence[str]) -> str:
    if verdict is Verdict.CONFORMS:
        left = f"; not checked: {', '.join(others)}" if others else ""
        return wrapped(f"CONFORMS   within this bound: {', '.join(chosen)}{left}", indent=11)
    if verdict is Verdict.DIVERGES:
        return "DIVERGES"
    return "UNDETERMINED   " + ("see above" if chosen else "the implementation offers no known component")
