"""The answers of the REST interface: one JSON object for each path.

Paths and names are Flink's if Flink has the same resource; `docs/run/job-page.md` lists the others. An answer
leaves out values that the runtime does not measure.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from impl.core.coordinator.job import FINISHED
from impl.graph.plan import Role, Stage
from impl.monitoring.checkpoint_answers import (
    checkpoint_answer,
    checkpoints_answer,
    config_answer,
    subtasks_answer,
)
from impl.monitoring.job_monitor import RUNNING, JobMonitor, JobView, TaskView
from impl.spark.coordination.attempt import AttemptReport

Answer = dict[str, Any]
_LAST: Final = 100
"""The maximum number of attempts in an answer, which has the newest attempts."""
_LONGEST: Final = 10_000
"""The maximum number of characters of a failure's cause in an answer."""
_LOW, _HIGH = 0.1, 0.5
"""If the share of backpressured time exceeds these shares, Flink's level of backpressure is low or high."""
_FAILED = re.compile(r"(?P<task>\S+) (?:is gone|sent no heartbeat|failed(?:: (?P<error>\w+):)?)")


class NotFoundError(LookupError):
    """No resource has this path."""


class RestAnswers:
    """The answers about one job. Any thread may call `answer`."""

    def __init__(self, monitor: JobMonitor) -> None:
        self._monitor = monitor
        self._stages = {stage.name: stage for stage in monitor.plan.stages}

    def answer(self, path: str) -> Answer:
        """The JSON object of a path, which may be percent-encoded. Raises NotFoundError if there is none."""
        for pattern, found in _PATHS:
            match = pattern.fullmatch(path)
            if match is not None:
                return found(
                    self,
                    self._monitor.view(),
                    **{name: unquote(part) for name, part in match.groupdict().items()},
                )
        raise NotFoundError(f"Not found: {path[:100]}")

    # ------------------------------------------------------------ jobs

    def _jobs(self, view: JobView) -> Answer:
        return {"jobs": [{"id": view.id, "status": view.state}] if view.id else []}

    def _overview(self, view: JobView) -> Answer:
        return {"jobs": [self._outline(view)] if view.id else []}

    def _outline(self, view: JobView) -> Answer:
        return {
            "jid": view.id,
            "name": self._monitor.plan.name,
            "state": view.state,
            "start-time": view.started_ms,
            "end-time": view.ended_ms,
            "duration": max(0, (view.now_ms if view.ended_ms < 0 else view.ended_ms) - view.started_ms),
        }

    def _job(self, view: JobView, job: str) -> Answer:
        _require(view, job)
        config = self._monitor.config
        return {
            **self._outline(view),
            "now": view.now_ms,
            "maxParallelism": self._monitor.plan.max_parallelism,
            "attempt": view.attempts[-1].attempt if view.attempts else 0,
            "restarts": max(0, len(view.attempts) - 1),
            "restart-attempts": config.restarts.attempts,
            "failure": view.failure[:_LONGEST],
            "vertices": [self._outline_of(view, stage) for stage in self._stages.values()],
            "plan": self._plan_of(view),
        }

    def _plan(self, view: JobView, job: str) -> Answer:
        _require(view, job)
        return {"plan": self._plan_of(view)}

    def _plan_of(self, view: JobView) -> Answer:
        plan = self._monitor.plan
        nodes = [
            {
                "id": stage.name,
                "parallelism": stage.parallelism,
                "operator": stage.role.value,
                "description": _name_of(stage),
                "functions": [stage.name, *(link.name for link in stage.chained)],
                "inputs": [
                    {"num": edge.input, "id": edge.upstream, "ship_strategy": edge.partitioning.value.upper()}
                    for edge in plan.links
                    if edge.downstream == stage.name
                ],
            }
            for stage in plan.stages
        ]
        return {"jid": view.id, "name": plan.name, "type": "STREAMING", "nodes": nodes}

    # ------------------------------------------------------------ vertices

    def _outline_of(self, view: JobView, stage: Stage) -> Answer:
        tasks = [self._subtask(view, stage, index) for index in range(stage.parallelism)]
        counts = Counter(one["status"] for one in tasks)
        metrics = {name: sum(one["metrics"][name] for one in tasks) for name in _metrics(stage, TaskView())}
        ratios = {
            f"max-{name}": max(one[name] for one in tasks)
            for name in ("busyRatio", "idleRatio", "backpressuredRatio")
        }
        return {
            "id": stage.name,
            "name": _name_of(stage),
            "maxParallelism": self._monitor.plan.max_parallelism,
            "parallelism": stage.parallelism,
            "status": _status_of(counts),
            "tasks": {RUNNING: 0, _STARTING: 0, FINISHED: 0, **counts},
            "metrics": {**metrics, **ratios},
        }

    def _vertex(self, view: JobView, job: str, vertex: str) -> Answer:
        stage = self._stage(view, job, vertex)
        return {
            "id": vertex,
            "name": _name_of(stage),
            "parallelism": stage.parallelism,
            "maxParallelism": self._monitor.plan.max_parallelism,
            "now": view.now_ms,
            "subtasks": [self._subtask(view, stage, index) for index in range(stage.parallelism)],
        }

    def _subtask(self, view: JobView, stage: Stage, index: int) -> Answer:
        task = view.tasks.get(f"{stage.name}-{index}", TaskView())
        return {
            "subtask": index,
            "status": _status_in(view, task),
            "attempt": view.attempts[-1].attempt if view.attempts else 0,
            "metrics": _metrics(stage, task),
            "busyRatio": round(task.rates.busy, 3),
            "idleRatio": round(task.rates.idle, 3),
            "backpressuredRatio": round(task.rates.backpressured, 3),
        }

    def _backpressure(self, view: JobView, job: str, vertex: str) -> Answer:
        stage = self._stage(view, job, vertex)
        tasks = [self._subtask(view, stage, index) for index in range(stage.parallelism)]
        level = _level(max(one["backpressuredRatio"] for one in tasks))
        return {
            "status": "ok",
            "backpressureLevel": level,
            "backpressure-level": level,
            "end-timestamp": view.now_ms,
            "subtasks": [
                {
                    "subtask": one["subtask"],
                    "attempt-number": one["attempt"],
                    "backpressureLevel": _level(one["backpressuredRatio"]),
                    "backpressure-level": _level(one["backpressuredRatio"]),
                    "ratio": one["backpressuredRatio"],
                    "idleRatio": one["idleRatio"],
                    "busyRatio": one["busyRatio"],
                }
                for one in tasks
            ],
        }

    def _stage(self, view: JobView, job: str, vertex: str) -> Stage:
        _require(view, job)
        if vertex not in self._stages:
            raise NotFoundError(f"Job vertex {vertex[:100]} not found")
        return self._stages[vertex]

    # ------------------------------------------------------------ checkpoints

    def _checkpoints(self, view: JobView, job: str) -> Answer:
        _require(view, job)
        return checkpoints_answer(view.checkpoints, self._monitor.checkpoint_folder)

    def _checkpoint_config(self, view: JobView, job: str) -> Answer:
        _require(view, job)
        return config_answer(self._monitor.config, self._monitor.checkpoint_folder)

    def _checkpoint(self, view: JobView, job: str, checkpoint: str) -> Answer:
        _require(view, job)
        for one in view.checkpoints.history:
            if str(one.checkpoint) == checkpoint:
                return checkpoint_answer(one, self._monitor.checkpoint_folder, self._monitor.plan)
        raise NotFoundError(f"Could not find checkpoint with id {checkpoint[:20]}.")

    def _checkpoint_subtasks(self, view: JobView, job: str, checkpoint: str, vertex: str) -> Answer:
        stage = self._stage(view, job, vertex)
        for one in view.checkpoints.history:
            if str(one.checkpoint) == checkpoint:
                return subtasks_answer(one, stage)
        raise NotFoundError(f"Could not find checkpoint with id {checkpoint[:20]}.")

    # ------------------------------------------------------------ attempts

    def _attempts(self, view: JobView, job: str) -> Answer:
        _require(view, job)
        return {
            "attempts": [
                {
                    "attempt": one.attempt,
                    "start-time": _at(view, one.started),
                    "running-time": _at(view, one.running),
                    "failure-time": _at(view, one.failed),
                    "end-time": _at(view, one.ended),
                    "restored": one.restored,
                    "source-records": one.records,
                    "cause": None if one.reason is None else one.reason[:_LONGEST],
                }
                for one in reversed(view.attempts[-_LAST:])
            ],
            "truncated": len(view.attempts) > _LAST,
        }

    def _exceptions(self, view: JobView, job: str) -> Answer:
        _require(view, job)
        failed = [one for one in view.attempts if one.reason is not None]
        return {
            "exceptionHistory": {
                "entries": [_exception(view, one) for one in reversed(failed[-_LAST:])],
                "truncated": len(failed) > _LAST,
            }
        }


