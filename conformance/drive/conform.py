"""`conform`: examines the components of an implementation one by one, and plays saved divergences."""

import os
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from conformance.adapters.choose import open_adapter
from conformance.adapters.flink.adapter import UNGUARDED, is_release
from conformance.adapters.hello_names import require_known_names
from conformance.adapters.protocol import Adapter, Hello, Wire
from conformance.capabilities import with_capabilities
from conformance.drive import replays, saved
from conformance.drive.bounds.check_replay import again as again_from
from conformance.drive.bounds.examination import Examination
from conformance.drive.bounds.failed_check import FailedCheck
from conformance.drive.crashes import Crashes
from conformance.drive.examine import examine, not_offered, seen_again
from conformance.drive.known_divergences import Known
from conformance.drive.lockstep import Played
from conformance.drive.plan import Plan, for_offer, with_options
from conformance.drive.shrinking.evidence import budget_of
from conformance.errors import InputError
from conformance.generators import generate
from conformance.parts.result import Finding, PartResult
from conformance.released.known_divergences import is_alignment_clock
from conformance.report import conform as texts
from conformance.report.divergence import description
from conformance.report.divergence.description import FoundDivergence
from conformance.rules.coverage import rules_that_fire
from conformance.rules.selection import components_of
from conformance.verdict import Verdict
from model.components import WireError
from spec.tool_output import TlcError

NO_RULE = "none"
"""The charged rule of a finding at which no rule fires."""
Emit = Callable[[str], None]


class Order(NamedTuple):
    """The options of a run of `conform`."""

    command: str
    """The value of `--adapter`."""
    components: Sequence[str]
    """Empty: all that the implementation offers and that the selected rules concern."""
    plan: Plan
    out: Path
    """The folder of saved divergences. Those of this command are played first."""
    known: Known | None = None
    """Known divergences, which do not end the examination of a component."""
    fix: bool = False
    """Whether new divergences are added to the known ones."""
    fail_fast: bool = False
    """Whether the run ends after the first component that diverges."""
    repeated: Sequence[str] = ()
    """Further arguments of the command line that repeats the run, such as `--known-divergences FILE`."""

    @property
    def again(self) -> str:
        """The command line that repeats this run."""
        return texts.command_line(self.command, self.components, self.plan, self.repeated)


class Reported(NamedTuple):
    """The outcome of a run."""

    verdicts: tuple[Verdict, ...]
    parts: tuple[PartResult, ...]
    """One for each component, then one for a list of known divergences in which some pass."""
    again: str
    examined: tuple[Examination, ...] = ()
    hello: Hello | None = None
    """None if the implementation did not answer."""

    @property
    def implementation(self) -> str:
        """The implementation's name and version."""
        return saved.name_of(self.hello) if self.hello is not None else "the implementation"


def conform(adapter: Adapter, order: Order, emit: Emit) -> Reported:
    """Examine the components, and pass the text about each to `emit` as soon as it is done.

    Raises ListError if the list of known divergences cannot be played, InputError for a released Flink, for
    a `hello` with unknown names, and for options that no examined component can have.
    """
    hello = adapter.hello()
    if not isinstance(hello, Hello):
        emit(texts.no_hello(hello, order.again))
        lost_answer = Finding(None, f"no answer to hello: {hello.describe()}")
        lost = PartResult("hello", Verdict.UNDETERMINED, "nothing was examined", findings=(lost_answer,))
        return Reported((Verdict.UNDETERMINED,), (lost,), order.again)
    if is_release(hello):
        raise InputError(f"{UNGUARDED}; `barrierspec flink conform {hello.version}` drives it")
    require_known_names(hello)
    implementation = saved.name_of(hello)
    offered = [name for name in generate.COMPONENTS if name in hello.components]
    chosen = list(order.components) or components_of(order.plan.selected, offered)
    chosen = with_options(order.plan, hello, chosen, are_named=bool(order.components))
    emit(texts.heading(implementation, order.plan))
    examined = []
    for done in _examined(adapter, hello, chosen, order):
        examined.append(done)
        emit(texts.component(done))
        if order.fail_fast and done.verdict is Verdict.DIVERGES:
            break
    parts = [_part(done, implementation, order, emit) for done in examined]
    verdicts = [done.verdict for done in examined]
    if order.known is not None:
        emit(texts.known(order.known, fix=order.fix))
        parts += _passing(order.known, fix=order.fix)
        verdicts = [part.verdict for part in parts]
    emit(texts.closing(verdicts, chosen, examined, order.plan, order.again))
    return Reported(tuple(verdicts), tuple(parts), order.again, tuple(examined), hello)


