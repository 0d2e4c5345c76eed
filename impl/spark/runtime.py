"""A job on Spark: one attempt after the other, until an attempt finishes the job or no restart is left."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from impl.config import JobConfig
from impl.connectors.errors import ServerLostError
from impl.core.coordinator.job import CANCELED, FAILED, FINISHED, SUSPENDED
from impl.eventlog import EventLog, set_aside, tasks_of_last_attempt
from impl.graph.plan import Plan
from impl.graph.rescaling import require_restorable
from impl.metrics import JobMetrics
from impl.monitoring.job_monitor import FollowedJob
from impl.monitoring.wall_clock import wall_seconds
from impl.savepoints import SavepointRequests
from impl.spark.channels.addresses import own_address
from impl.spark.channels.control_channel import Workers
from impl.spark.channels.handshake import Credentials, new_secret
from impl.spark.coordination.attempt import Attempt, AttemptContext, AttemptReport
from impl.spark.coordination.checkpoint_publisher import CheckpointPublisher
from impl.spark.coordination.context import JobContext
from impl.spark.coordination.coordination import Coordination
from impl.spark.coordination.job_start import require_a_start, start_from_savepoint
from impl.spark.coordination.output_cleanup import OutputCleanup
from impl.spark.errors import AttemptFailedError, JobCancelledError, JobFailedError, JobSuspendedError
from impl.spark.job_result import JobResult
from impl.spark.run_settings import JobPaths, Progress, RunSettings, Start
from impl.spark.savepoints.job_savepoints import Savepoints
from impl.spark.session import refuse_unsupported, require_slots
from impl.spark.worker.launch import Launch
from impl.spark.worker.worker import SparkTask
from impl.state import (
    CheckpointStorage,
    CompletedCheckpoint,
    StateHandle,
    StorageError,
    SupersededError,
    checkpoints_at,
    origin_of,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STATUS: Mapping[type[Exception], str] = {
    JobFailedError: FAILED,
    JobCancelledError: CANCELED,
    JobSuspendedError: SUSPENDED,
}
"""Maps the type of an error to the final status of the job."""
_SWEEP_SECONDS = 60.0
_PROGRESS_SECONDS = 0.2


class RuntimeFactory:
    """Makes the objects of the runtime for which `impl.spark.faults` has subclasses."""

    def publisher(self, context: JobContext, savepoints: Savepoints) -> CheckpointPublisher:
        """The object that publishes and deletes the checkpoints. Called once."""
        return CheckpointPublisher(context.storage, savepoints, context.plan.max_parallelism)

    def workers(self, host: str, credentials: Credentials, tasks: tuple[str, ...]) -> Workers:
        """The control connections of the next attempt."""
        return Workers(host, credentials, tasks)

    def task(self, launch: Launch) -> SparkTask:
        """The function that an attempt's Spark job runs in each worker."""
        return SparkTask(launch)

    def close(self) -> None:
        """Do nothing. Called when the job has ended."""


def run_job(
    spark: "SparkSession",
    master: str,
    plan: Plan,
    config: JobConfig,
    paths: JobPaths,
    settings: RunSettings,
    factory: RuntimeFactory,
) -> JobResult:
    """Run `plan` on `spark` until it has finished.

    Before the first attempt, raises `TooFewSlotsError`, `UnsupportedSettingError`, the errors of
    `start_from_savepoint` and `require_a_start`, and `ConnectorError` for an output that cannot work. Later,
    raises `JobCancelledError` or `JobSuspendedError` if a user ends the job, and `JobFailedError` when no
    restart is left or an abort cannot be stored. Raises `SupersededError` when another driver has begun a
    newer attempt of the job. After that no action of this driver has an effect.
    """
    refuse_unsupported(spark)
    require_slots(spark, len(plan.ids()), config.execution.startup_timeout_ms)
    storage = checkpoints_at(paths.checkpoints)
    newest = _followed(storage, settings)
    _prepare(storage, plan, paths, settings)
    if settings.from_savepoint is not None:
        newest = _followed(storage, settings)  # `_prepare` has drawn an attempt for the savepoint
    log, continued = None, False
    if paths.events is not None:
        same_tasks = tasks_of_last_attempt(paths.events) == [*plan.ids()]
        continued = same_tasks and settings.start in (Start.RESUMED, Start.TAKEN_OVER)
        if not continued:
            set_aside(paths.events)
        log = EventLog(paths.events, "coordinator", "coordinator", 0, continued=continued)
    context = JobContext(plan, config.checkpoints, storage, log)
    requests = settings.requests or SavepointRequests()
    savepoints = Savepoints(requests, paths.savepoints, storage.lineage, plan, storage)
    coordination = Coordination(context, factory.publisher(context, savepoints), takes_over=continued)
    host = own_address(master) or str(spark.conf.get("spark.driver.host"))
    job = _Job(_Run(spark, host, config, paths, settings, factory), plan, storage, coordination, newest)
    try:
        result = job.run_unless_superseded()
    except Exception as failed:
        if settings.monitor is not None:
            settings.monitor.ended(_status_of(failed), str(failed))
        savepoints.failed(failed)
        raise
    finally:
        factory.close()
        if log:
            log.close()
    if settings.monitor is not None:
        settings.monitor.ended(FINISHED)
    return result


