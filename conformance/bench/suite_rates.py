"""Measures the rates of the suite: lock-step, the explorer and TLC, with the project's targets."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Adapter
from conformance.bench.benchmark import Benchmark, MeasurementError, Run
from conformance.bench.figures import Report
from conformance.own_process import own_process
from conformance.parts.verify import SEED


def measure(chosen: Sequence[Benchmark], repeated: int) -> Report:
    """Measure the chosen rates. Raises MeasurementError if some work fails."""
    figures = [one.measure(repeated) for one in chosen]
    return Report("rates", "Rates of the suite", "units of work a second, in one process", figures)


def benchmarks() -> Iterator[Benchmark]:
    """Yield the measurements of rates."""
    yield Benchmark(
        "lock-step, in process",
        "steps/s",
        20_000,
        "newest aligned gate, 1,000 seeded walks, drawn, stepped in model and implementation, compared",
        partial(_walks_in_process, ALIGNED),
    )
    yield Benchmark(
        "lock-step, every mode",
        "steps/s",
        None,
        "the same through every mode and generation of the gate, in turn",
        partial(_walks_in_process, {}),
    )
    yield Benchmark(
        "lock-step, over pipes",
        "events/s",
        20_000,
        "newest aligned gate, 200 long seeded walks in batches of 100, against `barrierspec serve impl`",
        _walks_over_pipes,
    )
    yield Benchmark(
        "explorer",
        "transitions/s",
        250_000,
        "gate of 3 channels, ids to 12, handler level, every property of the gate checked",
        partial(_exploration, channels=3, ids=12),
    )
    from conformance.bench.flink import flink_benchmarks
    from conformance.bench.logs import log_benchmarks

    yield from flink_benchmarks()
    yield from log_benchmarks()
    yield from _tlc()


ALIGNED: Mapping[str, object] = MappingProxyType({"mode": "exactly-once", "profile": "flink-1.14"})
"""The newest generation of the aligned gate, for which the targets are set."""


def _walks_in_process(pinned: Mapping[str, object], cases: int = 1000) -> Run:
    from conformance.adapters.bundled import bundled_adapter
    from conformance.cases.walks import LENGTH

    return _walked(bundled_adapter(), cases, pinned, length=LENGTH, batch=1)


def _walks_over_pipes(cases: int = 200) -> Run:
    command = own_process("conformance.cli", "serve", "impl")
    with ProcessAdapter(command, seconds=60) as adapter:
        adapter.hello()  # the start of the process is not measured
        return _walked(adapter, cases, ALIGNED, length=1000, batch=100)


def _walked(adapter: Adapter, cases: int, pinned: Mapping[str, object], *, length: int, batch: int) -> Run:
    from conformance.cases.walks import WalkOptions, walks
    from conformance.drive.loop import Limits, drive

    begun, own = time.perf_counter(), time.process_time()
    walked = walks("gate", SEED, WalkOptions(pinned), length=length)
    played = drive(walked, adapter, Limits(batch, cases=cases))
    seconds, own = time.perf_counter() - begun, time.process_time() - own
    if not played.is_sound or played.skipped:
        raise MeasurementError("the walks did not run to their end; see `barrierspec conform --adapter impl`")
    return Run(played.steps, seconds, own)


def _exploration(*, channels: int, ids: int) -> Run:
    from model.checker.explore import explore
    from model.gate.environment.aligned import closed_gate
    from model.properties import of_component

    closed = closed_gate(channels, ids, counts_as_aligned=True, polled=False)
    begun, own = time.perf_counter(), time.process_time()
    graph = explore(closed, of_component("gate"), keep_transitions=False)
    seconds, own = time.perf_counter() - begun, time.process_time() - own
    if graph.violation is not None:
        raise MeasurementError(
            f"{closed.name}: {graph.violation.rules} do not hold; run `barrierspec verify`"
        )
    return Run(graph.transition_count, seconds, own)


def _tlc() -> Iterator[Benchmark]:
    """TLC on the largest model of the manifest in which all properties hold."""
    from spec import tlc
    from spec.manifest import load_manifest

    sound = [model for model in load_manifest().values() if model.violates is None]
    if not sound:
        return
    largest = max(sound, key=lambda model: model.states)

    def work() -> Run:
        result = tlc.check(largest)
        if result.differences:
            raise MeasurementError("; ".join(result.differences))
        return Run(result.states, result.seconds, None)

    setting = f"{largest.name}, one worker, the start of Java included"
    yield Benchmark("TLC", "states/s", None, setting, work)
