"""The pipeline: runs the flights job three times on Spark, and compares its committed output with the source.

The first run has no fault. In the second run a worker is killed while an alignment is in progress; in the
third run every sink is killed after a checkpoint was completed and before its notification.
Each run writes its event log into the build folder, for the part `trace`.
"""

import shutil
from collections.abc import Iterator
from typing import NamedTuple

from conformance.parts.result import Context, Finding, PartResult, verdict_of
from impl.config import RestartConfig
from impl.faults import FaultPlan, Point
from impl.job import JobResult, Progress
from impl.jobs import flights as main_job
from impl.jobs.flights_check import FlightsReport, check_flights
from impl.spark.session import spark_session

FOLDER = "pipeline"
QUICK_ROWS = 30_000


class Run(NamedTuple):
    """One of the three runs on Spark."""

    name: str
    faults: tuple[FaultPlan, ...]


RUNS = (
    Run("undisturbed", ()),
    Run("killed-while-aligning", (FaultPlan(Point.ALIGNMENT_IN_PROGRESS, occurrence=5),)),
    Run("killed-before-notification", (FaultPlan(Point.COMPLETION_STORED, occurrence=5),)),
)


def run(context: Context) -> PartResult:
    """Run all three runs in one Spark session, and check each output."""
    folder = context.build / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    csv = (
        main_job.first_flights(QUICK_ROWS, folder / "flights.csv")
        if context.quick
        else main_job.flights_csv()
    )
    findings: list[Finding] = []
    flights = kills = checkpoints = 0
    context.progress("starting Spark")
    with spark_session(main_job.MASTER, folder / "spark.log", "barrierspec-verify") as session:
        for number, planned in enumerate(RUNS):
            place = folder / planned.name
            result = main_job.run(
                place,
                context.seed + number,
                planned.faults,
                main_job.FlightsOptions(
                    csv=csv,
                    restarts=RestartConfig(),
                    on_progress=lambda at, name=planned.name: context.progress(described(name, at)),  # type: ignore[misc]
                    spark=session,
                ),
            )
            context.progress(f"{planned.name}: comparing the committed output with a batch computation")
            report = check_flights(place / "committed", csv)
            findings += _findings(planned, result, report)
            flights = report.expected
            kills += len(result.faults)
            checkpoints += len(result.checkpoints)
    exact = "output exact" if not findings else "output NOT exact"
    return PartResult(
        name="pipeline",
        verdict=verdict_of(tuple(findings)),
        bound=f"{flights:,} flights x {len(RUNS)} runs, {kills} kills, {checkpoints} checkpoints, {exact}",
        numbers={"flights": flights, "runs": len(RUNS), "kills": kills, "checkpoints": checkpoints},
        rules=("ONCE-02", "ONCE-03"),
        findings=tuple(findings),
    )


def described(name: str, progress: Progress) -> str:
    """The progress of a run, in one line."""
    checkpoint = f"checkpoint {progress.pending} in progress" if progress.pending is not None else "running"
    restarts = f", {progress.restarts} restarts" if progress.restarts else ""
    return (
        f"{name}: {progress.records:,} flights, {progress.records_per_second:,.0f} a second, "
        f"{checkpoint}, {progress.completed} completed{restarts}"
    )


def _findings(planned: Run, result: JobResult, report: FlightsReport) -> Iterator[Finding]:
    """Yield the defects of a run. A planned fault that was not injected is a finding, too."""
    again = f"barrierspec run --scenario {planned.name}"
    if not report.exact:
        yield Finding(
            "ONCE-03", f"{planned.name}: {report.describe().splitlines()[0]}", f"{report.describe()}\n{again}"
        )
    if len(result.faults) != len(planned.faults):
        line = f"{planned.name}: {len(result.faults)} of {len(planned.faults)} planned faults were injected"
        yield Finding(None, line, again)
    if not result.checkpoints:
        yield Finding(None, f"{planned.name}: no checkpoint was completed", again)
