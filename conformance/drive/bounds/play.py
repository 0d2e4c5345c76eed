"""Cases at the bounds of a component: large ids in every kind of case, and gates of many channels.

An implementation that answers `unsupported` at a bound declines it: nothing at this bound or beyond is played
any more, and the verdict says so. It is a smaller bound, and no doubt about what lies within it.
"""

from collections.abc import Iterator, Sequence
from random import Random

from conformance.adapters.protocol import Adapter, Unsupported, Wire
from conformance.cases.hypothesis_machines import run_machine
from conformance.cases.rule_cases import chosen_cases
from conformance.cases.walks import LENGTH, Oracles
from conformance.drive.bounds.channels import WIDTHS, widened
from conformance.drive.bounds.ids import BOUNDS, MAPS, IdMap, mapped
from conformance.drive.lockstep import Played, drawn, replay
from conformance.drive.oracle import Oracle
from conformance.drive.plan import Plan
from conformance.drive.series import Series
from conformance.generators import generate

EXAMPLES_SHARE = 10
"""One in so many of the examples of a Hypothesis machine has its ids mapped, too."""

LONGEST = 600
"""Events of a case at a gate of many channels, if that can be."""

Case = tuple[Oracle, Sequence[Wire]]


def play_bounds(component: str, adapter: Adapter, plan: Plan) -> Played:
    """Every rule case and one walk an example with each map of ids, a machine, and gates of many channels."""
    series = Series(plan.is_known)
    allowed = _large_ids(component, adapter, plan, series)
    if allowed and not series.is_over and plan.may_go_on():
        _machine(component, adapter, plan, series, allowed)
    if component == "gate" and "channels" not in plan.chosen and not series.is_over:
        _many_channels(adapter, plan, series)
    return series.total


def _large_ids(component: str, adapter: Adapter, plan: Plan, series: Series) -> tuple[IdMap, ...]:
    """Play the cases map by map; the maps that the implementation has not declined."""
    small, large = Oracles(component), Oracles(component)
    cases = [*_cases(component, plan, small)]
    walked = [*_walks(component, plan, small)]
    for position, ids in enumerate(MAPS):
        for oracle, events in [*cases, *walked[position :: len(MAPS)]]:
            if series.is_over or not plan.may_go_on():
                return ()
            events = mapped(component, events, ids)
            why = _take(series, replay(large.of(oracle.config), adapter, events, plan.batch))
            if why is not None:
                series.total.tried.declined[f"ids around {BOUNDS[ids.bound]} and beyond"] = why
                return tuple(one for one in MAPS if one.bound < ids.bound)
    return MAPS


def _cases(component: str, plan: Plan, oracles: Oracles) -> Iterator[Case]:
    """The case of each rule."""
    chosen = chosen_cases(component, oracles, plan.pinned, plan.asked, injects=plan.injects)
    return ((oracle, events) for _, oracle, events in chosen)


def _walks(component: str, plan: Plan, oracles: Oracles) -> Iterator[Case]:
    """One random case an example."""
    cases = generate.cases(component, plan.seed, plan.pinned)
    for number, (config, _) in zip(range(plan.examples), cases, strict=False):
        rng = Random(f"{plan.seed}/{component}/bounds/{number}")
        oracle = oracles.of(config)
        events, fired = drawn(oracle, generate.chooser(component, config, rng, injects=plan.injects), LENGTH)
        if events and (not plan.asked or fired.intersection(plan.asked)):
            yield oracle, events


def _machine(component: str, adapter: Adapter, plan: Plan, series: Series, maps: tuple[IdMap, ...]) -> None:
    run = run_machine(
        component,
        adapter,
        plan.seed,
        -(-plan.examples // EXAMPLES_SHARE),
        pinned=plan.pinned,
        may_go_on=plan.may_go_on,
        is_known=plan.is_known,
        asked=plan.asked,
        injects=plan.injects,
        maps=maps,
    )
    series.total.add(run.played)
    for why in run.skipped:
        series.total.tried.declined.setdefault("some events with large ids", why)


def _many_channels(adapter: Adapter, plan: Plan, series: Series) -> None:
    """The case of each rule at gates of many channels; which channel stands for the others is in turn."""
    cases = [*_cases("gate", plan, Oracles("gate"))]
    for wide in WIDTHS:
        oracles = Oracles("gate")
        for number, (oracle, events) in enumerate(cases):
            if series.is_over or not plan.may_go_on():
                return
            config = {**oracle.config, "channels": wide}
            case = _wide_case(oracle, events, wide, first=number % 2 == 0)
            why = _take(series, replay(oracles.of(config), adapter, case, plan.batch))
            if why is not None:
                series.total.tried.declined[f"gates of {wide} channels and more"] = why
                return


def _wide_case(oracle: Oracle, events: Sequence[Wire], wide: int, *, first: bool) -> list[Wire]:
    """The case at a gate of many channels; with the other channel for all others where it gets long."""
    channels = oracle.config["channels"]
    case = widened(events, channels, wide, first=first)
    return case if len(case) <= LONGEST else widened(events, channels, wide, first=not first)


def _take(series: Series, played: Played) -> str | None:
    """Count one case; why it was declined, if it was."""
    stopped = played.stopped
    if not isinstance(stopped, Unsupported):
        series.take(played)
        return None
    return stopped.why
