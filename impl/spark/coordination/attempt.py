"""One execution attempt on the driver: one Spark barrier job, its workers, and the loop that serves them.

An attempt ends well when every task has finished, and fails at the first of: a task reports an error, a
connection is lost (a killed worker), a heartbeat is missed (a hung one), the Spark job ends early, too many
checkpoints failed. Then everybody is hung up on, the Spark job is cancelled and waited for, and the
driver decides what comes next: Spark itself never retries a barrier job.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from impl.config import ExecutionConfig
from impl.faults import FaultLedger
from impl.graph.plan import Plan, Role
from impl.graph.rescaling import by_stage
from impl.metrics import JobMetrics
from impl.spark.channels.control_channel import Message, Workers
from impl.spark.coordination.coordination import Coordination
from impl.spark.errors import AttemptFailedError, JobFailedError
from impl.spark.worker.launch import Launch
from impl.spark.worker.worker import SparkTask
from impl.state import StateError, StateHandle, SupersededError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOK_AT_LEAST_EVERY = 0.2
_FIRST_HAND_SECONDS = 0.3
_PATIENCE_SECONDS = 30.0


@dataclass(slots=True)
class AttemptReport:
    """How one attempt went. Times are in seconds from the start of the job; None: not reached.

    `restored`: the checkpoint it started from, None for the beginning. `records`: source records read in
    this attempt, `first_offset`: those before what it restored. `failed` and `reason`: when it was noticed
    that it failed, and why; None if it did not.
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


@dataclass(slots=True)
class _Watch:
    """What is known of the workers by their own word."""

    heard: dict[str, float] = field(default_factory=dict)
    records: dict[str, int] = field(default_factory=dict)
    peers: dict[str, tuple[str, int]] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)


