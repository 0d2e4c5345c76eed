"""The snapshot steps of one subtask: what it does when a checkpoint is triggered, aborted or completed.

The barrier leaves before the state is snapshotted; an abort that arrives before its trigger is
remembered, so that the trigger sends a cancellation in place of the barrier; and the asynchronous part of
a snapshot ends in exactly one acknowledgement, one decline, or a cancellation. Rules: TASK-01 to TASK-10.
It knows one subtask, and neither its input nor the coordinator.
"""

from collections.abc import Mapping
from typing import Any

from impl.core.component import (
    Component,
    Effects,
    only_keys,
    positive_int,
    require_checkpoint_id,
    steps,
    supported,
)
from impl.core.effects import (
    ASYNC_EXCEPTION,
    TASK_NOT_READY,
    BroadcastBarrier,
    BroadcastCancel,
    CancelAsync,
    Effect,
    NotifyOperatorsAbort,
    NotifyOperatorsComplete,
    SendAcknowledge,
    SendDecline,
    TakeSnapshot,
)
from impl.core.errors import ConfigError, ProtocolError
from impl.core.events import (
    AbortNotification,
    AbortOnBarrier,
    AsyncDone,
    AsyncFailed,
    CompleteNotification,
    Status,
    TriggerCheckpoint,
)


class Subtask(Component):
    """One subtask's checkpoints. `max_concurrent`: how many aborts are remembered (TASK-09)."""

    def __init__(self, max_concurrent: int = 1) -> None:
        if max_concurrent < 1:
            raise ConfigError(f"max_concurrent has to be at least 1, came {max_concurrent}; correct it")
        self._max_concurrent = max_concurrent
        self._task_runs = True
        self._last = -1
        self._aborted: list[int] = []  # in the order of remembering
        self._running: set[int] = set()  # whose asynchronous part runs
        self._completed = -1

    @property
    def last(self) -> int:
        """The highest checkpoint triggered or aborted at the gate, -1 before the first."""
        return self._last

    @property
    def completed(self) -> int:
        """The highest completed checkpoint the operators were told of, -1 before the first."""
        return self._completed

    @property
    def running(self) -> tuple[int, ...]:
        """The checkpoints whose asynchronous part runs, in ascending order."""
        return tuple(sorted(self._running))

    def checkpoint(self, checkpoint: int) -> Effects:
        """The gate, or the coordinator for a source, triggers `checkpoint`."""
        require_checkpoint_id(checkpoint)
        if not self._task_runs:  # TASK-10
            return (BroadcastCancel(checkpoint), SendDecline(checkpoint, TASK_NOT_READY))
        remembered = checkpoint in self._aborted
        if remembered:
            self._aborted.remove(checkpoint)
        if checkpoint <= self._last:
            return ()  # TASK-02
        self._last = checkpoint
        if remembered:  # TASK-03
            return (BroadcastCancel(checkpoint),)
        self._running.add(checkpoint)
        return (BroadcastBarrier(checkpoint), TakeSnapshot(checkpoint))  # TASK-01

    def abort_on_barrier(self, checkpoint: int, reason: str) -> Effects:
        """The gate aborts `checkpoint` (TASK-04)."""
        require_checkpoint_id(checkpoint)
        self._last = max(self._last, checkpoint)
        while self._aborted and self._aborted[0] < self._last:
            del self._aborted[0]
        return (SendDecline(checkpoint, reason), BroadcastCancel(checkpoint))

    def abort_notification(self, checkpoint: int, completed: int) -> Effects:
        """The coordinator aborted `checkpoint`; `completed` is its newest completed one, -1 for none."""
        require_checkpoint_id(checkpoint)
        if completed < -1:
            raise ProtocolError(f"completed is a checkpoint id, or -1 for none, came {completed}; send that")
        if not self._task_runs:
            return ()
        effects: list[Effect] = list(self._told_complete(completed))  # TASK-06
        if checkpoint in self._running:  # TASK-05
            self._running.remove(checkpoint)
            effects.append(CancelAsync(checkpoint))
        elif checkpoint > self._last and checkpoint not in self._aborted:
            self._aborted.append(checkpoint)
            if len(self._aborted) > self._max_concurrent:  # TASK-09
                del self._aborted[0]
        effects.append(NotifyOperatorsAbort(checkpoint))
        return tuple(effects)

    def complete_notification(self, checkpoint: int) -> Effects:
        """The coordinator completed `checkpoint`."""
        require_checkpoint_id(checkpoint)
        return self._told_complete(checkpoint) if self._task_runs else ()

    def async_done(self, checkpoint: int) -> Effects:
        """The asynchronous part of `checkpoint` ended well (TASK-07)."""
        require_checkpoint_id(checkpoint)
        return (SendAcknowledge(checkpoint),) if self._async_ended(checkpoint) else ()

    def async_failed(self, checkpoint: int) -> Effects:
        """The asynchronous part of `checkpoint` failed (TASK-08)."""
        require_checkpoint_id(checkpoint)
        return (SendDecline(checkpoint, ASYNC_EXCEPTION),) if self._async_ended(checkpoint) else ()

    def status(self, running: bool) -> Effects:
        """The task starts or stops running."""
        self._task_runs = running
        return ()

    def observe(self) -> dict[str, Any]:
        """`running_task`, `last`, `aborted` (in the order of remembering), `running`, `completed`."""
        return {
            "running_task": self._task_runs,
            "last": self._last,
            "aborted": list(self._aborted),
            "running": sorted(self._running),
            "completed": self._completed,
        }

    def _told_complete(self, checkpoint: int) -> Effects:
        """TASK-06: operators hear of completions in ascending order only."""
        if checkpoint <= self._completed:
            return ()
        self._completed = checkpoint
        return (NotifyOperatorsComplete(checkpoint),)

    def _async_ended(self, checkpoint: int) -> bool:
        """Whether the part ran until now; a cancelled or ended one says nothing more."""
        if checkpoint not in self._running:
            return False
        self._running.remove(checkpoint)
        return True

    _steps = steps(
        {
            TriggerCheckpoint: checkpoint,
            AbortOnBarrier: abort_on_barrier,
            AbortNotification: abort_notification,
            CompleteNotification: complete_notification,
            AsyncDone: async_done,
            AsyncFailed: async_failed,
            Status: status,
        }
    )


def subtask_from_config(config: Mapping[str, object]) -> Subtask:
    """The subtask that a wire configuration asks for."""
    only_keys(config, ("profile", "max_concurrent"))
    supported(config, "profile", ("2.3",), "2.3")
    return Subtask(positive_int(config, "max_concurrent", 1))
