"""The life of a job on Spark: attempt after attempt, until one finishes or no restart is left."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from impl.config import CheckpointConfig, ExecutionConfig, RestartConfig
from impl.connectors.errors import ServerLostError
from impl.eventlog import EventLog, set_aside, tasks_of_last_attempt
from impl.faults import FaultLedger, FaultPlan
from impl.graph.plan import Plan
from impl.graph.rescaling import require_restorable
from impl.metrics import JobMetrics
from impl.savepoints import SavepointDesk
from impl.spark.channels.addresses import own_address
from impl.spark.channels.control_channel import Workers
from impl.spark.channels.handshake import new_secret
from impl.spark.coordination.attempt import Attempt, AttemptReport
from impl.spark.coordination.cleanup import Reclaiming
from impl.spark.coordination.coordination import Coordination
from impl.spark.coordination.job_start import begin_at, require_a_start
from impl.spark.errors import AttemptFailedError, JobFailedError
from impl.spark.results import JobPaths, JobResult, OnProgress, Progress, Start
from impl.spark.savepoints.savepoints import Savepoints
from impl.spark.session import refuse_unsupported, require_slots
from impl.spark.worker.launch import Launch
from impl.state import (
    CompletedCheckpoint,
    FileSystemStorage,
    SavepointFolder,
    StateHandle,
    StorageError,
    SupersededError,
    origin_of,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SWEEP_SECONDS = 60.0


def run_job(
    spark: "SparkSession",
    master: str,
    plan: Plan,
    checkpoints: CheckpointConfig,
    restarts: RestartConfig,
    execution: ExecutionConfig,
    paths: JobPaths,
    faults: Sequence[FaultPlan] = (),
    on_progress: OnProgress | None = None,
    start: Start = Start.ANEW,
    struck: Path | None = None,
    allow_non_restored_state: bool = False,
    from_savepoint: Path | None = None,
    desk: SavepointDesk | None = None,
) -> JobResult:
    """Run `plan` on `spark` until it has finished. `struck`: see `FaultLedger`; `desk`: for savepoints.

    Raises `TooFewSlotsError` and `UnsupportedSettingError` before anything is started, `ConfigError` for
    folders that do not fit (see `require_a_start`), `ConnectorError` for an output that cannot work, and
    `JobFailedError` when no restart is left. `SupersededError` leaves as soon as a newer attempt exists that
    is not this driver's: somebody has resumed the job, and nothing that this one still does counts.
    """
    refuse_unsupported(spark)
    require_slots(spark, len(plan.ids()), execution.startup_timeout_ms)
    storage = FileSystemStorage(paths.checkpoints)
    before = storage.newest_attempt() if start is Start.ANEW else None
    if from_savepoint is not None:
        begin_at(
            storage,
            SavepointFolder(from_savepoint),
            plan,
            again=start is Start.TAKEN_OVER,
            allow_non_restored_state=allow_non_restored_state,
        )
    known = storage.latest_completed().completed is not None
    require_a_start(
        storage,
        paths.checkpoints,
        plan,
        resume=_resumes(start, known=known),
        allow_non_restored_state=allow_non_restored_state,
    )
    for output in plan.outputs():
        output.prepare()
    log, continued = None, False
    if paths.events is not None:
        goes_on = start in (Start.RESUMED, Start.TAKEN_OVER)
        continued = goes_on and tasks_of_last_attempt(paths.events) == [*plan.ids()]
        if not continued:
            set_aside(paths.events)
        log = EventLog(paths.events, "coordinator", "coordinator", 0, continued=continued)
    ledger = FaultLedger(faults, struck)
    desk = desk or SavepointDesk()
    savepoints = Savepoints(desk, paths.savepoints, storage.lineage, plan, storage)
    coordination = Coordination(
        plan, checkpoints, storage, ledger, log, takes_over=continued, savepoints=savepoints
    )
    job = _Job(
        spark,
        master,
        plan,
        checkpoints,
        restarts,
        execution,
        paths,
        storage,
        ledger,
        coordination,
        on_progress,
        allow_non_restored_state,
        before,
    )
    try:
        return job.run_unless_superseded()
    except Exception as failed:
        savepoints.given_up(failed)
        raise
    finally:
        if log:
            log.close()


def _resumes(start: Start, *, known: bool) -> bool:
    return start in (Start.RESUMED, Start.SAVEPOINT) or (start is Start.TAKEN_OVER and known)


class _Job:
    """The attempts of one job."""

    def __init__(
        self,
        spark: "SparkSession",
        master: str,
        plan: Plan,
        checkpoints: CheckpointConfig,
        restarts: RestartConfig,
        execution: ExecutionConfig,
        paths: JobPaths,
        storage: FileSystemStorage,
        ledger: FaultLedger,
        coordination: Coordination,
        on_progress: OnProgress | None,
        allow_non_restored_state: bool,
        before: int | None,
    ) -> None:
        self._newest = before
        """The attempt behind which the next one is drawn; None: behind whichever is the newest."""
        self._allow_non_restored_state = allow_non_restored_state
        self._spark = spark
        self._host = own_address(master) or str(spark.conf.get("spark.driver.host"))
        self._plan = plan
        self._max_concurrent = checkpoints.max_concurrent_checkpoints
        self._mode = checkpoints.gate_mode
        self._patience_ms = checkpoints.aligned_checkpoint_timeout_ms
        self._inline_bytes = checkpoints.data_inline_threshold_bytes
        self._restarts = restarts
        self._execution = execution
        self._paths = paths
        self._storage = storage
        self._ledger = ledger
        self._coordination = coordination
        self._on_progress = on_progress
        self._reclaiming = Reclaiming(plan, storage, origin_of(storage))
        self._secret = new_secret()
        self._started = time.monotonic()
        self._attempts: list[AttemptReport] = []
        self._last_progress = (0.0, 0)
        self._swept = 0
        self._metrics = JobMetrics(paths.metrics)
        self._measured = 0

    def run_unless_superseded(self) -> JobResult:
        """Run to the end; whatever ends a driver that was superseded, `SupersededError` tells that it was."""
        try:
            return self._run()
        except SupersededError:
            raise
        except Exception as failed:
            if self._newest is not None:  # also of an attempt that failed before it had begun
                self._storage.require_newest(f"{type(failed).__name__}: {failed}", self._newest)
            raise

    def _run(self) -> JobResult:
        while not self._attempted():
            if len(self._attempts) > self._restarts.attempts:
                reasons = "; ".join(f"attempt {one.attempt}: {one.reason}" for one in self._attempts)
                raise JobFailedError(
                    f"job {self._plan.name!r} failed after {self._restarts.attempts} restarts: {reasons}. "
                    f"What its workers printed is in {self._paths.spark_log}"
                )
        savepoints = self._coordination.finish()
        return JobResult(
            name=self._plan.name,
            attempts=tuple(self._attempts),
            checkpoints=tuple(self._coordination.completions),
            aborted=tuple(self._coordination.aborted),
            refused=tuple(self._coordination.refused),
            faults=tuple(self._ledger.plans[number] for number in self._ledger.struck),
            records=self._attempts[-1].first_offset + self._attempts[-1].records,
            seconds=self._clock(),
            paths=self._paths,
            savepoints=savepoints,
        )

    def _attempted(self) -> bool:
        """As `_attempt`; a full disk, before or after the tasks run, fails the attempt and not the job."""
        before = len(self._attempts)
        try:
            return self._attempt()
        except StorageError as failed:
            if len(self._attempts) == before:  # it has not come to choosing its checkpoint
                number = self._attempts[-1].attempt + 1 if self._attempts else 1
                self._attempts.append(AttemptReport(number, None, self._clock()))
            report = self._attempts[-1]
            report.reason = f"the checkpoint folder failed: {failed}"
            report.failed = report.ended = self._clock()
        try:
            self._coordination.fail_attempt(report.reason)
        except StorageError as again:
            raise JobFailedError(
                f"job {self._plan.name!r} cannot go on: {again}; what it has committed stands, resume it then"
            ) from again
        return False

    def _attempt(self) -> bool:
        """Run one attempt; whether it finished the job."""
        number = self._newest = self._storage.new_attempt(after=self._newest)
        workers = Workers(self._host, self._secret, number, self._plan.ids())
        try:
            report, states = self._begin(number, workers)
        except BaseException:
            workers.close()
            raise
        if report.reason is not None:
            workers.close()
            self._coordination.fail_attempt(report.reason)
            return False
        launch = Launch(
            plan=self._plan,
            lineage=self._storage.lineage,
            attempt=number,
            host=workers.host,
            port=workers.port,
            secret=self._secret,
            execution=self._execution,
            max_concurrent=self._max_concurrent,
            mode=self._mode,
            alignment_timeout_ms=self._patience_ms,
            epoch=int(time.time() * 1_000),
            checkpoints=self._paths.checkpoints,
            inline_bytes=self._inline_bytes,
            events=self._paths.events,
        )
        attempt = Attempt(
            self._spark,
            self._plan,
            self._coordination,
            self._ledger,
            self._execution,
            report,
            self._clock,
            self._metrics,
        )
        try:
            attempt.run(launch, workers, states, lambda: self._watch(report))
        except AttemptFailedError as failed:
            report.reason = str(failed)
            self._coordination.fail_attempt(report.reason)
            return False
        return True

    def _begin(self, number: int, workers: Workers) -> tuple[AttemptReport, Mapping[str, StateHandle]]:
        """Choose the checkpoint, claim and clean the outputs; with a reason in the report it has failed."""
        if self._attempts:
            self._coordination.faults.restarting(self._paths.checkpoints)
        restored, states = self._coordination.begin_attempt(number, workers.say)
        if restored is not None:
            self._require_restorable(CompletedCheckpoint(restored, number, states))
        self._metrics.begin_attempt()
        report = AttemptReport(number, restored, self._clock())
        report.first_offset = sum(handle.offset or 0 for handle in states.values())
        self._attempts.append(report)
        try:
            self._reclaiming.begin(number, restored, states)
        except ServerLostError as lost:
            report.reason = str(lost)
            report.failed = self._clock()
        return report, states

    def _require_restorable(self, completed: CompletedCheckpoint) -> None:
        """Every time: an older checkpoint may be gone on from than was asked for at the start."""
        allow = self._allow_non_restored_state
        require_restorable(self._plan, completed, self._storage, allow_non_restored_state=allow)

    def _clock(self) -> float:
        return round(time.monotonic() - self._started, 3)

    def _watch(self, report: AttemptReport) -> None:
        completed = len(self._coordination.completions)
        for one in self._coordination.completions[self._measured :]:
            self._metrics.completed(one.checkpoint, one.attempt, one.duration_ms)
        self._measured = completed
        if completed > self._swept:
            if report.attempt > 1 and self._clock() - report.started < _SWEEP_SECONDS:
                # an ended attempt's worker may have pre-committed after the sweep at the restart
                try:
                    self._reclaiming.sweep(report.attempt)
                except ServerLostError as lost:
                    raise AttemptFailedError(str(lost)) from lost
            self._swept = completed
        if self._on_progress is None:
            return
        now = self._clock()
        before, records_before = self._last_progress
        if now - before < 0.2:
            return
        total = report.first_offset + report.records
        self._last_progress = (now, total)
        self._on_progress(
            Progress(
                seconds=now,
                attempt=report.attempt,
                running=report.running is not None,
                records=total,
                records_per_second=max(0, total - records_before) / (now - before),
                pending=self._coordination.pending,
                completed=completed,
                restarts=len(self._attempts) - 1,
                tasks=self._metrics.tasks,
            )
        )
