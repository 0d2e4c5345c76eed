"""One attempt on the driver: one Spark barrier job, its workers, and the loop that handles their reports.

An attempt succeeds when every task has finished. It fails, for example, when a task reports an error, a
connection is lost (a killed worker), a heartbeat is missed (a stopped worker), the Spark job ends early, or
too many checkpoints have failed. Then the driver closes all connections and waits for the end of the Spark
job. It cancels a Spark job that does not end. Spark itself does not retry this barrier job.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, assert_never

from impl.config import ExecutionConfig
from impl.graph.plan import Plan, Role
from impl.graph.rescaling import by_stage
from impl.metrics import JobMetrics
from impl.spark.channels import messages
from impl.spark.channels.control_channel import Workers
from impl.spark.coordination.coordination import Coordination
from impl.spark.errors import AttemptFailedError, JobFailedError, SparkRuntimeError
from impl.spark.worker.worker import SparkTask
from impl.state import StateError, StateHandle, SupersededError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LONGEST_WAIT_SECONDS = 0.2
_PRIMARY_SECONDS = 0.3
"""If a task reports a lost connection, the driver waits this time for a report of the failure behind it."""
_GRACE_SECONDS = 30.0


@dataclass(slots=True)
class AttemptReport:
    """The progress and result of one attempt. Times: seconds from the start of the job; None: not reached.

    `restored`: the checkpoint from which it started; None for the beginning. `records`: the number of source
    records read in this attempt. `first_offset`: the number of source records read before the restored
    checkpoint. `failed` and `reason`: the time and the reason of its failure; None without a failure.
    """

    attempt: int
    restored: int | None
    started: float
    running: float | None = None
    first_record: float | None = None
    failed: float | None = None
    ended: float | None = None
    records: int = 0
    first_offset: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AttemptContext:
    """The objects of a job that all its attempts use."""

    spark: "SparkSession"
    plan: Plan
    coordination: Coordination
    execution: ExecutionConfig
    clock: Callable[[], float]
    """Returns the seconds since the start of the job."""
    metrics: JobMetrics


@dataclass(slots=True)
class _Seen:
    """The newest data from the workers' reports, by task."""

    at: dict[str, float] = field(default_factory=dict)
    """The time of the last report."""
    records: dict[str, int] = field(default_factory=dict)
    peers: dict[str, tuple[str, int]] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)


