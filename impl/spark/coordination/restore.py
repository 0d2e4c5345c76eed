"""The initial state of a job's coordinator: its options, and the newest readable checkpoint."""

from collections.abc import Mapping
from typing import Any

from impl.config import CheckpointConfig
from impl.core import CoordinatorOptions, Task
from impl.graph.plan import Role
from impl.spark.coordination.context import JobContext
from impl.state import Refused, StateHandle


def options_of(context: JobContext) -> CoordinatorOptions:
    """The options of the core's coordinator for a job."""
    sources = context.plan.of_role(Role.SOURCE)
    tasks = [Task(task, task in sources) for task in context.plan.ids()]
    return CoordinatorOptions(tasks, **bounds_of(context.config))


def bounds_of(config: CheckpointConfig) -> dict[str, Any]:
    """The numeric options of the coordinator, by their names in the event log."""
    return {
        "timeout_ms": config.checkpoint_timeout_ms,
        "max_concurrent": config.max_concurrent_checkpoints,
        "retain": config.num_retained_checkpoints,
        "tolerable_failures": config.tolerable_checkpoint_failure_number,
        "unaligned": config.unaligned_checkpoints_enabled,
    }


class Restoring:
    """Chooses the checkpoint that each attempt restores.

    `takes_over`: whether this driver continues the log of an earlier driver.
    """

    def __init__(self, context: JobContext, *, takes_over: bool) -> None:
        self._context = context
        self._takes_over = takes_over
        self.refused: list[Refused] = []

    def newest(self, known: tuple[int, ...]) -> tuple[Mapping[str, StateHandle], tuple[int, ...] | None]:
        """The handles by task of the newest readable checkpoint (ONCE-04), and all published checkpoints.

        `known`: the checkpoints that the coordinator knows. If they are the published ones, the second value
        is None, except at the first call with `takes_over`. If it is not None, the caller must make a new
        coordinator that knows these checkpoints.
        """
        storage = self._context.storage
        latest = storage.latest_completed()
        for refused in latest.refused:
            if refused not in self.refused:
                self.refused.append(refused)
            self._context.line(
                kind="checkpoint_refused", checkpoint=refused.checkpoint, reason=refused.reason
            )
        # if an attempt has refused a checkpoint, no later attempt may restore it
        refused_ids = {refused.checkpoint for refused in self.refused}
        published = tuple(one for one in storage.completed_ids() if one not in refused_ids)
        handles = latest.completed.handles if latest.completed else {}
        if not self._takes_over and published == known:
            return handles, None
        self._takes_over = False
        return handles, published
