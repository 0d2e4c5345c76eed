"""Plays rule cases, boundary cases, complete cases and random walks at gates of many channels, size by size.

After an answer `unsupported`, no larger gate is played.
"""

from collections.abc import Iterator
from functools import partial
from random import Random

from conformance.adapters.protocol import Adapter, Wire
from conformance.cases.walks import LENGTH
from conformance.divergence import Divergence
from conformance.drive.bounds.errors_and_failures import one_of_each
from conformance.drive.bounds.mapped_cases import rule_cases
from conformance.drive.bounds.wide_gate_cases import (
    LARGE,
    SIZES,
    WIDTHS,
    boundary_case,
    complete_case,
    widened,
)
from conformance.drive.lockstep import Case, Played, drawn, given
from conformance.drive.loop import drive
from conformance.drive.oracle import Oracle, Oracles
from conformance.drive.plan import Plan
from conformance.generators import generate

LONGEST = 600
"""If widening one channel (first or last) makes a rule case longer than this, the other one is widened."""
KINDS = 8
"""With k times this number of configurations, each configuration has long cases at about one size in k."""
MANY = 20
"""Runs of fewer examples have no large gates."""
LARGE_BATCH = 100
"""Minimum number of events in one request to a large gate: each answer has the gate's long state once."""


def play_wide_gates(adapter: Adapter, plan: Plan, total: Played) -> None:
    """Play gates of each size, ascending, up to the limit of `hello`; large ones only with MANY examples."""
    for size in _sizes(plan):
        _play(size, adapter, plan, total)
        if _bound(size) in total.tried.declined:
            break
        if total.divergence is not None and size in LARGE:
            total.divergence = _at_smallest(total.divergence, adapter, plan)


def _play(size: int, adapter: Adapter, plan: Plan, total: Played) -> None:
    large = plan.limits._replace(batch=max(plan.batch, LARGE_BATCH))
    drive(_cases(size, plan), adapter, large if _is_large(size) else plan.limits, total)


def _at_smallest(found: Divergence, adapter: Adapter, plan: Plan) -> Divergence:
    """The divergence at the smallest gate that shows it, by bisection. A smaller gate shrinks faster."""
    right, wrong = SIZES[-1], found.config["channels"]
    while wrong - right > 1 and plan.may_go_on():
        played = Played()
        _play((right + wrong) // 2, adapter, plan, played)
        if played.divergence is None:
            right = (right + wrong) // 2
        else:
            found, wrong = played.divergence, (right + wrong) // 2
    return found


def _sizes(plan: Plan) -> list[int]:
    most = min(plan.greatest.get("channels", LARGE[-1]), LARGE[-1] if plan.examples >= MANY else SIZES[-1])
    return [size for size in (*SIZES, *LARGE) if size <= most]


def runs(plan: Plan) -> Iterator[tuple[Wire, list[Wire]]]:
    """The configuration and the events of every case that `play_wide_gates` plays."""
    for size in _sizes(plan):
        for case in _cases(size, plan):
            yield case.oracle.config, list(iter(partial(case.choose, {}), None))


def _is_large(size: int) -> bool:
    return size > SIZES[-1]


def _bound(size: int) -> str:
    return f"gates of {size:,} channels and more"


def _cases(size: int, plan: Plan) -> Iterator[Case]:
    if size in WIDTHS:
        yield from _rule_cases(size, plan)
    if not plan.selected:
        yield from _other_cases(size, plan)


def _other_cases(size: int, plan: Plan) -> Iterator[Case]:
    """Boundary cases for each configuration; random walks and complete cases for some of them, see KINDS.

    Large gates have one configuration for each mode.
    """
    configs = list(one_of_each("gate", plan))
    if _is_large(size):
        configs = list({config.get("mode"): config for config in reversed(configs)}.values())
    turns = max(1, len(configs) // KINDS)
    for number, config in enumerate(configs):
        oracle = Oracle("gate", {**config, "channels": size})
        rng = Random(f"{plan.seed}/gate/{size}/{number}")
        yield _case(oracle, boundary_case(size))
        if (number + size) % turns:
            continue
        choose = generate.chooser("gate", oracle.config, rng, injects=plan.injects and size < LARGE[-1])
        yield _case(oracle, drawn(oracle, choose, LENGTH // 3 if _is_large(size) else LENGTH)[0])
        if size < LARGE[-1]:
            yield _case(oracle, complete_case(size, rng))
        elif plan.injects and oracle.config.get("mode", "exactly-once") == "exactly-once":
            injected: Wire = {"kind": "inject", "checkpoint": 4}
            yield _case(oracle, [*boundary_case(size), injected])


def _case(oracle: Oracle, events: list[Wire]) -> Case:
    return given(oracle, events, "wide", bound=_bound(oracle.config["channels"]))


def _rule_cases(size: int, plan: Plan) -> Iterator[Case]:
    """Each rule case, widened: alternately its first or its last channel stands for all further channels."""
    oracles = Oracles("gate")
    for number, (oracle, events) in enumerate(rule_cases("gate", plan, Oracles("gate"))):
        wide = oracles.of({**oracle.config, "channels": size})
        channels, first = oracle.config["channels"], number % 2 == 0
        case = widened(events, channels, size, first=first)
        yield _case(wide, case if len(case) <= LONGEST else widened(events, channels, size, first=not first))
