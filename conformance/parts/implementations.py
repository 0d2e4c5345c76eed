"""Examines several implementations, each behind its adapter, or as a released Flink.

A release is examined as by `barrierspec flink conform`, with the configurations of its profile. The known
divergences of a release are listed, and do not change the verdict.
"""

from collections.abc import Iterator, Sequence

from conformance.adapters.flink.adapter import NAME
from conformance.adapters.flink.releases import FlinkError
from conformance.drive.bounds.examination import Examination
from conformance.drive.implementations import Examined, Implementation, examine_adapter
from conformance.drive.plan import WALKS_PER_EXAMPLE, Plan
from conformance.parts.released import LEVELS, MODES, SEARCHES, Order, conform_releases
from conformance.released.results import Conformed
from conformance.rules.coverage import Coverage
from conformance.verdict import together

TOUR_NODES = 60
"""The maximum number of states of a small model that tours cover. Tours of `flink matrix` cover more."""
TIMED_NODES = 30
"""The limit of states for a model with virtual time, which has infinitely many states."""
GATE, *OTHERS = SEARCHES


def examine_all(chosen: Sequence[Implementation], plan: Plan, limit: float) -> Iterator[Examined]:
    """Examine one implementation after the other, and yield each result at once.

    `limit`: the seconds that one answer of an adapter may take.
    """
    for one in chosen:
        yield examine_release(one, plan) if one.release else examine_adapter(one, plan, limit)


def examine_release(one: Implementation, plan: Plan) -> Examined:
    """Examine a released Flink: its gate in every mode at every level, and its other components."""
    cases = plan.examples * WALKS_PER_EXAMPLE
    order = Order(
        cases, plan.seed, aims=False, tour_nodes=TOUR_NODES, timed_nodes=TIMED_NODES, histories=cases
    )
    try:
        conformed = list(conform_releases([one.release], MODES, LEVELS, order, components=OTHERS))
    except FlinkError as cannot:
        return Examined(one, str(cannot))
    by_component = {name: [done for done in conformed if done.target.component == name] for name in SEARCHES}
    summaries = {name: summary_of(name, all_done) for name, all_done in by_component.items()}
    return Examined(
        one, f"{NAME} {one.release}", {name: done for name, done in summaries.items() if done is not None}
    )


def summary_of(component: str, conformed: Sequence[Conformed]) -> Examination | None:
    """The result of one component in all its modes and levels; None if the release has none of them."""
    driven = [done for done in conformed if not done.skipped]
    if not driven:
        return None
    stopped = [done.stopped for done in driven if done.stopped is not None]
    gone = [known.name for done in driven for known in done.gone]
    return Examination(
        component,
        together(done.verdict for done in driven),
        Coverage(tuple(sorted(set().union(*(done.rules for done in driven)))), ()),
        steps=sum(done.events for done in driven),
        cases=sum(done.sequences for done in driven),
        divergence=next((divergence for done in driven for divergence in done.new), None),
        undetermined=(
            *(failure.describe() for failure in stopped),
            *(f"{name!r} no longer diverges; take it out of the known divergences" for name in gone),
        ),
        stopped=stopped[0] if stopped else None,
        known=tuple(sorted(set().union(*(done.known for done in driven)))),
    )
