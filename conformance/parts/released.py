"""Compares released Flinks with the model: the gate in each mode at each level, and the other components."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import repeat
from multiprocessing import get_context
from typing import NamedTuple

from conformance.adapters.flink.adapter import command, flink_adapter
from conformance.adapters.flink.fetch import cached
from conformance.adapters.flink.releases import Release, cache_folder, release
from conformance.adapters.protocol import Unsupported
from conformance.cases.directed import Directed, directed_at
from conformance.machine import HOME, cores, source
from conformance.released.channel import ChannelSearch
from conformance.released.channel import target as channel_target
from conformance.released.comparison import Search, Shared, conform
from conformance.released.coordinator import CoordinatorSearch
from conformance.released.coordinator import target as master_target
from conformance.released.failure_counts import FailuresSearch
from conformance.released.failure_counts import target as failures_target
from conformance.released.gate import GateSearch, GateTarget
from conformance.released.matrix import Cell, Record
from conformance.released.results import OVERTAKEN, Conformed, Target
from conformance.released.sink import SinkSearch
from conformance.released.sink import target as sink_target
from conformance.released.source import SourceSearch
from conformance.released.source import target as source_target
from conformance.released.subtask import SubtaskSearch
from conformance.released.subtask import target as subtask_target
from model.gate.profiles import PROFILES

MODES = ("exactly-once", "at-least-once", "unaligned", "alternating")
LEVELS = ("handler", "polled")
PAGE = HOME / "docs" / "reference" / "released-flinks.md"
"""The page of the documentation with the published results."""
AFTER_FINISH = (1, 14)
"""From this release on an ended channel can count as aligned."""

SEARCHES: Mapping[str, type[Search]] = {
    "gate": GateSearch,
    "coordinator": CoordinatorSearch,
    "store": CoordinatorSearch,
    "sink": SinkSearch,
    "failures": FailuresSearch,
    "channel": ChannelSearch,
    "subtask": SubtaskSearch,
    "source": SourceSearch,
}
"""The kind of search for each component."""
AT_ONCE = 8
"""The maximum number of releases that the matrix compares together. It fetches the jars of all of them."""
IN_TIME = ("coordinator", "store")
"""Components that run with a clock and a storage. That is slower, so they get fewer sequences."""


class Order(NamedTuple):
    """The numbers of cases to play."""

    sequences: int
    seed: int
    aims: bool = True
    """Whether a case is sent for each path of the gate's step functions that a run can take."""
    directed: tuple[tuple[str, str, Directed], ...] = ()
    """The directed cases of gates, each with its mode and profile."""
    tour_nodes: int = 400
    """The number of states of each small model that tours cover. Models without time have at most 2,000."""
    timed_nodes: int = 100
    """The same number for models with virtual time, which have infinitely many states."""
    histories: int = 1_000
    """Random histories of a coordinator or store."""
    gates: int = 1
    """The number of input gates among which a task divides its channels; more than one from 1.12 on."""


def conform_releases(
    versions: Sequence[str],
    modes: Sequence[str],
    levels: Sequence[str],
    order: Order,
    processes: int | None = None,
    components: Sequence[str] = (),
) -> Iterator[Conformed]:
    """Compare all releases, in this order. Raises FlinkError at once if a jar is not available."""
    chosen = [release(version) for version in versions]
    for known in chosen:
        command(known)  # fetches and compiles once, not in each process
    targets = [one for known in chosen for one in targets_of(known, modes, levels, components)]
    yield from conform_targets(targets, with_directed(targets, order, processes), processes)


def conform_targets(
    targets: Sequence[Target], order: Order, processes: int | None = None
) -> Iterator[Conformed]:
    """Compare targets of fetched releases, in this order, each in its own process."""
    with _fresh_processes(processes) as pool:
        yield from pool.map(conform_one, targets, repeat(order))


def with_directed(targets: Sequence[Target], order: Order, processes: int | None = None) -> Order:
    """The order with the directed cases of these gates added, if `order.aims`."""
    there = {(mode, profile) for mode, profile, _ in order.directed}
    gates = list(dict.fromkeys((one.mode, one.profile) for one in targets if has_gate(one)))
    gates = [gate for gate in gates if gate not in there]
    if not order.aims or not gates:
        return order
    with _fresh_processes(processes) as pool:
        found = zip(gates, pool.map(_directed, gates), strict=True)
        return order._replace(directed=(*order.directed, *((*gate, directed) for gate, directed in found)))


def _fresh_processes(processes: int | None) -> ProcessPoolExecutor:
    """A new process for each task, so that the memory of a task is freed at its end."""
    return ProcessPoolExecutor(processes or cores(), get_context("spawn"), max_tasks_per_child=1)