def _examined(adapter: Adapter, hello: Hello, chosen: Sequence[str], order: Order) -> Iterator[Examination]:
    plan = order.plan._replace(is_known=is_alignment_clock)
    if order.known is not None:
        order.known.replay(adapter, chosen)
        listed = order.known.holds
        plan = plan._replace(is_known=lambda found: listed(found) or is_alignment_clock(found))
        plan = plan._replace(is_known_check=order.known.holds_check)
    for component in chosen:
        offer = hello.components.get(component)
        if offer is None:
            yield not_offered(component)
            continue
        selected = plan.selected.intersection(rules_that_fire(component))
        share = for_offer(plan, component, offer)._replace(
            selected=selected,
            steps=-(-plan.steps // len(chosen)),
            crashes=None if order.known is None else Crashes(),
        )
        begun = time.monotonic()
        done = _seen_before(component, adapter, order, share) or examine(component, adapter, share)
        done = with_capabilities(done, adapter, offer, share)
        yield replace(done, seconds=time.monotonic() - begun)


def _part(done: Examination, implementation: str, order: Order, emit: Emit) -> PartResult:
    """The result of one component; a divergence is saved, and its description is passed to `emit`."""
    findings = [Finding(None, reason) for reason in done.undetermined]
    if done.divergence is not None:
        shrunk = budget_of(done.divergence)
        found = FoundDivergence(done.divergence, implementation, order.command, done.steps, shrunk)
        files = saved.save(found, order.plan.seed, order.out)
        text = description.describe(found, files)
        emit("\n" + text.removesuffix("\n"))
        diverges = done.verdict is Verdict.DIVERGES
        rule = (done.divergence.charge or NO_RULE) if diverges else None
        findings.append(
            Finding(
                rule,
                description.headline(done.divergence),
                text,
                str(files.replay),
                files.rows[-1],
                case=done.divergence.values(),
                divergence=done.divergence,
                rows=files.rows,
            )
        )
    findings += (Finding(NO_RULE, wrong) for wrong in done.broken)
    for evidence in done.evidence:
        file = saved.save_evidence(evidence, order.command, order.out)
        emit(texts.evidence(evidence, order.command, file))
    source = _source(order.command)
    findings = [replace(found, source=source) for found in findings]
    return PartResult(
        done.component,
        done.verdict,
        done.bound,
        rules=done.coverage.fired,
        findings=tuple(findings),
        again=order.again,
        seconds=done.seconds,
        tried=done.reach.values,
    )


def _source(command: str) -> str:
    """The first file below the working directory that a command names. CI shows annotations at this file."""
    files = (word for word in shlex.split(command) if os.path.isfile(word))
    below = (os.path.relpath(os.path.realpath(file)) for file in files)
    return next((file for file in below if not file.startswith(os.pardir)), "")


def _passing(known: Known, *, fix: bool) -> list[PartResult]:
    """Each entry of a list that passes is a finding, unless the list is rewritten."""
    if fix or not known.passing:
        return []
    findings = tuple(
        Finding(entry.rule or NO_RULE, f"is listed and passes: {texts.entry(entry)}")
        for entry in known.passing
    )
    bound = f"{len(known.entries)} listed"
    return [PartResult("known divergences", Verdict.DIVERGES, bound, findings=findings)]


def _seen_before(component: str, adapter: Adapter, order: Order, plan: Plan) -> Examination | None:
    """The result of the first saved divergence of this command that still occurs and is not known, else None.

    A case in a configuration that is not offered, or not chosen, is left out.
    """
    for found in saved.of_command(order.out, order.command, component):
        if not generate.fits(found.config, plan.pinned):
            continue
        try:
            played = saved.play(found, adapter)
        except (WireError, KeyError):
            continue  # saved by another version of the protocol
        if plan.selected and not plan.selected.intersection(played.fired):
            continue
        seen = played.divergence or played.hung or played.unrepeatable
        if seen is not None and (seen.verdict is Verdict.UNDETERMINED or not plan.is_known(seen)):
            return seen_again(seen, played, plan)
    return None


# ---------------------------------------------------------------- saved divergences


class Replayed(NamedTuple):
    """The outcome of a saved divergence that was played again."""

    component: str
    config: Wire
    events: tuple[Wire, ...]
    played: Played
    implementation: str
    command: str
    """The value of `--adapter`."""


def again(
    replay_file: Path,
    command: str | None,
    limit: float,
    emit: Emit,
    show: Callable[[Replayed, Adapter], None] | None = None,
) -> Verdict:
    """Play a saved divergence, by default against the implementation in which it was found.

    `show` gets the outcome while the implementation still runs; it is not called for a replay by TLC.
    """
    if replay_file.suffix == replays.TLA:
        return _by_tlc(replay_file, emit)
    known = saved.load(replay_file)
    command = command or known.adapter
    if not command:
        raise InputError(f"{replay_file} names no implementation; give --adapter")
    adapter = open_adapter(command, limit)
    try:
        hello = adapter.hello()
        if known.evidence is not None:
            return _check_again(known.evidence, adapter, emit)
        played = saved.play(known, adapter)
        done = Replayed(known.component, known.config, known.events, played, saved.name_of(hello), command)
        if show is not None and played.stopped is None:
            show(done, adapter)
    except (WireError, KeyError) as error:
        raise InputError(f"{replay_file}: {error}; give a file as `conform` wrote it") from error
    finally:
        adapter.bye()
    seen = played.divergence or played.hung or played.unrepeatable
    if seen is not None:
        found = FoundDivergence(seen, done.implementation, command, played.steps, "")
        emit(description.describe(found).removesuffix("\n"))
        from conformance.refusals import explanation  # it needs z3, and most runs do not

        emit("\n".join(explanation.of_divergence(seen)))
        return seen.verdict
    if played.stopped is not None:
        emit(f"UNDETERMINED  {played.stopped.describe()}")
        return Verdict.UNDETERMINED
    emit(f"CONFORMS   in these {played.steps} steps of {known.component}; nothing else was tried")
    return Verdict.CONFORMS


def _check_again(evidence: FailedCheck, adapter: Adapter, emit: Emit) -> Verdict:
    found = again_from(evidence, adapter)
    if found is None:
        emit(
            f"CONFORMS   this check of {evidence.component}, {evidence.check}, passes; nothing else was tried"
        )
        return Verdict.CONFORMS
    emit(f"{found.verdict.value}  {found.what}")
    return found.verdict


def _by_tlc(file: Path, emit: Emit) -> Verdict:
    try:
        verdict, text = replays.by_tlc(file)
    except OSError as missing:
        raise InputError(f"{missing.filename}: {missing.strerror}; give a module with its .cfg") from missing
    except TlcError as failed:
        emit(f"UNDETERMINED  {failed}")
        return Verdict.UNDETERMINED
    emit(text.rstrip())
    return verdict
