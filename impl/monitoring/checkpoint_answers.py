"""The answers of the REST interface about checkpoints: JSON objects with Flink's names."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from impl.config import CheckpointConfig, JobConfig
from impl.core import CheckpointType
from impl.core.coordinator.job import CANCELED
from impl.graph.plan import Plan, Stage
from impl.monitoring.checkpoint_statistics import (
    Acknowledgement,
    CheckpointStatistics,
    CheckpointStatus,
    JobCheckpoints,
    Restored,
)
from impl.state.locations import is_in_memory

Answer = dict[str, Any]
_LONGEST: Final = 1_000
"""The maximum number of characters of a failure's message in an answer."""


def checkpoints_answer(checkpoints: JobCheckpoints, folder: str) -> Answer:
    """All checkpoints of the history, newest first. `folder`: the path or URI of the checkpoints."""
    pending, latest = checkpoints.in_progress, checkpoints.latest
    done = [one for one in checkpoints.history if one.status is CheckpointStatus.COMPLETED]
    return {
        "counts": {
            "restored": checkpoints.restored,
            "total": pending + checkpoints.completed + checkpoints.failed,
            "in_progress": pending,
            "completed": checkpoints.completed,
            "failed": checkpoints.failed,
        },
        "summary": {
            "checkpointed_size": _summary(_written(one.acknowledged.values()) for one in done),
            "state_size": _summary(_whole(one.acknowledged.values()) for one in done),
            "end_to_end_duration": _summary(round(one.duration_ms) for one in done),
        },
        "latest": {
            "completed": _answer_or_none(latest.completed, folder),
            "savepoint": _answer_or_none(latest.savepoint, folder),
            "failed": _answer_or_none(latest.failed, folder),
            "restored": _restored(latest.restored, folder),
        },
        "history": [_answer(one, folder) for one in checkpoints.history],
    }


def checkpoint_answer(one: CheckpointStatistics, folder: str, plan: Plan) -> Answer:
    """One checkpoint, with a summary of each vertex (stage)."""
    tasks = {stage.name: _of_stage(one, stage) for stage in plan.stages}
    return {**_answer(one, folder), "tasks": tasks}


def subtasks_answer(one: CheckpointStatistics, stage: Stage) -> Answer:
    """The subtasks of one vertex in one checkpoint."""
    acknowledged = _acknowledged(one, stage)
    present = [there for there in acknowledged if there is not None]
    durations = {
        "sync": _summary(round(there.measures.synchronous_ms) for there in present),
        "async": _summary(round(there.measures.writing_ms) for there in present),
    }
    return {
        **_of_stage(one, stage),
        "summary": {
            "checkpointed_size": _summary(there.written_bytes for there in present),
            "state_size": _summary(there.whole_bytes for there in present),
            "end_to_end_duration": _summary(_since_trigger(one, there.at_ms) for there in present),
            "checkpoint_duration": durations,
            "alignment": {"duration": _summary(round(there.measures.alignment_ms) for there in present)},
        },
        "subtasks": [
            {"index": index, "status": "pending_or_failed"}
            if there is None
            else {
                "index": index,
                "status": "completed",
                "ack_timestamp": there.at_ms,
                "end_to_end_duration": _since_trigger(one, there.at_ms),
                "checkpointed_size": there.written_bytes,
                "state_size": there.whole_bytes,
                "checkpoint": {
                    "sync": round(there.measures.synchronous_ms),
                    "async": round(there.measures.writing_ms),
                },
                "alignment": {"duration": round(there.measures.alignment_ms)},
                "unaligned_checkpoint": there.measures.unaligned,
                "aborted": False,
            }
            for index, there in enumerate(acknowledged)
        ],
    }


def config_answer(config: JobConfig, folder: str) -> Answer:
    """The checkpoint configuration of the job."""
    checkpoints: CheckpointConfig = config.checkpoints
    return {
        "mode": checkpoints.checkpointing_mode.lower(),
        "interval": checkpoints.checkpointing_interval_ms,
        "timeout": checkpoints.checkpoint_timeout_ms,
        "min_pause": checkpoints.min_pause_between_checkpoints_ms,
        "max_concurrent": checkpoints.max_concurrent_checkpoints,
        "externalization": {
            "enabled": True,
            "delete_on_cancellation": checkpoints.deletes_checkpoints(CANCELED),
        },
        "state_backend": config.execution.state_backend,
        "checkpoint_storage": folder,
        "unaligned_checkpoints": checkpoints.unaligned_checkpoints_enabled,
        "tolerable_failed_checkpoints": checkpoints.tolerable_checkpoint_failure_number,
        "aligned_checkpoint_timeout": checkpoints.aligned_checkpoint_timeout_ms,
        "checkpoints_after_tasks_finish": True,
        "num_retained_checkpoints": checkpoints.num_retained_checkpoints,
    }


