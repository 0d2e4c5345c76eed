"""Whole jobs for the matrix: what each keeps while it is struck, by one round of torture.

A pipeline is no component and speaks no protocol; it is run with faults from a seed, and what it has
committed is classified.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.errors import InputError
from conformance.observe.guarantees.anomalies import Guarantee, Subject
from conformance.torture.judge import Outcome
from conformance.torture.local import MASTER, run_local
from conformance.torture.rounds import round_named
from conformance.torture.streaming import run_streaming, streaming_round
from conformance.torture.streaming_query import APPENDING, IDEMPOTENT
from conformance.verdict import Verdict
from impl.spark.session import spark_session


class PipelineError(InputError):
    """A table of a pipeline cannot be read; the message says what is expected."""


@dataclass(frozen=True)
class Pipeline:
    """A job to be struck."""

    name: str
    runs: str
    """One of RUNS."""
    keeps: Guarantee
    """What it is said to keep."""


@dataclass(frozen=True)
class Struck:
    """What came of one."""

    pipeline: Pipeline
    outcome: Outcome

    @property
    def verdict(self) -> Verdict:
        """DIVERGES if what it is said to keep is refuted, UNDETERMINED if it was not classified."""
        found = self.outcome.classification
        if found is None:
            return Verdict.UNDETERMINED
        return Verdict.DIVERGES if found.refutes(self.pipeline.keeps) else Verdict.CONFORMS

    def keeps(self, subject: Subject) -> str:
        """The strongest guarantee of state or output that the round has not refuted."""
        found = self.outcome.classification
        return found.of(subject).value if found is not None else "-"


def _runtime(mode: str) -> Callable[[int, Path], Outcome]:
    def run(seed: int, folder: Path) -> Outcome:
        with spark_session(MASTER, folder / "spark.log", "matrix") as spark:
            return run_local(round_named("round-0", seed, mode), folder / mode, spark)

    return run


def _streaming(sink: str) -> Callable[[int, Path], Outcome]:
    return lambda seed, folder: run_streaming(streaming_round(0, seed, sink), folder / sink)


RUNS: Mapping[str, Callable[[int, Path], Outcome]] = {
    "runtime": _runtime("exactly-once"),
    "runtime at-least-once": _runtime("at-least-once"),
    "structured-streaming": _streaming(IDEMPOTENT),
    "structured-streaming appending": _streaming(APPENDING),
}
"""By its name in the file; each takes a seed and a folder, and needs Spark."""


def pipelines(file: Path) -> list[Pipeline]:
    """Those of a file with a table `[[pipeline]]` each: `name`, `runs` and `keeps`. Raises PipelineError."""
    try:
        rows = tomllib.loads(file.read_text(encoding="utf-8")).get("pipeline", [])
        return [_pipeline(row) for row in rows]
    except (KeyError, TypeError, AttributeError, OSError, ValueError, RecursionError) as wrong:
        expected = f"expected tables [[pipeline]] with name, runs ({', '.join(RUNS)}) and keeps"
        raise PipelineError(f"{file}: {expected} ({', '.join(_KEPT)}), got {wrong!r}") from wrong


_KEPT = [one.value for one in Guarantee if one is not Guarantee.BROKEN]


def _pipeline(row: Mapping[str, Any]) -> Pipeline:
    if row["runs"] not in RUNS:
        raise ValueError(row["runs"])
    return Pipeline(str(row["name"]), row["runs"], Guarantee(row.get("keeps", Guarantee.EXACTLY_ONCE.value)))


def strike_all(chosen: list[Pipeline], seed: int, build: Path) -> Iterator[Struck]:
    """Each in turn, as it is done; what they write stays under `build`."""
    for number, one in enumerate(chosen):
        folder = build / f"pipeline-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        yield Struck(one, RUNS[one.runs](seed, folder))
