"""Runs the pipelines (whole jobs) that a file of `barrierspec matrix` lists, and judges their guarantees.

A pipeline is no component and has no adapter. Each pipeline runs for one round with faults from a seed. The
classifier then names the strongest guarantee that this round has not refuted.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.errors import InputError
from conformance.observe.guarantees.anomalies import Guarantee, Subject
from conformance.torture.judge import Outcome
from conformance.torture.local_round import MASTER, run_local
from conformance.torture.rounds import round_named, streaming_round
from conformance.torture.streaming import run_streaming
from conformance.torture.streaming_query import APPENDING, IDEMPOTENT
from conformance.verdict import Verdict
from impl.spark.session import spark_session


class PipelineError(InputError):
    """The file of pipelines cannot be read. The message states what is expected."""


@dataclass(frozen=True)
class Pipeline:
    """A job that is run with faults."""

    name: str
    runs: str
    """The implementation and sink: a key of RUNS."""
    keeps: Guarantee
    """The guarantee that the documentation of the pipeline states."""


@dataclass(frozen=True)
class Tortured:
    """The result for one pipeline."""

    pipeline: Pipeline
    outcome: Outcome

    @property
    def verdict(self) -> Verdict:
        """DIVERGES if the stated guarantee is refuted, UNDETERMINED if the output was not classified."""
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
"""Maps each name to a function that starts Spark and runs a round with a seed in a folder."""


def pipelines(file: Path) -> list[Pipeline]:
    """Read the pipelines in a file: a table `[[pipeline]]` for each, with `name`, `runs` and `keeps`.

    The default of `keeps` is exactly-once. Raises PipelineError if the file cannot be read.
    """
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


def torture_all(chosen: list[Pipeline], seed: int, build: Path) -> Iterator[Tortured]:
    """Run each pipeline and yield its result. The files stay under `build`."""
    for number, one in enumerate(chosen):
        folder = build / f"pipeline-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        yield Tortured(one, RUNS[one.runs](seed, folder))