def _answer_or_none(one: CheckpointStatistics | None, folder: str) -> Answer | None:
    return None if one is None else _answer(one, folder)


def _answer(one: CheckpointStatistics, folder: str) -> Answer:
    acknowledged = list(one.acknowledged.values())
    answer = {
        "className": one.status.value.lower(),
        "id": one.checkpoint,
        "status": one.status.value,
        "is_savepoint": one.is_savepoint,
        "checkpoint_type": _type_of(one),
        "trigger_timestamp": one.triggered_ms,
        "latest_ack_timestamp": _latest(acknowledged),
        "checkpointed_size": _written(acknowledged),
        "state_size": _whole(acknowledged),
        "end_to_end_duration": _duration(one, acknowledged),
        "num_subtasks": one.subtasks,
        "num_acknowledged_subtasks": len(acknowledged),
        "attempt": one.attempt,
        "tasks": {},
    }
    if one.status is CheckpointStatus.COMPLETED:
        answer |= {"external_path": _path(one, folder), "discarded": one.discarded}
    elif one.status is CheckpointStatus.FAILED:
        failed_at = one.triggered_ms + round(one.duration_ms)
        answer |= {"failure_timestamp": failed_at, "failure_message": one.failure[:_LONGEST]}
    return answer


def _of_stage(one: CheckpointStatistics, stage: Stage) -> Answer:
    present = [there for there in _acknowledged(one, stage) if there is not None]
    latest = _latest(present)
    return {
        "id": one.checkpoint,
        "status": one.status.value,
        "latest_ack_timestamp": latest,
        "checkpointed_size": _written(present),
        "state_size": _whole(present),
        "end_to_end_duration": _since_trigger(one, latest) if present else -1,
        "num_subtasks": stage.parallelism,
        "num_acknowledged_subtasks": len(present),
    }


def _acknowledged(one: CheckpointStatistics, stage: Stage) -> list[Acknowledgement | None]:
    return [one.acknowledged.get(f"{stage.name}-{index}") for index in range(stage.parallelism)]


def _type_of(one: CheckpointStatistics) -> str:
    if one.type is CheckpointType.STOP:
        return "SYNC_SAVEPOINT"
    if one.type is CheckpointType.SAVEPOINT:
        return "SAVEPOINT"
    overtaken = any(there.measures.unaligned for there in one.acknowledged.values())
    return "UNALIGNED_CHECKPOINT" if overtaken else "CHECKPOINT"


def _duration(one: CheckpointStatistics, acknowledged: Sequence[Acknowledgement]) -> int:
    """Milliseconds from the trigger to the completion or the failure of a checkpoint.

    For a pending checkpoint: milliseconds to its last acknowledgement; -1 without an acknowledgement.
    """
    if one.status is not CheckpointStatus.IN_PROGRESS:
        return round(one.duration_ms)
    return _since_trigger(one, _latest(acknowledged)) if acknowledged else -1


def _since_trigger(one: CheckpointStatistics, at_ms: int) -> int:
    """Milliseconds from the trigger to `at_ms`, by the wall clock; 0 if the clock was set back."""
    return max(0, at_ms - one.triggered_ms)


def _latest(acknowledged: Iterable[Acknowledgement]) -> int:
    return max((there.at_ms for there in acknowledged), default=-1)


def _written(acknowledged: Iterable[Acknowledgement]) -> int:
    return sum(there.written_bytes for there in acknowledged)


def _whole(acknowledged: Iterable[Acknowledgement]) -> int:
    return sum(there.whole_bytes for there in acknowledged)


def _path(one: CheckpointStatistics, folder: str) -> str:
    return one.folder or _path_of(one.checkpoint, folder)


def _path_of(checkpoint: int, folder: str) -> str:
    """The folder of a checkpoint. As in Flink, a fixed text if the checkpoint is in the driver's memory."""
    return "<checkpoint-not-externally-addressable>" if is_in_memory(folder) else f"{folder}/chk-{checkpoint}"


def _restored(restored: Restored | None, folder: str) -> Answer | None:
    if restored is None:
        return None
    return {
        "id": restored.checkpoint,
        "restore_timestamp": restored.at_ms,
        "is_savepoint": False,
        "external_path": _path_of(restored.checkpoint, folder),
    }


def _summary(values: Iterable[int]) -> Mapping[str, int]:
    found = list(values)
    if not found:
        return {"min": 0, "max": 0, "avg": 0}
    return {"min": min(found), "max": max(found), "avg": round(fmean(found))}