def conform_matrix(
    versions: Sequence[str], order: Order, record: Record, processes: int | None = None
) -> Iterator[Cell | Conformed]:
    """Compare every component of each release, and record each cell. Yields cells of earlier runs unchanged.

    AT_ONCE releases of the same generations are compared together. Their cells in one column are recorded
    together. The jars that this call fetches are deleted when these releases are done. Raises FlinkError and
    MatrixError.
    """
    cells, commit = record.resume(), source()
    for together in _alike(map(release, versions)):
        left: dict[tuple[str, str], list[Target]] = {}
        for one in (target for known in together for target in _all_targets(known)):
            cell = cells.get(one.place)
            if cell is not None and cell.holds_for(one):
                yield cell
            else:
                left.setdefault((one.mode, one.level), []).append(one)
        with ExitStack() as removed:
            open_ones = {one.version for some in left.values() for one in some}
            for known in (one for one in together if one.version in open_ones):
                removed.enter_context(removed_again(known))
                command(known)
            order = with_directed([one for some in left.values() for one in some], order, processes)
            with _fresh_processes(processes) as pool:
                for results in pool.map(conform_alike, left.values(), repeat(order)):
                    for done in results:
                        record.add(Cell.of(done, commit))
                        yield done


def _alike(chosen: Iterable[Release]) -> Iterator[list[Release]]:
    """The releases in groups of at most AT_ONCE with the same generations of all components."""
    groups: dict[tuple[str, ...], list[Release]] = {}
    for one in chosen:
        names = (one.profile, one.coordinator, one.channel, one.subtask, one.source, one.sink)
        group = groups.setdefault(names, [])
        group.append(one)
        if len(group) == AT_ONCE:
            yield group[:]
            group.clear()
    yield from filter(None, groups.values())


def _all_targets(known: Release) -> Iterator[Target]:
    return targets_of(known, MODES, LEVELS, [name for name in SEARCHES if name != "gate"])


@contextmanager
def removed_again(known: Release) -> Iterator[None]:
    """A context that removes the files of a release at its end, if the jar was not in the cache before."""
    stays = cached(known) is not None
    try:
        yield
    finally:
        if not stays:
            shutil.rmtree(cache_folder(known), ignore_errors=True)


def targets_of(
    known: Release, modes: Sequence[str], levels: Sequence[str], components: Sequence[str]
) -> Iterator[Target]:
    """The gate of a release in all modes at all levels, then the other components."""
    yield from (target(known, mode, level) for mode in modes for level in levels)
    for component in components:
        if component == "sink":
            yield sink_target(known.version, known.sink)
        elif component == "failures":
            yield failures_target(known.version, known.coordinator)
        elif component == "subtask":
            yield subtask_target(known.version, known.subtask)
        elif component == "source":
            yield source_target(known.version, known.source)
        elif component == "channel":
            yield channel_target(known.version, known.channel)
        else:
            yield master_target(known.version, known.coordinator, component)


def target(known: Release, mode: str, level: str) -> Target:
    """The gate of a release, in one mode at one level."""
    return GateTarget(known.version, known.profile, mode, level, known.minor >= AFTER_FINISH)


def conform_alike(alike: Sequence[Target], order: Order) -> list[Conformed]:
    """Compare the same part of several releases one after the other, with the same sequences."""
    shared = Shared() if len(alike) > 1 else None
    return [conform_one(one, order, shared) for one in alike]


def conform_one(one: Target, order: Order, shared: Shared | None = None) -> Conformed:
    """Compare one target, in its own JVM. `shared`: as in `Search`."""
    known = release(one.version)
    if one.component == "subtask" and not known.subtask:
        return Conformed(one, stopped=Unsupported("the subtasks of this release are not driven"))
    if one.component == "source" and not known.source:
        return Conformed(one, stopped=Unsupported("no profile describes the source's task of this release"))
    if one.component == "channel" and known.minor < OVERTAKEN:
        return Conformed(one, stopped=Unsupported("no barrier overtakes a record, so a channel stores none"))
    if (one.mode if one.component == "gate" else one.component) in known.undescribed:
        return Conformed(one, stopped=Unsupported("no profile describes this release here yet"))
    sent = [cases for mode, profile, cases in order.directed if (mode, profile) == (one.mode, one.profile)]
    timed = one.component in IN_TIME or one.mode == "alternating"
    with flink_adapter(known, gates=order.gates) as adapter:
        return conform(
            adapter,
            one,
            order.histories if one.component in IN_TIME else order.sequences,
            seed=order.seed,
            directed=sent[0] if sent else None,
            tour_nodes=order.timed_nodes if timed else order.tour_nodes,
            kind=partial(SEARCHES[one.component], shared=shared),
        )


def has_gate(one: Target) -> bool:
    """Whether the target is a gate in a mode that its profile has."""
    overtakes = one.mode in ("unaligned", "alternating")
    return one.component == "gate" and (not overtakes or PROFILES[one.profile].has_unaligned)


def _directed(mode_and_profile: tuple[str, str]) -> Directed:
    return directed_at(*mode_and_profile)
