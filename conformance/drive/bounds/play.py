"""Cases at the bounds of a component: large ids in every kind of case, and gates of many channels.

An implementation that answers `unsupported` at a bound declines it: nothing at this bound or beyond is played
any more, and the verdict states the smaller bound. What lies within it is not in doubt.
"""

from collections.abc import Iterator, Sequence
from random import Random

from conformance.adapters.protocol import Adapter, Wire
from conformance.cases.hypothesis_machines import Source, run_machine
from conformance.cases.rule_cases import chosen_cases
from conformance.cases.walks import LENGTH
from conformance.drive.bounds.channels import WIDTHS, widened
from conformance.drive.bounds.ids import BOUNDS, MAPS, IdMap, mapped
from conformance.drive.lockstep import Played, drawn, given
from conformance.drive.loop import drive, is_over
from conformance.drive.oracle import Oracle, Oracles
from conformance.drive.plan import Plan
from conformance.generators import generate

EXAMPLES_SHARE = 10
"""One in so many of the examples of a Hypothesis machine has its ids mapped, too."""

LONGEST = 600
"""Events of a case at a gate of many channels, if that can be."""


def play_bounds(component: str, adapter: Adapter, plan: Plan, total: Played) -> None:
    """Every rule case and one walk an example with each map of ids, a machine, and gates of many channels."""
    allowed = _large_ids(component, adapter, plan, total)
    if allowed and not is_over(total) and plan.may_go_on():
        examples = -(-plan.examples // EXAMPLES_SHARE)
        skipped, total.skipped = total.skipped, []
        run_machine(component, adapter, machine_source(plan)._replace(examples=examples, maps=allowed), total)
        for why in total.skipped:
            total.tried.declined.setdefault("some events with large ids", why)
        total.skipped = skipped
    if component == "gate" and "channels" not in plan.chosen:
        _many_channels(adapter, plan, total)


def machine_source(plan: Plan) -> Source:
    """The examples of the Hypothesis machine of a plan."""
    return Source(plan.seed, plan.examples, plan.limits, plan.pinned, plan.selected, plan.injects)


def _large_ids(component: str, adapter: Adapter, plan: Plan, total: Played) -> tuple[IdMap, ...]:
    """Play the cases map by map; the maps that the implementation has not declined."""
    small, large = Oracles(component), Oracles(component)
    cases = [*_cases(component, plan, small)]
    walked = [*_walks(component, plan, small)]
    for position, ids in enumerate(MAPS):
        sent = (
            given(large.of(oracle.config), mapped(component, events, ids), "bound")
            for oracle, events in [*cases, *walked[position :: len(MAPS)]]
        )
        bound = f"ids around {BOUNDS[ids.bound]} and beyond"
        drive(sent, adapter, plan.limits._replace(bound=bound), total)
        if bound in total.tried.declined:
            return tuple(one for one in MAPS if one.bound < ids.bound)
        if is_over(total) or total.ended_early:
            return ()
    return MAPS


def _cases(component: str, plan: Plan, oracles: Oracles) -> Iterator[tuple[Oracle, Sequence[Wire]]]:
    """The case of each rule."""
    chosen = chosen_cases(component, oracles, plan.pinned, plan.selected, injects=plan.injects)
    return ((oracle, events) for _, oracle, events in chosen)


def _walks(component: str, plan: Plan, oracles: Oracles) -> Iterator[tuple[Oracle, Sequence[Wire]]]:
    """One random case an example."""
    cases = generate.cases(component, plan.seed, plan.pinned)
    for number, (config, _) in zip(range(plan.examples), cases, strict=False):
        rng = Random(f"{plan.seed}/{component}/bounds/{number}")
        oracle = oracles.of(config)
        events, fired = drawn(oracle, generate.chooser(component, config, rng, injects=plan.injects), LENGTH)
        if events and (not plan.selected or fired.intersection(plan.selected)):
            yield oracle, events


def _many_channels(adapter: Adapter, plan: Plan, total: Played) -> None:
    """The case of each rule at gates of many channels; which channel stands for the others alternates."""
    cases = [*_cases("gate", plan, Oracles("gate"))]
    for wide in WIDTHS:
        oracles = Oracles("gate")
        sent = (
            given(
                oracles.of({**oracle.config, "channels": wide}),
                _wide_case(oracle, events, wide, first=number % 2 == 0),
                "bound",
            )
            for number, (oracle, events) in enumerate(cases)
        )
        bound = f"gates of {wide} channels and more"
        drive(sent, adapter, plan.limits._replace(bound=bound), total)
        if bound in total.tried.declined:
            return


def _wide_case(oracle: Oracle, events: Sequence[Wire], wide: int, *, first: bool) -> list[Wire]:
    """The case at a gate of many channels; the other channel stands for all others where it gets too long."""
    channels = oracle.config["channels"]
    case = widened(events, channels, wide, first=first)
    return case if len(case) <= LONGEST else widened(events, channels, wide, first=not first)