class Attempt:
    """Runs the Spark job of one attempt, and handles its workers' reports until the attempt has ended."""

    def __init__(
        self,
        context: AttemptContext,
        report: AttemptReport,
        workers: Workers,
        states: Mapping[str, StateHandle],
    ) -> None:
        self._context = context
        self._coordination = context.coordination
        self._metrics = context.metrics
        self._report = report
        self._workers = workers
        self._states = states
        self._tasks = context.plan.ids()
        self._sources = context.plan.of_role(Role.SOURCE)
        self._seen = _Seen()
        self._tag = f"barrierspec-attempt-{report.attempt}"
        self._job_ended = threading.Event()
        self._job_error: BaseException | None = None

    def run(self, task: SparkTask, watch: Callable[[], None]) -> None:
        """Run to the end of the attempt. `watch`: called several times a second.

        Raises `AttemptFailedError`, `JobFailedError` if no restart helps, or `SupersededError`.
        """
        job = threading.Thread(target=self._spark_job, args=(task,), name=self._tag, daemon=True)
        job.start()
        grace = 1.0
        try:
            self._serve(watch)
            grace = _GRACE_SECONDS
        except (SparkRuntimeError, StateError) as failed:
            self._report.failed = self._context.clock()
            if isinstance(failed, JobFailedError):
                self._report.reason = str(failed)
                self._coordination.fail_attempt(str(failed))
            if isinstance(failed, SparkRuntimeError | SupersededError):
                raise
            raise AttemptFailedError(f"the storage failed: {failed}") from failed
        finally:
            self._workers.close()
            self._end_spark_job(job, grace)
            self._report.ended = self._context.clock()

    # ------------------------------------------------------------ the Spark job

    def _spark_job(self, task: SparkTask) -> None:
        count = len(self._tasks)
        try:
            self._name_spark_job()
            frame = self._context.spark.range(0, count, 1, count)
            frame.mapInArrow(task, "id long", barrier=True).collect()
        except Exception as error:  # noqa: BLE001 - reported as the reason of the attempt's failure
            self._job_error = error
        finally:
            self._job_ended.set()

    def _end_spark_job(self, job: threading.Thread, grace: float) -> None:
        """Wait for the tasks, which return when their connections close. Cancel the job if a task hangs."""
        if not self._job_ended.wait(grace):
            context = self._spark_context()
            if context is not None:
                context.cancelJobGroup(self._tag)
            else:
                self._context.spark.interruptTag(self._tag)
        job.join()

    def _name_spark_job(self) -> None:
        """Give the Spark job of this thread a job group or a tag, by which it can be cancelled."""
        context = self._spark_context()
        if context is not None:
            context.setJobGroup(self._tag, self._context.plan.name, interruptOnCancel=True)
        else:
            self._context.spark.addTag(self._tag)

    def _spark_context(self) -> Any:  # noqa: ANN401 - None with Spark Connect
        return getattr(self._context.spark, "sparkContext", None)

    # ------------------------------------------------------------ serving the workers

    def _serve(self, watch: Callable[[], None]) -> None:
        give_up = time.monotonic() + self._context.execution.startup_timeout_ms / 1_000
        while len(self._seen.finished) < len(self._tasks):
            received = self._workers.receive(min(self._coordination.tick(), _LONGEST_WAIT_SECONDS))
            while received is not None:
                self._handle(*received)
                received = self._workers.receive(0)
            self._require_alive(give_up)
            watch()

    def _handle(self, task: str, report: messages.Report) -> None:
        self._seen.at[task] = time.monotonic()
        match report:
            case messages.Heartbeat(records, buffered, load):
                self._count(task, records)
                self._metrics.alive(task, records, buffered, load)
            case messages.Acknowledged(state, measures):
                self._metrics.acknowledged(task, state.checkpoint, measures)
                self._coordination.acknowledge(task, state, measures)
            case messages.Declined(checkpoint, reason, cause):
                self._coordination.decline(task, checkpoint, reason, cause)
            case messages.DataEnded():
                self._coordination.end_of_data(task)
            case messages.Finished(records, load):
                self._count(task, records)
                self._metrics.finished(task, records, load)
                self._seen.finished.add(task)
            case messages.Running():
                self._coordination.running(task)
                if self._coordination.all_running:
                    self._report.running = self._context.clock()
            case messages.Failed(secondary=secondary):
                primary = _primary_failure(self._workers, task) if secondary else None
                raise primary or _failure_of(task, report)
            case messages.Registered(host, port):
                self._seen.peers[task] = (host, port)
                if len(self._seen.peers) == len(self._tasks):
                    self._deploy()
            case messages.Disconnected(reason):
                if task not in self._seen.finished:
                    raise AttemptFailedError(f"{task} is gone: {reason}")
            case messages.FaultReached():
                raise AttemptFailedError(
                    f"{task} has reached a fault point without a planned fault: a defect"
                )
            case _:
                assert_never(report)

    def _deploy(self) -> None:
        """Send every task the addresses of its downstream tasks and the states of its stage."""
        plan, before = self._context.plan, by_stage(self._states)
        passed = self._coordination.clock.passed_ms()
        for subtask in plan.subtasks():
            peers = {peer: self._seen.peers[peer] for peer in plan.downstream(subtask)}
            states = tuple(before.get(plan.stages[subtask.stage].name, ()))
            deploy = messages.DeployTask(peers, self._report.restored, states, passed)
            self._workers.send(subtask.id, deploy)

    def _count(self, task: str, records: int) -> None:
        self._seen.records[task] = records
        self._report.records = sum(self._seen.records.get(source, 0) for source in self._sources)
        if self._report.first_record is None and records and task not in self._sources:
            self._report.first_record = self._context.clock()

    def _require_alive(self, give_up: float) -> None:
        now, execution = time.monotonic(), self._context.execution
        if self._job_ended.is_set() and len(self._seen.finished) < len(self._tasks):
            raise AttemptFailedError(f"the Spark job ended before its tasks: {_first_line(self._job_error)}")
        missing = [task for task in self._tasks if task not in self._seen.peers]
        if missing and now > give_up:
            raise AttemptFailedError(
                f"{', '.join(missing)} did not register within {execution.startup_timeout_ms} ms"
            )
        for task in self._seen.peers:
            silent = now - self._seen.at[task] > execution.heartbeat_timeout_ms / 1_000
            if silent and task not in self._seen.finished:
                raise AttemptFailedError(
                    f"{task} sent no heartbeat for {execution.heartbeat_timeout_ms} ms: it hangs"
                )


def _failure_of(task: str, failed: messages.Failed) -> AttemptFailedError | JobFailedError:
    """The error for a failed task: JobFailedError if no restart helps, else AttemptFailedError."""
    reason = f"{task} failed: {failed.reason}"
    return JobFailedError(f"{reason}; no restart helps") if failed.final else AttemptFailedError(reason)


def _primary_failure(workers: Workers, reporter: str) -> AttemptFailedError | JobFailedError | None:
    """The failure that caused the lost connection of task `reporter`; None if no task reports it in time.

    All other reports are ignored, because the attempt has failed.
    """
    reporters = {reporter}
    until = time.monotonic() + _PRIMARY_SECONDS
    while (received := workers.receive(until - time.monotonic())) is not None:
        match received:
            case (task, messages.Failed(secondary=False) as failed):
                return _failure_of(task, failed)
            case (task, messages.Failed()):
                reporters.add(task)
            case (task, messages.Disconnected(reason)) if task not in reporters:
                return AttemptFailedError(f"{task} is gone: {reason}")
    return None


def _first_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines() if error is not None else []
    return lines[0][:300] if lines else "the error has no message"
