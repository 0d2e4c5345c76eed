"""Measures the time from when a record is due until it is in committed output, at a fixed rate.

The first row of a source is due at its start, and each further row after the interval of the rate. So a
source that falls behind does not shorten the latency. A word occurs only in the files of one source, so the
n-th row of a word is known. It is visible when an update of the word that counts n rows or more is committed:
at the time at which the update's file, or our manifest of the file, got its last name.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure
from conformance.bench.flink_comparison import rows
from conformance.bench.flink_comparison.contestants import (
    FLINK,
    MEMORY,
    MINI_BATCH,
    OURS,
    SQL,
    STREAM,
    Contestant,
)
from conformance.bench.flink_comparison.runs import Runs
from conformance.bench.flink_comparison.turns import Turns
from conformance.bench.runtime.word_counts import ARROW, KEYS, ROW
from impl.connectors import read_committed
from impl.connectors.manifests import list_committed

RATE: Final = 50_000.0
SECONDS: Final = 15.0
WARM_SECONDS: Final = 4.0
"""Rows that are due in this time from the start are not counted, nor those of the last second."""
SOURCES: Final = 2
SHARES: Final = (50, 99)
"""The percentiles that are reported."""
_NANOSECONDS: Final = 1e9
MEASURED: Final = (
    Contestant("Arrow batch API", OURS, ARROW, MEMORY, 0, 0),
    Contestant("row API", OURS, ROW, MEMORY, 0, 0),
    Contestant("Flink SQL", FLINK, SQL, MEMORY, 0, 0),
    Contestant("Flink SQL with mini-batch", FLINK, MINI_BATCH, MEMORY, 0, 0),
    Contestant("Flink DataStream in Java", FLINK, STREAM, MEMORY, 0, 0),
)
Times = npt.NDArray[np.float64]


class Update:
    """The updates of one commit. `at`: its time in seconds since the epoch. `counts`: by word, the count."""

    def __init__(self, at: float, table: pa.Table) -> None:
        self.at = at
        self.counts = dict(zip(table["word"].to_pylist(), table["count"].to_pylist(), strict=True))


def latencies(runs: Runs, turns: Turns, *, smaller: int = 1) -> Iterator[Figure]:
    """Yield the median and the 99th percentile of each contestant in one run. Raises MeasurementError."""
    seconds = SECONDS if smaller == 1 else WARM_SECONDS + 3
    for one in MEASURED:
        if one.name not in turns.latencies:
            source = paced_files(runs.folder, int(RATE * seconds))
            _, _, output = runs.run_on(source, one, RATE)
            taken = of_run(one, source, output)
            shares = [float(np.percentile(taken, share)) for share in SHARES]
            turns.add_latency(one.name, [*shares, float(taken.size)])
        *shares, records = turns.latencies[one.name]
        for share, value in zip(SHARES, shares, strict=True):
            name = f"latency of a record to committed output, {one.name}, p{share}"
            yield Figure(name, "ms", [value], note=f"{records:,.0f} records")


def of_run(one: Contestant, source: Path, output: Path) -> Times:
    """The latencies in ms of the counted rows of a run. Raises MeasurementError if a row is missing."""
    words = [pq.read_table(file)["word"].to_pylist() for file in sorted(source.glob("*.parquet"))]
    parts = [[word for file in words[part::SOURCES] for word in file] for part in range(SOURCES)]
    begun = _begun(output)
    updates = _of_flink(output) if one.kind == FLINK else _of_ours(output)
    due = [begun[part] + np.arange(len(rows_)) / (RATE / SOURCES) for part, rows_ in enumerate(parts)]
    visible = visible_times(parts, sorted(updates, key=lambda update: update.at))
    last = min(times[-1] for times in due) - 1
    first = max(times[0] for times in due) + WARM_SECONDS
    counted = [(times >= first) & (times < last) for times in due]
    taken = np.concatenate(
        [(seen - times)[mask] for seen, times, mask in zip(visible, due, counted, strict=True)]
    )
    return taken * 1e3


def visible_times(parts: list[list[str]], updates: list[Update]) -> list[Times]:
    """For each row of each source, the time at which it became visible.

    `parts`: the words of each source. `updates`: sorted by time. Raises MeasurementError if a row never
    became visible.
    """
    seen: dict[str, list[float]] = {}
    for update in updates:
        for word, count in update.counts.items():
            times = seen.setdefault(word, [])
            times.extend([update.at] * (count - len(times)))
    found = []
    for part in parts:
        used: dict[str, int] = {}
        times_of_part = np.empty(len(part))
        for number, word in enumerate(part):
            nth = used.get(word, 0)
            if nth >= len(seen.get(word, ())):
                raise MeasurementError(f"row {nth + 1} of {word} is not in committed output")
            times_of_part[number] = seen[word][nth]
            used[word] = nth + 1
        found.append(times_of_part)
    return found


def paced_files(folder: Path, rows_: int) -> Path:
    """The folder of two Parquet files, made unless it exists: one has the even words, one the odd words."""
    made = folder / f"paced-{rows_}"
    if (made / "_whole").exists():
        return made
    made.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(20261127)
    halves = [pa.array([f"word-{number:06d}" for number in range(part, KEYS, 2)]) for part in range(SOURCES)]
    for number, words in enumerate(halves):
        here = rows_ // SOURCES
        pq.write_table(
            pa.table(
                {
                    "word": words.take(pa.array(draw.integers(0, len(words), here))),
                    "value": draw.integers(0, 1_000, here),
                }
            ),
            made / f"{number:05d}.parquet",
        )
    (made / "_whole").touch()
    return made


def _begun(output: Path) -> list[float]:
    """The time at which the first row of each source was due, in seconds, from the source's file."""
    folder = output.with_suffix(".begun")
    return [float((folder / f"begun-{part}").read_text()) / _NANOSECONDS for part in range(SOURCES)]


def _of_flink(output: Path) -> Iterator[Update]:
    for file in rows.committed_files(output / "committed"):
        yield Update(file.stat().st_ctime_ns / _NANOSECONDS, rows.updates(file))


def _of_ours(output: Path) -> Iterator[Update]:
    for manifest in list_committed(output / "committed"):
        at = (output / "committed" / "manifests" / manifest.file).stat().st_ctime_ns / _NANOSECONDS
        if manifest.rows:
            yield Update(at, read_committed(output / "committed", only=[manifest]))
