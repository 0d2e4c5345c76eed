"""Released Flinks: gates in every mode at every level, coordinators, stores; each in a process of its own."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from typing import NamedTuple

from conformance.adapters.flink.adapter import command, flink_adapter
from conformance.adapters.flink.releases import Release, release
from conformance.adapters.protocol import Unsupported, Wire
from conformance.drive.released import Conformed, Target, conform
from conformance.drive.released_coordinator import MasterSearch
from conformance.drive.released_coordinator import target as master_target
from conformance.machine import cores
from model.profiles import NEWEST

MODES = ("exactly-once", "at-least-once", "unaligned", "alternating")
LEVELS = ("handler", "polled")
DESCRIBED = (1, 15)
"""From this release on coordinators are compared with the model; those from 1.10 on can be driven."""
AFTER_FINISH = (1, 14)
"""From this release on an ended channel can count as aligned."""


class Order(NamedTuple):
    """How much is to be played."""

    sequences: int
    seed: int
    scripts: tuple[tuple[str, tuple[Wire, ...]], ...] = ()
    """Directed cases, each with its mode."""
    tour_nodes: int = 400
    """How many states of each small model are toured, breadth first; 2,000 are all if no time passes."""
    timed_nodes: int = 100
    """How many where time passes: those models have no end."""
    histories: int = 1_000
    """Random histories of a coordinator or store."""


def conform_releases(
    versions: Sequence[str],
    modes: Sequence[str],
    levels: Sequence[str],
    order: Order,
    processes: int | None = None,
    components: Sequence[str] = (),
) -> Iterator[Conformed]:
    """Conform them all, in this order; raises FlinkError before the first if one cannot be had."""
    chosen = [release(version) for version in versions]
    for known in chosen:
        command(known)  # fetched and compiled once, not by each process
    targets = [one for known in chosen for one in targets_of(known, modes, levels, components)]
    fresh = get_context("spawn")  # a process for each, so that its memory goes with it
    with ProcessPoolExecutor(processes or cores(), fresh, max_tasks_per_child=1) as pool:
        yield from pool.map(conform_one, targets, repeat(order))


def targets_of(
    known: Release, modes: Sequence[str], levels: Sequence[str], components: Sequence[str]
) -> Iterator[Target]:
    """The gate of a release in all modes at all levels, then the other components."""
    yield from (target(known, mode, level) for mode in modes for level in levels)
    yield from (master_target(known.version, known.coordinator, component) for component in components)


def target(known: Release, mode: str, level: str) -> Target:
    """What is conformed of a release."""
    return Target(known.version, known.profile, mode, level, known.minor >= AFTER_FINISH)


def conform_one(one: Target, order: Order) -> Conformed:
    """One release in one mode at one level, in a JVM of its own."""
    known = release(one.version)
    if one.component != "gate":
        return _conform_master(one, known, order)
    newest = known.profile == NEWEST.name or one.mode == MODES[0]  # else it lacks some events
    scripts = [events for mode, events in order.scripts if newest and mode == one.mode]
    with flink_adapter(known) as adapter:
        return conform(
            adapter,
            one,
            order.sequences,
            seed=order.seed,
            scripts=scripts,
            tour_nodes=order.timed_nodes if one.mode == "alternating" else order.tour_nodes,
        )


def _conform_master(one: Target, known: Release, order: Order) -> Conformed:
    if known.minor < DESCRIBED:
        return Conformed(one, stopped=Unsupported("what differs up to 1.14 is not wholly described yet"))
    with flink_adapter(known) as adapter:
        return conform(
            adapter, one, order.histories, seed=order.seed, tour_nodes=order.timed_nodes, kind=MasterSearch
        )


def directed_scripts() -> tuple[tuple[str, tuple[Wire, ...]], ...]:
    """A run for each path that z3 reads in the gate's step functions and a small model takes; and a flood."""
    from conformance.drive.directed import directed_cases, graphs_of
    from conformance.drive.generate_tracking import flood
    from conformance.parts.lockstep import cases_of

    found = directed_cases(list(graphs_of("gate")), cases_of("gate"))
    runs = tuple((one.config.get("mode", MODES[0]), (*one.opening, *one.events)) for one in found.scripts)
    return (*runs, ("at-least-once", flood()))
