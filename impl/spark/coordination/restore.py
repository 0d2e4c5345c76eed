"""What the coordinator of a job begins with: how it is bound, and the newest checkpoint that can be read."""

from collections.abc import Callable, Mapping
from typing import Any

from impl.config import CheckpointConfig
from impl.core import CoordinatorOptions, Task
from impl.graph.plan import Plan, Role
from impl.state import CheckpointStorage, Refused, StateHandle


def options_of(plan: Plan, config: CheckpointConfig) -> CoordinatorOptions:
    """The options of the core's coordinator over the tasks of a plan."""
    sources = plan.of_role(Role.SOURCE)
    return CoordinatorOptions([Task(task, task in sources) for task in plan.ids()], **bounds_of(config))


def bounds_of(config: CheckpointConfig) -> dict[str, Any]:
    """What the coordinator is bound by, as the event log tells it too."""
    return {
        "timeout_ms": config.checkpoint_timeout_ms,
        "max_concurrent": config.max_concurrent_checkpoints,
        "retain": config.num_retained_checkpoints,
        "tolerable_failures": config.tolerable_checkpoint_failure_number,
        "unaligned": config.unaligned_checkpoints_enabled,
    }


class Restoring:
    """Chooses the checkpoint of every attempt. `takes_over`: from a driver whose log goes on.

    `line` writes into the coordinator's log.
    """

    def __init__(
        self, storage: CheckpointStorage, line: Callable[[Mapping[str, object]], None], *, takes_over: bool
    ) -> None:
        self._storage = storage
        self._line = line
        self._takes_over = takes_over
        self.refused: list[Refused] = []

    def newest(self, known: tuple[int, ...]) -> tuple[Mapping[str, StateHandle], tuple[int, ...] | None]:
        """The handles of the newest checkpoint that can be read; those that cannot are taken out (ONCE-04).

        With them what is published and of this line, oldest first, if the coordinator, which knows `known`,
        has to be made anew over that; else None.
        """
        latest = self._storage.latest_completed()
        for refused in latest.refused:
            if refused not in self.refused:
                self.refused.append(refused)
            self._line(
                {"kind": "checkpoint_refused", "checkpoint": refused.checkpoint, "reason": refused.reason}
            )
        # one that was refused in an earlier attempt is not looked at again, and must not come back
        refused_ids = {refused.checkpoint for refused in self.refused}
        published = tuple(one for one in self._storage.completed_ids() if one not in refused_ids)
        handles = latest.completed.handles if latest.completed else {}
        if not self._takes_over and published == known:
            return handles, None
        self._takes_over = False
        return handles, published
