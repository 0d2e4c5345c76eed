"""Measures the rate at which a release of Flink is compared with the model on random sequences."""

import time
from collections.abc import Iterator
from functools import partial
from random import Random

from conformance.adapters.flink.adapter import command
from conformance.adapters.flink.fetch import cached
from conformance.adapters.flink.releases import Release, newest
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Wire
from conformance.bench.benchmark import Benchmark, MeasurementError, Run
from conformance.drive.oracle import Edge, Oracle
from conformance.drive.stream import Case, Prepare, differing
from conformance.generators import generate
from conformance.parts.verify import SEED

CASES = 4000
LENGTH = 60
BATCH = 20
FIELDS = frozenset({"blocked", "closed", "current", "pending"})


def flink_benchmarks() -> Iterator[Benchmark]:
    """Yield the measurements of the newest listed release, if its jar is in the cache. Nothing is fetched."""
    release = newest()
    if cached(release) is None:
        return
    setting = f"gate of Flink {release.version}, {CASES:,} walks of {LENGTH} events in batches of {BATCH}"
    for name, target, prepared in (("real Flink", 50_000, False), ("real Flink, prepared", 100_000, True)):
        setting_of = (
            f"{setting}, {'drawn before' if prepared else 'drawn and answered by the model on the way'}"
        )
        yield Benchmark(name, "events/s", target, setting_of, partial(_driven, release, prepared=prepared))


def _driven(release: Release, *, prepared: bool) -> Run:
    with ProcessAdapter(command(release), 60) as adapter:
        adapter.hello()  # the start of the JVM and its first steps are not measured
        for differs in differing(adapter, _cases(release, CASES // 5)):
            raise MeasurementError(f"Flink {release.version} differs from its profile: {differs}")
        drawn: Iterator[Case] = _cases(release, CASES)
        cases = list(drawn) if prepared else drawn
        events = 0

        def counted() -> Iterator[Case]:
            nonlocal events
            for case in cases:
                events += len(case.events)
                yield case

        begun, own = time.perf_counter(), time.process_time()
        differ = list(differing(adapter, counted()))
        seconds, own = time.perf_counter() - begun, time.process_time() - own
    if differ:
        raise MeasurementError(f"Flink {release.version} differs from its profile; run `barrierspec flink`")
    return Run(events, seconds, own)


def _cases(release: Release, count: int) -> Iterator[Case]:
    """Yield walks of the aligned gate at handler level, with two and three channels in turn."""
    prepare = Prepare(FIELDS)
    configs: list[Wire] = [
        {"channels": channels, "mode": "exactly-once", "profile": release.profile, "level": "handler"}
        for channels in (2, 3)
    ]
    oracles = [Oracle("gate", config) for config in configs]
    for number in range(count):
        which = number % len(configs)
        oracle = oracles[which]
        choose = generate.chooser(
            "gate",
            configs[which],
            Random(f"{SEED}/{number}"),
            injects=configs[which]["mode"] != "exactly-once",
        )
        edges: list[tuple[Wire, Edge]] = []
        node = oracle.start
        while len(edges) < LENGTH and (event := choose(node.observed)) is not None:
            edge = oracle.step(node, event)
            if edge.refused is None:
                edges.append((event, edge))
                node = edge.after
        yield prepare.case(oracle, edges, (BATCH,) * (LENGTH // BATCH))