def _status_of(error: Exception) -> str:
    """The final status of a job that has ended with `error`; SUSPENDED if another driver continues it."""
    return SUSPENDED if isinstance(error, SupersededError) else _STATUS.get(type(error), FAILED)


def _followed(storage: CheckpointStorage, settings: RunSettings) -> int | None:
    """The attempt that must still be the newest when this run draws its first attempt; None: no condition.

    Raises `SupersededError` if this run replaces a killed driver, but another run has drawn a newer attempt
    than that driver.
    """
    newest = storage.newest_attempt()
    if settings.start is Start.ANEW:
        return newest
    if settings.start is not Start.TAKEN_OVER or settings.follows is None:
        return None
    if newest > settings.follows and storage.owner_of(newest) != settings.owner:
        raise SupersededError.of(
            "replacing a driver that has died", settings.follows, newest, str(storage.location)
        )
    return newest


def _prepare(storage: CheckpointStorage, plan: Plan, paths: JobPaths, settings: RunSettings) -> None:
    """Check the folders and the outputs.

    Raises the errors of `start_from_savepoint` and `require_a_start`, and `ConnectorError` for an output that
    cannot work.
    """
    allow, start = settings.allow_non_restored_state, settings.start
    start_from_savepoint(storage, plan, settings)
    known = storage.latest_completed().completed is not None
    resume = start in (Start.RESUMED, Start.SAVEPOINT) or (start is Start.TAKEN_OVER and known)
    require_a_start(storage, paths.checkpoints, plan, resume=resume, allow_non_restored_state=allow)
    for output in plan.outputs():
        output.prepare()


@dataclass(frozen=True, slots=True)
class _Run:
    """The data that all attempts of one run share."""

    spark: "SparkSession"
    host: str
    """The address by which workers reach this process."""
    config: JobConfig
    paths: JobPaths
    settings: RunSettings
    factory: RuntimeFactory


