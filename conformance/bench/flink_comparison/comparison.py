"""`barrierspec bench --only flink`: the keyed aggregation on Flink, Structured Streaming and our runtime."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Final

import click

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure, Report
from conformance.bench.flink_comparison import rows
from conformance.bench.flink_comparison.contestants import (
    CONTESTANTS,
    FLINK,
    GOALS,
    MINI_BATCH,
    NATIVE,
    PYFLINK,
    Contestant,
)
from conformance.bench.flink_comparison.latency import RATE, latencies
from conformance.bench.flink_comparison.processes import SETTINGS, VERSION
from conformance.bench.flink_comparison.runs import (
    FILES_A_BATCH,
    INTERVAL_MS,
    ORDER_SECONDS,
    Runs,
    TooSlowError,
)
from conformance.bench.flink_comparison.turns import Sample, Turns, load
from conformance.bench.runtime import native, word_counts
from conformance.bench.runtime.scale import Scale
from impl.connectors.manifests import list_committed

TITLE: Final = "Keyed aggregation compared with Flink"


def measure(folder: Path, scale: Scale) -> Report:
    """Measure each contestant in every turn, then the latencies. Raises MeasurementError.

    Every output is compared with the exact answer.
    """
    contestants = tuple(one.smaller(scale.smaller) for one in CONTESTANTS)
    turns = Turns(folder / "flink" / "turns.jsonl", (contestants, SETTINGS, VERSION))
    until = time.monotonic() + scale.minutes * 60
    click.echo(
        f"  at most {scale.minutes:g} minutes of turns, {turns.resumed} runs are there already; after an "
        "interruption the same command continues",
        err=True,
    )
    with _running(folder) as runs:
        taken = _turns(runs, turns, contestants, until, scale.turns)
        figures = [*figures_of(turns), *latencies(runs, turns, smaller=scale.smaller)]
    return Report("flink", TITLE, _setting(turns, taken, runs.slow), figures,
                  raw={"samples": turns.samples, "slow": runs.slow})  # fmt: skip


def figures_of(turns: Turns) -> list[Figure]:
    """The ratios of the goals, then the rate and the processor time of each contestant."""
    figures = []
    for goal in GOALS:
        pairs = turns.pairs(goal.first, goal.second)
        if pairs:
            ratios = [one.rate / other.rate for one, other in pairs]
            figures.append(Figure(goal.name, "times as fast", ratios, goal.target))
    for one in CONTESTANTS:
        found = turns.of(one.name)
        valid = [sample for sample in found if sample.is_valid]
        if valid:
            figures.append(
                Figure(one.name, "M rows/s", [x.rate / 1e6 for x in valid], note=_note(found, valid))
            )
            figures.append(
                Figure(f"processor time, {one.name}", "s per M rows", [x.cpu_a_million for x in valid])
            )
    return figures


def _note(found: list[Sample], valid: list[Sample]) -> str:
    last = valid[-1]
    note = f"{last.rows[0]:,} and {last.rows[1]:,} rows; {last.checkpoints} checkpoints"
    note += f" in {last.seconds[1]:.1f} s"
    wrong = len(found) - len(valid)
    return note + (f"; {wrong} of {len(found)} excluded: the small run took longer" if wrong else "")


def _setting(turns: Turns, taken: int, slow: list[str]) -> str:
    busy = [one.load for one in turns.samples]
    late = f"; not within {ORDER_SECONDS:.0f} s: {', '.join(slow)}" if slow else ""
    batch = SETTINGS[MINI_BATCH]
    return (
        f"Each job counts and sums {word_counts.KEYS:,} words, with 2 subtasks of each operator and a "
        f"checkpoint every {INTERVAL_MS} ms, exactly-once. With a checkpoint it commits the newest update of "
        "each changed word, and each output was compared with the exact answer. The rate is that of the "
        "rows that a large run has more than a small one, so the start is not counted. The processes stay "
        f"from run to run, so that Java is warm. Flink {VERSION} is one Java process with "
        f"{SETTINGS['java']['heap']} of heap, two slots and object reuse. It reads the rows from binary "
        "files of eight bytes a row, which costs it less than the Parquet files that ours and Structured "
        "Streaming read. Its mini-batches have "
        f"{batch['table.exec.mini-batch.size']} rows or {batch['table.exec.mini-batch.allow-latency']}. "
        f"Structured Streaming has 4g of heap and {FILES_A_BATCH} files a micro-batch. The latency of a "
        f"record, in one run at {RATE:,.0f} rows/s, lasts from the time at which its source has to emit it "
        f"until the update that counts it is in committed output. {taken} whole turns{late}. Two runs are "
        "compared if the load of one is at most twice that of the other. The load was "
        f"{min(busy, default=0):.1f} to {max(busy, default=0):.1f}"
    )


@contextmanager
def _running(folder: Path) -> Iterator[Runs]:
    with ExitStack() as stack:
        yield Runs(folder.absolute() / "flink", stack)


def _turns(runs: Runs, turns: Turns, contestants: tuple[Contestant, ...], until: float, most: int) -> int:
    """Take at most `most` turns until the time `until`. Returns the number of whole turns.

    A contestant begins no run that would end too late if it took as long as its longest one.
    """
    longest: dict[str, float] = defaultdict(float)
    for turn in range(most):
        for one in contestants:
            began = time.monotonic()
            late = began + longest[one.name] > until
            if not late and not turns.has(one.name, turn) and one.name not in runs.slow:
                _take(runs, turns, one, turn)
                longest[one.name] = max(longest[one.name], time.monotonic() - began)
    return turns.whole([one.name for one in contestants if one.name not in runs.slow])


def _take(runs: Runs, turns: Turns, one: Contestant, turn: int) -> None:
    """Do the small and the large run of a contestant. Before its first turn it has a run to warm up."""
    seconds, cpu, committed = [], [], 0
    warm = [] if any(sample.name == one.name for sample in turns.samples[turns.resumed :]) else [one.small]
    try:
        for number, size in enumerate((*warm, one.small, one.large)):
            took, spent, output = runs.run(one, size)
            committed = _checked(one, output, word_counts.files(runs.folder, size))
            if number >= len(warm):
                seconds.append(took)
                cpu.append(spent)
    except TooSlowError:
        runs.slow.append(one.name)
        return
    sizes = (one.small, one.large)
    turns.add(
        Sample(one.name, turn, sizes, (seconds[0], seconds[1]), (cpu[0], cpu[1]), committed, round(load(), 1))
    )
    click.echo(f"  turn {turn + 1}, {one.name}: {turns.samples[-1].rate / 1e6:.2f} M rows/s", err=True)


def _checked(one: Contestant, output: Path, source: Path) -> int:
    """Compare the output with the exact answer. Returns the number of checkpoints with committed output.

    Raises MeasurementError if the output differs.
    """
    answers: dict[str, tuple[Callable[[Path], word_counts.Totals], Callable[[Path], int]]] = {
        NATIVE: (native.answer, lambda at: len(list(at.glob("batches/*")))),
        FLINK: (lambda at: rows.answer(at / "committed"), _checkpoints_of_flink),
        PYFLINK: (lambda at: rows.answer(at / "committed"), _checkpoints_of_flink),
    }
    answer, counted = answers.get(one.kind, (word_counts.answer, _checkpoints_of_ours))
    try:
        right = answer(output) == _exact(source)
    except ValueError as wrong:
        raise MeasurementError(f"{one.name}: {wrong}") from wrong
    if not right:
        raise MeasurementError(f"{one.name}: the output is not the exact answer; its speed is not reported")
    return counted(output)


@cache
def _exact(source: Path) -> word_counts.Totals:
    return word_counts.exact(source)


def _checkpoints_of_ours(output: Path) -> int:
    return len({one.checkpoint for one in list_committed(output / "committed")})


def _checkpoints_of_flink(output: Path) -> int:
    """The number of checkpoints: for each, each of the sink's two subtasks commits a file."""
    return -(-len(rows.committed_files(output / "committed")) // 2)
