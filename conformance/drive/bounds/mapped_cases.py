"""Cases at the bounds of a component: large ids and late times in every kind of case, gates of many channels.

If an implementation answers `unsupported` at a bound, no further case reaches this bound, and the verdict
states the smaller bound. No case exceeds a limit that the implementation's `hello` declares.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from conformance.adapters.protocol import Adapter, Wire
from conformance.cases.hypothesis_machines import Source, run_machine
from conformance.cases.rule_cases import chosen_cases
from conformance.drive.bounds import ids as of_ids
from conformance.drive.bounds import times as of_times
from conformance.drive.bounds.ids import IdMap
from conformance.drive.bounds.times import TimeMap
from conformance.drive.bounds.values import ValueMap, combined
from conformance.drive.lockstep import Played, given
from conformance.drive.loop import drive, is_over
from conformance.drive.oracle import Oracle, Oracles
from conformance.drive.plan import Plan

MAPPED_SHARE = 3
"""One in this number of examples of a Hypothesis machine has its values mapped."""
Map = TypeVar("Map", IdMap, TimeMap)


def play_mapped_rules(component: str, adapter: Adapter, plan: Plan, total: Played) -> tuple[ValueMap, ...]:
    """Play every rule case with each map of ids and each map of times.

    Returns the maps for cases of other sources; none if a case has diverged or the budget has ended.
    """
    cases = list(rule_cases(component, plan, Oracles(component)))
    with_time = [case for case in cases if of_times.has_time(component, case[0].config)]
    ids = of_ids.maps_within(plan.greatest.get("ids"), first_id=plan.first_id)
    ids = _allowed(component, ids, cases, (adapter, plan, total))
    times = of_times.maps_within(plan.greatest.get("milliseconds"))
    times = _allowed(component, times, with_time, (adapter, plan, total))
    return () if is_over(total) or total.ended_early else combined(ids, times if with_time else ())


def run_machines(
    component: str, adapter: Adapter, plan: Plan, maps: Sequence[ValueMap], total: Played
) -> None:
    """Run the examples of a Hypothesis machine, first with their own values, then with mapped values."""
    mapped = -(-plan.examples // MAPPED_SHARE) if maps else 0
    source = Source(plan.seed, plan.examples - mapped, plan.limits, plan.pinned, plan.selected, plan.injects)
    if source.examples:
        run_machine(component, adapter, source, total)
    if mapped and total.is_sound and not total.skipped and plan.may_go_on():
        run_machine(component, adapter, source._replace(examples=mapped, maps=tuple(maps)), total)
        for why in total.skipped:
            total.tried.declined.setdefault("some events with mapped values", why)
        total.skipped = []


def rule_cases(component: str, plan: Plan, oracles: Oracles) -> Iterator[tuple[Oracle, Sequence[Wire]]]:
    """The case of each rule."""
    chosen = chosen_cases(component, oracles, plan.pinned, plan.selected, injects=plan.injects)
    return ((oracle, events) for _, oracle, events in chosen)


def _allowed(
    component: str,
    maps: Sequence[Map],
    cases: Sequence[tuple[Oracle, Sequence[Wire]]],
    where: tuple[Adapter, Plan, Played],
) -> tuple[Map, ...]:
    """Play the cases with each map. Returns the maps before the first one that is declined."""
    adapter, plan, total = where
    large = Oracles(component)
    for position, one in enumerate(maps):
        if is_over(total) or total.ended_early:
            return ()
        values = ValueMap(one, None) if isinstance(one, IdMap) else ValueMap(None, one)
        sent = (
            given(
                large.of(values.config(component, oracle.config)),
                values.events(component, oracle.config, events),
                "bound",
                bound=values.declined,
            )
            for oracle, events in cases
        )
        drive(sent, adapter, plan.limits, total)
        if values.declined in total.tried.declined:
            return tuple(one for one in maps[:position] if one.declined != values.declined)
    return tuple(maps)
