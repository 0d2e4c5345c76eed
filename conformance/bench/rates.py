"""What the suite can do in a second, measured here and now, beside the bars that the project has set.

Each measurement is repeated and its median told, with the least and the greatest, because another
process on the machine makes a run slower and nothing makes it faster.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import median
from types import MappingProxyType
from typing import Any, NamedTuple

from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Adapter
from conformance.own_process import own_process
from conformance.verify import SEED

REPEATED = 5
ENOUGH_SECONDS = 60.0
"""A measurement that took so long is not repeated further; its row says how often it was."""


class Run(NamedTuple):
    """The work, done once."""

    amount: int
    """How many of its unit."""
    seconds: float
    own_seconds: float | None
    """Processor time of this process; None where another process does the work."""


Work = Callable[[], Run]


class MeasurementError(RuntimeError):
    """What was to be measured did not do its work; no rate can be told."""


class Measured(NamedTuple):
    """One rate."""

    name: str
    unit: str
    bar: int | None
    """The rate that it has to reach; None if it is told for comparison only."""
    amount: int
    """How many units one run does."""
    rates: tuple[float, ...]
    """Units a second, a run each."""
    own_rates: tuple[float, ...]
    """Units a second of this process's processor time, a run each; empty where another does the work.

    Where other programs hold the processors, `rates` say how it went and these how it could have gone.
    """
    setting: str
    """What was run."""

    @property
    def rate(self) -> float:
        """The median."""
        return median(self.rates)

    @property
    def own_rate(self) -> float | None:
        """The median of the rates by processor time."""
        return median(self.own_rates) if self.own_rates else None

    @property
    def met(self) -> bool | None:
        """The median reaches the bar; None without a bar."""
        return None if self.bar is None else self.rate >= self.bar

    def as_json(self) -> dict[str, Any]:
        """The row, for machines."""
        return {
            **self._asdict(),
            "rates": [round(rate, 1) for rate in self.rates],
            "own_rates": [round(rate, 1) for rate in self.own_rates],
            "median": round(self.rate, 1),
            "met": self.met,
        }


class Benchmark(NamedTuple):
    """Something to measure: the fields as in `Measured`, and the work."""

    name: str
    unit: str
    bar: int | None
    setting: str
    work: Work

    def measure(self, repeated: int = REPEATED) -> Measured:
        """Do the work several times; raises MeasurementError if it does not do what it should."""
        runs: list[Run] = []
        while len(runs) < repeated and sum(run.seconds for run in runs) < ENOUGH_SECONDS:
            runs.append(self.work())
        amounts = {run.amount for run in runs}
        if len(amounts) != 1:
            raise MeasurementError(f"{self.name}: expected the same work each time, got {sorted(amounts)}")
        rates = tuple(run.amount / run.seconds for run in runs)
        own = tuple(run.amount / run.own_seconds for run in runs if run.own_seconds)
        return Measured(self.name, self.unit, self.bar, amounts.pop(), rates, own, self.setting)


def benchmarks() -> Iterator[Benchmark]:
    """All of them; the bars are those of the project's goals."""
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
"""What the bars speak of: the newest gate that aligns."""


def _walks_in_process(pinned: Mapping[str, object], cases: int = 1000) -> Run:
    from conformance.adapters.bundled import bundled_adapter
    from conformance.cases.walks import LENGTH

    return _walked(bundled_adapter(), cases, pinned, length=LENGTH, batch=1)


def _walks_over_pipes(cases: int = 200) -> Run:
    command = own_process("conformance.cli", "serve", "impl")
    with ProcessAdapter(command, seconds=60) as adapter:
        adapter.hello()  # the start of the process is not what is measured
        return _walked(adapter, cases, ALIGNED, length=1000, batch=100)


def _walked(adapter: Adapter, cases: int, pinned: Mapping[str, object], *, length: int, batch: int) -> Run:
    from conformance.cases.walks import walks

    begun, own = time.perf_counter(), time.process_time()
    played, skipped = walks("gate", adapter, SEED, cases, length=length, batch=batch, pinned=pinned)
    seconds, own = time.perf_counter() - begun, time.process_time() - own
    if played.divergence is not None or played.stopped is not None or skipped:
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
    """TLC on the largest model of the manifest in which everything holds."""
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
