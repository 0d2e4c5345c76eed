"""Examines one component of an implementation, with cases of every source.

The sources are rule cases, random walks, short runs, Hypothesis, gates of many channels, complete suites,
long lives, and batches that end with an error. The verdict is DIVERGES if an answer differs or a check fails.
It is CONFORMS if every rule that can fire has fired, every case was played to its end, no configuration was
skipped, and neither memory nor time grows over a long life. Otherwise `undetermined` lists the reasons,
and the verdict is UNDETERMINED.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from conformance.adapters.protocol import (
    CLEANING,
    FIRST_ID,
    IO_FAILURES,
    RESTORED,
    RESTORED_SAVEPOINT,
    Adapter,
)
from conformance.cases.guided import WALKS, Reached
from conformance.cases.rule_cases import chosen_cases
from conformance.cases.seedless_runs import short_runs_in
from conformance.cases.walks import WalkOptions, walks
from conformance.divergence import Divergence
from conformance.drive.bounds.errors_and_failures import broken, one_of_each
from conformance.drive.bounds.examination import Examination
from conformance.drive.bounds.failed_check import FailedCheck
from conformance.drive.bounds.ids import COUNTED
from conformance.drive.bounds.lives import play_lives
from conformance.drive.bounds.mapped_cases import play_mapped_rules, run_machines
from conformance.drive.bounds.tested_scope import beyond, not_tested
from conformance.drive.bounds.values import ValueMap
from conformance.drive.bounds.wide_gates import play_wide_gates
from conformance.drive.lockstep import Case, Played, given
from conformance.drive.loop import Limits, drive
from conformance.drive.oracle import Oracles
from conformance.drive.plan import WALKS_PER_EXAMPLE, Plan
from conformance.drive.shrinking.evidence import evidence
from conformance.generators import generate
from conformance.rules.coverage import Coverage, coverage, impossible, needs_injections
from conformance.suites.play import Guarantee, play_suites
from conformance.verdict import Verdict


def examine(component: str, adapter: Adapter, plan: Plan) -> Examination:
    """Examine the component until it diverges or all cases of the plan were played."""
    if not generate.fitting(component, plan.pinned):
        return _without_configuration(component, plan)
    played = drive(_rule_cases(component, plan), adapter, plan.limits)
    maps = play_mapped_rules(component, adapter, plan, played) if _is_whole(played) else ()
    if played.is_sound:
        reached = Reached(WALKS)
        drive(_walks(component, plan, maps, reached), adapter, _walk_limits(plan), played)
        played.tried.reached = {} if plan.selected else reached.values()
    if _is_whole(played) and not plan.selected:
        drive(short_runs(component, plan), adapter, plan.limits, played)
    if _is_whole(played):
        run_machines(component, adapter, plan, maps, played)
    if _is_whole(played) and component == "gate" and "channels" not in plan.pinned:
        play_wide_gates(adapter, plan, played)
    wrong: tuple[FailedCheck, ...] = ()
    guarantees: list[Guarantee] = []
    if _is_whole(played) and plan.extra_states is not None and not plan.selected:
        guarantees = play_suites(component, adapter, plan, played)
    if _is_whole(played):
        wrong = () if plan.selected else play_lives(component, adapter, plan, played)
    if _is_whole(played) and not wrong:
        wrong = () if plan.selected else broken(component, adapter, plan)
        played.ended_early |= not plan.may_go_on()
    shown = evidence(played, adapter, plan.pinned)
    if shown is not None:
        return _examined(component, shown.verdict, plan, played, shown)
    if wrong:
        return _examined(component, Verdict.DIVERGES, plan, played, wrong=wrong)
    covered, _ = _covered(component, played, plan)
    undetermined = _undetermined(played, covered) + _unreachable_rules(plan)
    verdict = Verdict.UNDETERMINED if undetermined else Verdict.CONFORMS
    done = _examined(component, verdict, plan, played, undetermined=undetermined)
    return replace(done, guarantees=tuple(guarantees))


def _rule_cases(component: str, plan: Plan) -> Iterator[Case]:
    """Yield the case of each rule. After a case that fails the task, its first event must be refused."""
    chosen = chosen_cases(component, Oracles(component), plan.pinned, plan.selected, injects=plan.injects)
    for _, oracle, events in chosen:
        fails = oracle.transcript(events)[-1].fails
        yield given(oracle, events + events[:fails], "rule")._replace(plays_on=fails)


def short_runs(component: str, plan: Plan) -> Iterator[Case]:
    """Yield the short runs in each configuration that has the tasks they name.

    For a gate: in one configuration for each mode, profile and level.
    """
    configs = (
        one_of_each(component, plan) if component == "gate" else generate.fitting(component, plan.pinned)
    )
    return short_runs_in(component, configs)


def _walks(component: str, plan: Plan, maps: Sequence[ValueMap], reached: Reached) -> Iterator[Case | None]:
    chosen = WalkOptions(plan.pinned, plan.selected, plan.injects)
    return walks(component, plan.seed, chosen, maps=maps, reached=reached)


def _walk_limits(plan: Plan) -> Limits:
    """The limits of the walks."""
    return plan.limits._replace(cases=plan.examples * WALKS_PER_EXAMPLE, steps=plan.steps)


def _is_whole(played: Played) -> bool:
    """Whether no divergence was found, nothing was skipped, and the time budget is not used up."""
    return played.is_sound and not played.skipped and not played.ended_early


def _covered(component: str, played: Played, plan: Plan) -> tuple[Coverage, tuple[str, ...]]:
    """The coverage, and the rules that no case of the suite fires in the chosen configurations."""
    covered = coverage(component, played.fired, plan.pinned, plan.selected, injects=plan.injects)
    if not plan.chosen or covered.is_full:
        return covered, ()
    cases = chosen_cases(component, Oracles(component), plan.pinned, plan.selected, injects=plan.injects)
    reached = {rule for rule, _, _ in cases}
    never = tuple(rule for rule in covered.missing if rule not in reached)
    missing = tuple(rule for rule in covered.missing if rule in reached)
    return covered._replace(missing=missing), never


def not_offered(component: str) -> Examination:
    """The result for a selected component that the implementation does not offer."""
    reason = f"the implementation does not offer the component {component}"
    return Examination(component, Verdict.UNDETERMINED, coverage(component, ()), undetermined=(reason,))


def _without_configuration(component: str, plan: Plan) -> Examination:
    """The result if no configuration has both the offered and the chosen values."""
    advice = "give another value, or other components with --component" if plan.chosen else "change hello"
    reason = f"no configuration has {_shown(plan)}: {generate.why_not(component, plan.pinned)}; {advice}"
    return _examined(component, Verdict.UNDETERMINED, plan, Played(), undetermined=(reason,))


def _shown(plan: Plan) -> str:
    pinned = plan.chosen or plan.pinned
    return ", ".join(
        f"{key}={' or '.join(map(str, value)) if isinstance(value, tuple) else value}"
        for key, value in pinned.items()
        if value != generate.LEFT_OUT
    )


def seen_again(found: Divergence, played: Played, plan: Plan) -> Examination:
    """The result if a divergence that an earlier run saved still occurs."""
    return _examined(found.component, found.verdict, plan, played, found)


def _undetermined(played: Played, covered: Coverage) -> tuple[str, ...]:
    reasons = list(played.tried.grows)
    reasons += [
        f"skipped, not supported: {why}; offer less in hello, or leave it out with --config"
        for why in played.skipped
    ]
    if played.stopped is not None:
        reasons.append(played.stopped.describe())
    if played.ended_early:
        reasons.append("the budget ended before the plan was done; give more --seconds")
    if not covered.is_full:
        reasons.append(f"under-covered: {covered.describe()}; give more --examples")
    return tuple(reasons)


def _unreachable_rules(plan: Plan) -> tuple[str, ...]:
    """The reason for UNDETERMINED if selected rules cannot fire; empty if all can."""
    never = {
        *impossible(plan.selected, plan.pinned),
        *(() if plan.injects else filter(needs_injections, plan.selected)),
    }
    return (f"cannot fire in these configurations: {', '.join(sorted(never))}",) if never else ()


def _examined(
    component: str,
    verdict: Verdict,
    plan: Plan,
    played: Played,
    divergence: Divergence | None = None,
    undetermined: tuple[str, ...] = (),
    wrong: tuple[FailedCheck, ...] = (),
) -> Examination:
    covered, never = _covered(component, played, plan)
    left: list[str] = []
    if divergence is None or divergence.verdict is Verdict.UNDETERMINED:
        left = not_tested(played.tried, plan.offered, plan.chosen, injects=plan.injects)
        left += beyond(plan.greatest)
        if component in COUNTED and not plan.first_id:
            left.append(f"large ids of its own ({FIRST_ID} is chosen or not among the capabilities)")
        if plan.offered.get(RESTORED) == generate.LEFT_OUT and RESTORED not in plan.chosen:
            left.append(f"restored tasks ({RESTORED} is not among the capabilities)")
        if plan.offered.get(CLEANING) == generate.LEFT_OUT and CLEANING not in plan.chosen:
            left.append(f"slow deletions ({CLEANING} is not among the capabilities)")
        if plan.offered.get(IO_FAILURES) == generate.LEFT_OUT and IO_FAILURES not in plan.chosen:
            left.append(f"failures of input and output ({IO_FAILURES} is not among the capabilities)")
        if (
            plan.offered.get(RESTORED_SAVEPOINT) == generate.LEFT_OUT
            and RESTORED_SAVEPOINT not in plan.chosen
        ):
            left.append(f"starts from a savepoint ({RESTORED_SAVEPOINT} is not among the capabilities)")
        if never:
            left.append(f"rules {', '.join(never)} (no case fires them in these configurations)")
    return Examination(
        component,
        verdict,
        covered,
        steps=played.steps,
        cases=played.cases,
        divergence=divergence,
        undetermined=undetermined,
        stopped=played.stopped,
        unseen=tuple(sorted(played.unseen)),
        broken=tuple(one.what for one in wrong),
        evidence=wrong or (() if divergence or played.evidence is None else (played.evidence,)),
        tried=played.tried,
        not_tested=tuple(left),
        sources=tuple(played.origins),
    )
