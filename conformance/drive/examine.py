"""Examine one component of an implementation: a case of every rule, seeded walks, Hypothesis, the verdict.

CONFORMS needs every rule that can fire to have fired, every case to have been played to its end, and no
configuration to have been skipped. What was not so is listed among the doubts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from conformance.adapters.protocol import Adapter, Failure
from conformance.coverage import Coverage, coverage, impossible
from conformance.drive.lockstep import Divergence, Played
from conformance.drive.machines import run_machine
from conformance.drive.rule_cases import play_rule_cases
from conformance.drive.shrink import shrink
from conformance.drive.walks import walks
from conformance.verdict import Verdict

WALKS_PER_EXAMPLE = 10
"""Walks are that much cheaper than examples of a Hypothesis machine."""


class Plan(NamedTuple):
    """What is to be done for each component."""

    seed: int
    examples: int
    """Examples of the Hypothesis machine; there are WALKS_PER_EXAMPLE times as many walks."""
    batch: int = 1
    """Events of one request of a walk."""
    pinned: Mapping[str, object] = MappingProxyType({})
    """Options of the configuration that have to have these values."""
    may_go_on: Callable[[], bool] = lambda: True
    """Asked before each case; when it says no, the budget has ended."""
    is_known: Callable[[Divergence], bool] = lambda _: False
    """A divergence that is to be passed over; the case ends there."""
    steps: int = 0
    """The walks go on until so many steps are done, also when there were examples enough."""
    asked: frozenset[str] = frozenset()
    """Only cases that exercise one of these rules are played; empty: all."""


@dataclass(frozen=True)
class Examination:
    """What came of one component."""

    component: str
    verdict: Verdict
    coverage: Coverage
    steps: int = 0
    cases: int = 0
    divergence: Divergence | None = None
    """Shrunk: no event can be left out."""
    doubts: tuple[str, ...] = ()
    """Why it is UNDETERMINED."""
    stopped: Failure | None = None
    """The first failure to answer that ended a case without a divergence."""
    unseen: tuple[str, ...] = ()
    """State fields that the implementation left out and that were not compared."""
    known: tuple[str, ...] = ()
    """Known divergences that were met and passed over, by name."""


def examine(component: str, adapter: Adapter, plan: Plan) -> Examination:
    """Drive the component until it diverges or the plan is done."""
    played, skipped = play_rule_cases(
        component,
        adapter,
        batch=plan.batch,
        pinned=plan.pinned,
        may_go_on=plan.may_go_on,
        is_known=plan.is_known,
        asked=plan.asked,
    )
    if _goes_on(played):
        walked, left_out = walks(
            component,
            adapter,
            plan.seed,
            plan.examples * WALKS_PER_EXAMPLE,
            batch=plan.batch,
            pinned=plan.pinned,
            may_go_on=plan.may_go_on,
            is_known=plan.is_known,
            asked=plan.asked,
            steps=plan.steps,
        )
        played.add(walked)
        skipped += [why for why in left_out if why not in skipped]
    ended_early = not plan.may_go_on()
    if _goes_on(played) and not skipped and not ended_early:
        run = run_machine(
            component,
            adapter,
            plan.seed,
            plan.examples,
            pinned=plan.pinned,
            may_go_on=plan.may_go_on,
            is_known=plan.is_known,
            asked=plan.asked,
        )
        played.add(run.played)
        skipped = run.skipped
        ended_early = run.ended_early
    covered = coverage(component, played.fired, plan.pinned, plan.asked)
    if played.divergence is not None:
        smallest = shrink(played.divergence, adapter)
        return _examined(component, Verdict.DIVERGES, covered, played, smallest, ())
    doubts = _doubts(played, skipped, ended_early, covered) + _not_here(plan)
    return _examined(
        component, Verdict.UNDETERMINED if doubts else Verdict.CONFORMS, covered, played, None, doubts
    )


def not_offered(component: str) -> Examination:
    """A component that was asked for and that the implementation does not have."""
    doubt = f"the implementation does not offer the component {component}"
    return Examination(component, Verdict.UNDETERMINED, coverage(component, ()), doubts=(doubt,))


def seen_again(component: str, played: Played, plan: Plan) -> Examination:
    """A divergence of an earlier run, which came first this time and is there still."""
    covered = coverage(component, played.fired, plan.pinned, plan.asked)
    return _examined(component, Verdict.DIVERGES, covered, played, played.divergence, ())


def _goes_on(played: Played) -> bool:
    return played.divergence is None and played.stopped is None and played.unrepeatable is None


def _doubts(played: Played, skipped: list[str], ended_early: bool, covered: Coverage) -> tuple[str, ...]:
    doubts = [
        f"skipped, not supported: {why}; offer less in hello, or leave it out with --config"
        for why in skipped
    ]
    if played.stopped is not None:
        doubts.append(played.stopped.describe())
    if played.unrepeatable is not None:
        once = played.unrepeatable
        rule = once.rule or "a step that fires no rule"
        doubts.append(f"differed once, at {rule}, and not when the same {once.step} events came again")
    if ended_early:
        doubts.append("the budget ended before the plan was done; give more --seconds")
    if not covered.is_full:
        doubts.append(f"under-covered: {covered.describe()}; give more --examples")
    return tuple(doubts)


def _not_here(plan: Plan) -> tuple[str, ...]:
    """What was asked for and cannot come."""
    never = impossible(plan.asked, plan.pinned)
    return (f"cannot fire in these configurations: {', '.join(never)}",) if never else ()


def _examined(
    component: str,
    verdict: Verdict,
    covered: Coverage,
    played: Played,
    divergence: Divergence | None,
    doubts: tuple[str, ...],
) -> Examination:
    return Examination(
        component,
        verdict,
        covered,
        steps=played.steps,
        cases=played.cases,
        divergence=divergence,
        doubts=doubts,
        stopped=played.stopped,
        unseen=tuple(sorted(played.unseen)),
    )