_STARTING = "INITIALIZING"
_JOB, _VERTEX, _CHECKPOINT = r"/jobs/(?P<job>[^/]+)", r"(?P<vertex>[^/]+)", r"(?P<checkpoint>[^/]+)"
_Found = Callable[..., Answer]
_PATHS: Final[tuple[tuple[re.Pattern[str], _Found], ...]] = tuple(
    (re.compile(path), found)
    for path, found in (
        ("/jobs", RestAnswers._jobs),
        ("/jobs/overview", RestAnswers._overview),
        (_JOB, RestAnswers._job),
        (f"{_JOB}/plan", RestAnswers._plan),
        (f"{_JOB}/attempts", RestAnswers._attempts),
        (f"{_JOB}/exceptions", RestAnswers._exceptions),
        (f"{_JOB}/vertices/{_VERTEX}", RestAnswers._vertex),
        (f"{_JOB}/vertices/{_VERTEX}/backpressure", RestAnswers._backpressure),
        (f"{_JOB}/checkpoints", RestAnswers._checkpoints),
        (f"{_JOB}/checkpoints/config", RestAnswers._checkpoint_config),
        (f"{_JOB}/checkpoints/details/{_CHECKPOINT}", RestAnswers._checkpoint),
        (f"{_JOB}/checkpoints/details/{_CHECKPOINT}/subtasks/{_VERTEX}", RestAnswers._checkpoint_subtasks),
    )
)