class Attempt:
    """Runs `launch` once as a Spark job and coordinates it until it has ended."""

    def __init__(
        self,
        spark: "SparkSession",
        plan: Plan,
        coordination: Coordination,
        ledger: FaultLedger,
        execution: ExecutionConfig,
        report: AttemptReport,
        clock: Callable[[], float],
        metrics: JobMetrics,
    ) -> None:
        self._spark = spark
        self._plan = plan
        self._tasks = plan.ids()
        self._sources = plan.of_role(Role.SOURCE)
        self._coordination = coordination
        self._ledger = ledger
        self._execution = execution
        self._report = report
        self._clock = clock
        self._metrics = metrics
        self._watch = _Watch()
        self._tag = f"barrierspec-attempt-{report.attempt}"
        self._job_ended = threading.Event()
        self._job_error: BaseException | None = None

    def run(
        self, launch: Launch, workers: Workers, states: Mapping[str, StateHandle], watch: Callable[[], None]
    ) -> None:
        """Run to the end; `watch` is called several times a second.

        Raises `AttemptFailedError` with the first reason, `SupersededError` if another driver has taken over.
        """
        job = threading.Thread(target=self._spark_job, args=(launch,), name=self._tag, daemon=True)
        job.start()
        patience = 1.0
        try:
            self._serve(workers, states, watch)
            patience = _PATIENCE_SECONDS
        except AttemptFailedError:
            self._report.failed = self._clock()
            raise
        except JobFailedError as final:
            self._report.failed = self._clock()
            self._report.reason = str(final)
            self._coordination.fail_attempt(str(final))
            raise
        except SupersededError:
            self._report.failed = self._clock()
            raise
        except StateError as failed:
            self._report.failed = self._clock()
            raise AttemptFailedError(f"the checkpoint folder failed: {failed}") from failed
        finally:
            workers.close()
            self._end_spark_job(job, patience)
            self._report.ended = self._clock()

    # ------------------------------------------------------------ the Spark job

    def _spark_job(self, launch: Launch) -> None:
        count = len(self._tasks)
        try:
            self._name_spark_job()
            frame = self._spark.range(0, count, 1, count)
            frame.mapInArrow(SparkTask(launch), "id long", barrier=True).collect()
        except Exception as error:  # noqa: BLE001 - kept, and reported as the reason of the attempt
            self._job_error = error
        finally:
            self._job_ended.set()

    def _end_spark_job(self, job: threading.Thread, patience: float) -> None:
        """Workers that were hung up on return at once; one that hangs is killed by Spark's cancellation."""
        if not self._job_ended.wait(patience):
            context = getattr(self._spark, "sparkContext", None)
            if context is not None:
                context.cancelJobGroup(self._tag)
            else:
                self._spark.interruptTag(self._tag)
        job.join()

    def _name_spark_job(self) -> None:
        """Make the job of this thread one that can be cancelled; tags reach jobs in Spark Connect only."""
        context = getattr(self._spark, "sparkContext", None)
        if context is not None:
            context.setJobGroup(self._tag, self._plan.name, interruptOnCancel=True)
        else:
            self._spark.addTag(self._tag)

    # ------------------------------------------------------------ serving the workers

    def _serve(self, workers: Workers, states: Mapping[str, StateHandle], watch: Callable[[], None]) -> None:
        give_up = time.monotonic() + self._execution.startup_timeout_ms / 1_000
        while len(self._watch.finished) < len(self._tasks):
            wait = min(self._coordination.tick(), _LOOK_AT_LEAST_EVERY)
            said = workers.hear(wait)
            while said is not None:
                self._take(workers, states, *said)
                said = workers.hear(0)
            self._require_alive(give_up)
            watch()

    def _take(self, workers: Workers, states: Mapping[str, StateHandle], task: str, message: Message) -> None:
        self._watch.heard[task] = time.monotonic()
        match message:
            case {"say": "alive", "records": int(records), "buffered": int(buffered)}:
                self._count(task, records)
                self._metrics.alive(task, records, buffered)
            case {"say": "acknowledge", "checkpoint": int(checkpoint), "state": state, "measures": measures}:
                self._metrics.acknowledged(task, checkpoint, measures)
                self._coordination.acknowledge(task, checkpoint, state)
            case {"say": "decline", "checkpoint": int(checkpoint), "reason": str(reason)}:
                self._coordination.decline(task, checkpoint, reason, message.get("why"))
            case {"say": "end_of_data"}:
                self._coordination.end_of_data(task)
            case {"say": "finished", "records": int(records)}:
                self._count(task, records)
                self._watch.finished.add(task)
            case {"say": "running"}:
                self._coordination.running(task)
                if self._coordination.all_running:
                    self._report.running = self._clock()
            case {"say": "fault", "number": int(number)}:
                granted = self._coordination.faults.claim(number, task)
                workers.say(task, {"do": "fault", "granted": granted})
            case {"say": "failed", "why": str(why), "second_hand": bool(second_hand)}:
                first = _first_hand(workers, task) if second_hand else None
                raise first or _failure_of(task, message)
            case {"say": "register"}:
                self._register(workers, states, task, message)
            case {"say": "lost", "why": str(why)}:
                if task not in self._watch.finished:
                    raise AttemptFailedError(f"{task} is gone: {why}")
            case _:
                raise AttemptFailedError(f"{task} said something that no worker says: {message}")

    def _register(
        self, workers: Workers, states: Mapping[str, StateHandle], task: str, message: Message
    ) -> None:
        """With the last registration everybody is told where the others are and what to restore."""
        self._watch.peers[task] = (str(message["host"]), int(message["port"]))
        if len(self._watch.peers) < len(self._tasks):
            return
        before = by_stage(states)
        for subtask in self._plan.subtasks():
            stage = self._plan.stages[subtask.stage].name
            below = self._plan.downstream(subtask)
            workers.say(
                subtask.id,
                {
                    "do": "deploy",
                    "peers": {peer: self._watch.peers[peer] for peer in below},
                    "restored": self._report.restored,
                    "states": [handle.to_json() for handle in before.get(stage, ())],
                    "faults": [
                        [number, plan.as_dict()]
                        for number, plan in self._ledger.left()
                        if plan.concerns(subtask.id)
                    ],
                },
            )

    def _count(self, task: str, records: int) -> None:
        self._watch.records[task] = records
        self._report.records = sum(self._watch.records.get(source, 0) for source in self._sources)
        if self._report.first_record is None and records and task not in self._sources:
            self._report.first_record = self._clock()

    def _require_alive(self, give_up: float) -> None:
        now = time.monotonic()
        if self._job_ended.is_set() and len(self._watch.finished) < len(self._tasks):
            raise AttemptFailedError(f"the Spark job ended before its tasks: {_first_line(self._job_error)}")
        missing = [task for task in self._tasks if task not in self._watch.peers]
        if missing and now > give_up:
            raise AttemptFailedError(
                f"{', '.join(missing)} did not come within {self._execution.startup_timeout_ms} ms"
            )
        silent = self._execution.heartbeat_timeout_ms / 1_000
        for task in self._watch.peers:
            if task not in self._watch.finished and now - self._watch.heard[task] > silent:
                raise AttemptFailedError(
                    f"{task} was not heard for {self._execution.heartbeat_timeout_ms} ms: it hangs"
                )


def _failure_of(task: str, message: Message) -> AttemptFailedError | JobFailedError:
    """The error for a task that has failed: of the attempt, or of the job if no restart helps."""
    why = f"{task} failed: {message['why']}"
    return JobFailedError(f"{why}; no restart helps") if message.get("final") else AttemptFailedError(why)


def _first_hand(workers: Workers, witness: str) -> AttemptFailedError | JobFailedError | None:
    """Who failed first, when a `witness` has only noticed that a channel broke; None if nobody tells.

    Whatever else comes meanwhile is of no interest any more: the attempt has failed.
    """
    witnesses = {witness}
    until = time.monotonic() + _FIRST_HAND_SECONDS
    while (said := workers.hear(until - time.monotonic())) is not None:
        match said:
            case (task, {"say": "failed", "why": str(), "second_hand": False}):
                return _failure_of(task, said[1])
            case (task, {"say": "failed"}):
                witnesses.add(task)
            case (task, {"say": "lost", "why": str(why)}) if task not in witnesses:
                return AttemptFailedError(f"{task} is gone: {why}")
            case _:
                continue
    return None


def _first_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines() if error is not None else []
    return lines[0][:300] if lines else "it told no reason"