class _Job:
    """The attempts of one job."""

    def __init__(
        self,
        run: _Run,
        plan: Plan,
        storage: CheckpointStorage,
        coordination: Coordination,
        newest: int | None,
    ) -> None:
        self._newest = newest
        """The attempt that must be the newest when the next attempt is drawn; None: no condition."""
        self._run_context = run
        self._plan = plan
        self._config = run.config
        self._paths = run.paths
        self._storage = storage
        self._coordination = coordination
        self._cleanup = OutputCleanup(plan, storage, origin_of(storage))
        self._secret = new_secret()
        self._started = time.monotonic()
        self._attempts: list[AttemptReport] = []
        self._last_progress = (0.0, 0)
        self._swept = 0
        self._metrics = JobMetrics(run.paths.metrics)
        self._measured = 0
        if (monitor := run.settings.monitor) is not None:
            started_ms, tracker = int(wall_seconds() * 1_000), coordination.tracker
            monitor.follow(FollowedJob(storage.lineage, started_ms, self._attempts, tracker, self._metrics))

    def run_unless_superseded(self) -> JobResult:
        """Run to the end of the job. If a newer attempt exists, raises `SupersededError` for every error."""
        try:
            return self._run()
        except SupersededError:
            raise
        except Exception as failed:
            if self._newest is not None:  # set when an attempt is drawn, even if the attempt has not begun
                self._storage.require_newest(f"{type(failed).__name__}: {failed}", self._newest)
            status = _STATUS.get(type(failed))
            if status is not None and (left := self._coordination.job_ended(status)):
                failed.add_note(f"files are left that are not retained: {left}")
            raise

    def _run(self) -> JobResult:
        restarts = self._config.restarts.attempts
        while not self._attempted():
            if len(self._attempts) > restarts:
                reasons = "; ".join(f"attempt {one.attempt}: {one.reason}" for one in self._attempts)
                raise JobFailedError(
                    f"job {self._plan.name!r} failed after {restarts} restarts: {reasons}. "
                    f"The output of its workers is in {self._paths.spark_log}"
                )
        savepoints, not_cleaned = self._coordination.finish()
        return JobResult(
            name=self._plan.name,
            attempts=tuple(self._attempts),
            checkpoints=tuple(self._coordination.completions),
            aborted=tuple(self._coordination.aborted),
            refused=tuple(self._coordination.refused),
            records=self._attempts[-1].first_offset + self._attempts[-1].records,
            seconds=self._clock(),
            paths=self._paths,
            savepoints=savepoints,
            not_cleaned=not_cleaned,
        )

    def _attempted(self) -> bool:
        """Run one attempt. Returns whether it finished the job.

        A storage error, such as a full disk, fails the attempt. If the storage fails again at the abort of
        the attempt, raises `JobFailedError`.
        """
        before = len(self._attempts)
        try:
            return self._attempt()
        except StorageError as failed:
            if len(self._attempts) == before:  # the attempt has failed before it had a report
                number = self._attempts[-1].attempt + 1 if self._attempts else 1
                self._attempts.append(AttemptReport(number, None, self._clock()))
            report = self._attempts[-1]
            report.reason = f"the storage failed: {failed}"
            report.failed = report.ended = self._clock()
        try:
            self._coordination.fail_attempt(report.reason)
        except StorageError as again:
            raise JobFailedError(
                f"job {self._plan.name!r} cannot continue: {again}; its committed output is intact, resume it"
            ) from again
        return False

    def _attempt(self) -> bool:
        """Run one attempt. Returns whether it finished the job."""
        run = self._run_context
        number = self._newest = self._storage.new_attempt(self._newest, run.settings.owner)
        workers = run.factory.workers(run.host, Credentials(self._secret, number), self._plan.ids())
        try:
            report, states = self._begin(number, workers)
        except BaseException:
            workers.close()
            raise
        if report.reason is not None:
            workers.close()
            self._coordination.fail_attempt(report.reason)
            return False
        context = AttemptContext(
            run.spark, self._plan, self._coordination, self._config.execution, self._clock, self._metrics
        )
        attempt = Attempt(context, report, workers, states)
        try:
            attempt.run(run.factory.task(self._launch(number, workers)), lambda: self._watch(report))
        except AttemptFailedError as failed:
            report.reason = str(failed)
            self._coordination.fail_attempt(report.reason)
            return False
        return True

    def _launch(self, attempt: int, workers: Workers) -> Launch:
        checkpoints = self._config.checkpoints
        return Launch(
            plan=self._plan,
            lineage=self._storage.lineage,
            credentials=Credentials(self._secret, attempt),
            driver=(workers.host, workers.port),
            execution=self._config.execution,
            max_concurrent=checkpoints.max_concurrent_checkpoints,
            mode=checkpoints.gate_mode,
            alignment_timeout_ms=checkpoints.aligned_checkpoint_timeout_ms,
            checkpoints=self._paths.checkpoints,
            inline_bytes=checkpoints.data_inline_threshold_bytes,
            events=self._paths.events,
        )

    def _begin(self, number: int, workers: Workers) -> tuple[AttemptReport, Mapping[str, StateHandle]]:
        """Choose the checkpoint, claim and clean the outputs; returns the report and the handles by task.

        If the connection to a database server is lost, the report has the reason.
        """
        restored, states = self._coordination.begin_attempt(number, workers.send)
        if restored is not None:  # checked in each attempt: the checkpoint may be older than the last one
            require_restorable(
                self._plan,
                CompletedCheckpoint(restored, number, states),
                self._storage,
                allow_non_restored_state=self._run_context.settings.allow_non_restored_state,
            )
        self._metrics.begin_attempt()
        report = AttemptReport(number, restored, self._clock())
        report.first_offset = sum(handle.offset or 0 for handle in states.values())
        self._attempts.append(report)
        try:
            self._cleanup.begin(number, restored, states)
        except ServerLostError as lost:
            report.reason = str(lost)
            report.failed = self._clock()
        return report, states

    def _clock(self) -> float:
        return round(time.monotonic() - self._started, 3)

    def _watch(self, report: AttemptReport) -> None:
        if (monitor := self._run_context.settings.monitor) is not None:
            monitor.sample()
        completed = len(self._coordination.completions)
        for one in self._coordination.completions[self._measured :]:
            self._metrics.completed(one.checkpoint, one.attempt, one.duration_ms)
        self._measured = completed
        if completed > self._swept:
            if report.attempt > 1 and self._clock() - report.started < _SWEEP_SECONDS:
                # after the sweep at the restart, a worker of an ended attempt may still have pre-committed
                try:
                    self._cleanup.sweep(report.attempt)
                except ServerLostError as lost:
                    raise AttemptFailedError(str(lost)) from lost
            self._swept = completed
        on_progress = self._run_context.settings.on_progress
        if on_progress is None:
            return
        now = self._clock()
        before, records_before = self._last_progress
        if now - before < _PROGRESS_SECONDS:
            return
        total = report.first_offset + report.records
        self._last_progress = (now, total)
        on_progress(
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
