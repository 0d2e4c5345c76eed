"""Measures the validation of one log in one process: event logs with and without the cache, and Flink logs.

The rates are by processor time, because other programs may use the processors. A process caches steps of the
logs that it has validated, so the first validation of a log is measured in a new process. The ways to
validate an event log take turns, and must give the same result.
"""

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing import get_context
from pathlib import Path

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure, Report
from conformance.bench.logs import LOGS
from conformance.bench.recorded_job import recorded
from conformance.bench.runtime.scale import Scale
from conformance.observe import TraceResult, validate
from conformance.observe.cuts import validate_in_parts
from conformance.observe.cuts.joined import cuts_of
from conformance.observe.cuts.part import PartRange, validated
from conformance.observe.eventlog import find
from conformance.observe.run_state import Settings

EVENTS, LINES = 150_000, 100_000
"""Targets: events a second, and lines a second."""
TURNS = 7
ROWS = 1_200_000
"""The number of rows of the recorded job, whose log has some 45,000 events."""
RECORDS, CHECKPOINTS = 2_400, 1_000
"""The numbers of records and checkpoints of the simulated run, which has some 29,000 events."""
QUIET_RECORDS, QUIET_CHECKPOINTS = 300, 800
"""The same for the run that is validated in two parts: its checkpoints start one after the other."""


def measure(folder: Path, scale: Scale) -> Report:
    """Measure the rates. Raises MeasurementError if a log is rejected, or its validations differ."""
    job = _Ways(recorded(folder, ROWS // scale.smaller))
    simulated = _Ways(_simulated(folder / "simulated"))
    for _ in range(TURNS):
        job.measure()
        simulated.measure()
    lines = _lines("flink-2.2.1.log.gz")
    info = _lines("info/flink-2.2.1-info.log.gz")
    replayed, modelled = [], []
    for _ in range(TURNS):
        replayed.append(_rate(len(lines), lambda: _validated(lines)))
        modelled.append(_rate(len(lines), lambda: _validated(lines, remember=False)))
    watched = [_rate(len(info), lambda: _watched(info)) for _ in range(TURNS)]
    shares = _shares(folder / "quiet")
    figures = [
        Figure("event log of a job, for the first time in a process", "events/s", job.first, EVENTS),
        Figure("event log of a job, again in the same process", "events/s", job.again),
        Figure("event log of a job, every step by the model", "events/s", job.plain),
        Figure("event log of a simulated run, for the first time in a process", "events/s", simulated.first),
        Figure("event log of a simulated run, every step by the model", "events/s", simulated.plain),
        Figure(
            "event log in 2 parts, the sequential validation compared with the longer part", "times", shares
        ),
        Figure("Flink log at DEBUG, parsed and replayed", "lines/s", replayed, LINES),
        Figure("Flink log at DEBUG, every step by the model", "lines/s", modelled),
        Figure("Flink log at INFO, watched", "lines/s", watched, LINES),
    ]
    setting = (
        f"One process validates the event log of a job on Spark ({job.events:,} events), that of a simulated "
        f"run with two checkpoints at once and many aborts ({simulated.events:,} events), and real logs of "
        f"Flink 2.2.1 at DEBUG ({len(lines):,} lines) and at INFO ({len(info):,} lines). Rates are by "
        "processor time"
    )
    return Report("validation", "Validation of one log", setting, figures)


class _Ways:
    """Measures the ways to validate one event log: first, again in the same process, without the cache."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._expected = validate(log, required=(), remember=False)
        if self._expected.rejection is not None:
            raise MeasurementError(self._expected.describe())
        self.events = self._expected.events
        self.first: list[float] = []
        self.again: list[float] = []
        self.plain: list[float] = []

    def measure(self) -> None:
        """Validate the log in each way. Raises MeasurementError if the results differ."""
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as new:
            for rates in (self.first, self.again):
                seconds, result = new.submit(_timed, self._log).result()
                if result != self._expected:
                    raise MeasurementError(f"{self._log}: remembered steps give {result.describe()}")
                rates.append(self.events / seconds)
        self.plain.append(_rate(self.events, lambda: validate(self._log, required=(), remember=False)))


def _timed(log: Path) -> tuple[float, TraceResult]:
    """Validate a log. Returns the processor seconds, and the result."""
    begun = time.process_time()
    result = validate(log, required=())
    return time.process_time() - begun, result


def _shares(folder: Path) -> list[float]:
    """Ratios of the processor time of a sequential validation to that of the longer one of two parts."""
    log = _run(
        folder, seed=9, records=QUIET_RECORDS, checkpoints=QUIET_CHECKPOINTS, checkpoint_every=0,
    )  # fmt: skip
    cuts = cuts_of(find(log), Settings(), 2)
    if not cuts:
        raise MeasurementError(f"{log}: expected a completed checkpoint at which it can be cut")
    parts = [PartRange(log, Settings(), None, cuts[0]), PartRange(log, Settings(), cuts[0], None)]
    if validate_in_parts(log, 2, required=()) != validate(log, required=()):
        raise MeasurementError(f"{log}: expected the result of the sequential validation from two parts")
    shares = []
    for _ in range(TURNS):
        sequential = _seconds(lambda: validate(log, required=()))
        shares.append(sequential / max(_seconds(partial(validated, part)) for part in parts))
    return shares


def _simulated(folder: Path) -> Path:
    """Make the event log of a simulated run: five tasks, one failure, two checkpoints at once."""
    return _run(
        folder, seed=3, records=RECORDS, fail_at=(2_000,), max_concurrent=2, checkpoint_every=12,
        checkpoints=CHECKPOINTS,
    )  # fmt: skip


def _run(folder: Path, **options: object) -> Path:
    """Run the simulated run of the tests with these options. Returns its event log."""
    shutil.rmtree(folder, ignore_errors=True)
    spec = spec_from_file_location("simulated_run", LOGS.parent / "simulated_run.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    log: Path = module.SimulatedRun(folder, **options).execute()
    return log


def _rate(amount: int, work: Callable[[], TraceResult | None]) -> float:
    return amount / _seconds(work)


def _seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _lines(name: str) -> list[str]:
    from conformance.observe.flink import read_lines

    return read_lines(str(LOGS / name))


def _validated(lines: list[str], *, remember: bool = True) -> None:
    from conformance.observe.flink import validate_flink

    result = validate_flink(lines, remember=remember)
    if result.rejection is not None:
        raise MeasurementError(result.describe())


def _watched(lines: list[str]) -> None:
    from conformance.observe.monitor.growing import Text
    from conformance.observe.monitor.monitor import Monitor

    monitor = Monitor(_silent, _silent)
    for number, line in enumerate(lines, 1):
        monitor.read(Text("job.log", number, line))
    if monitor.alarms:
        raise MeasurementError("a healthy log has raised an alarm")


def _silent(found: object) -> None:
    del found