class _Failure(NamedTuple):
    task: str | None
    error: str


def _failure_in(reason: str) -> _Failure:
    """The subtask and the error that `reason` names; None and AttemptFailedError if it names none."""
    match = _FAILED.match(reason)
    if match is None:
        return _Failure(None, "AttemptFailedError")
    return _Failure(match["task"], match["error"] or "AttemptFailedError")


def _exception(view: JobView, attempt: AttemptReport) -> Answer:
    reason = (attempt.reason or "")[:_LONGEST]
    failure = _failure_in(reason)
    at = attempt.failed if attempt.failed is not None else attempt.started
    return {
        "exceptionName": failure.error,
        "stacktrace": reason,
        "timestamp": _at(view, at),
        "taskName": failure.task,
        "attempt": attempt.attempt,
        "concurrentExceptions": [],
    }


def _status_in(view: JobView, task: TaskView) -> str:
    """The status of a subtask. After the end of the job, an unfinished subtask has the status of the job."""
    ended = view.ended_ms >= 0
    if task.measures.finished and (ended or view.state == RUNNING):
        return FINISHED
    if ended:
        return view.state
    return RUNNING if view.state == RUNNING and task.measures.load.running_ms > 0 else _STARTING


def _status_of(counts: Mapping[str, int]) -> str:
    """The status of a vertex, from the numbers of its subtasks in each status."""
    if len(counts) == 1:
        return next(iter(counts))
    return RUNNING if counts.keys() <= {RUNNING, FINISHED} else _STARTING


def _require(view: JobView, job: str) -> None:
    if not view.id or job != view.id:
        raise NotFoundError(f"Job {job[:40]} not found")


def _at(view: JobView, seconds: float | None) -> int | None:
    """A time of an attempt in ms since 1970. `seconds`: the time since the start of the job, or None."""
    return None if seconds is None else view.started_ms + round(seconds * 1_000)


def _name_of(stage: Stage) -> str:
    """The name of a stage: the names of its functions, joined as in Flink's name of a chain."""
    return " -> ".join((stage.name, *(link.name for link in stage.chained)))


def _level(ratio: float) -> str:
    return "ok" if ratio <= _LOW else "low" if ratio <= _HIGH else "high"


def _metrics(stage: Stage, task: TaskView) -> Mapping[str, float]:
    """The metrics of a subtask, with Flink's names. A source has read 0 records, because it has no input."""
    measures, rates = task.measures, task.rates
    reads = stage.role is not Role.SOURCE
    return {
        "read-records": measures.records if reads else 0,
        "write-records": measures.load.emitted,
        "read-records-per-second": round(rates.records, 1) if reads else 0,
        "write-records-per-second": round(rates.emitted, 1),
        "buffered-bytes": measures.buffered,
        "accumulated-backpressured-time": round(measures.load.backpressured_ms),
        "accumulated-idle-time": round(measures.load.idle_ms),
        "accumulated-busy-time": round(
            max(0.0, measures.load.running_ms - measures.load.idle_ms - measures.load.backpressured_ms)
        ),
    }
