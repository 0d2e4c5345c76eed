"""The snapshot steps of one subtask: its effects when a checkpoint is triggered, aborted or completed.

The subtask sends the barrier before it takes the snapshot. It remembers an abort that arrives before the
trigger of its checkpoint; at the trigger it then sends a cancellation marker in place of the barrier. The
asynchronous part of a snapshot ends with exactly one acknowledgement, one decline or one cancellation; the
exception is TASK-16. Rules: TASK-01 to TASK-20.
"""

from collections.abc import Mapping
from typing import Any

from impl.core import component
from impl.core.effects import ASYNC_EXCEPTION, JOB_FAILURE, TASK_NOT_READY, Fail
from impl.core.errors import ConfigError, ProtocolError
from impl.core.subtask import events
from impl.core.subtask.profiles import NEWEST_TASK, TASK_PROFILES, TaskProfile


class Subtask(component.Component[events.SubtaskEvent, events.SubtaskEffect]):
    """One subtask. `max_concurrent`: number of checkpoints that may be pending at once (TASK-09).

    `restored`: the checkpoint from which the task is restored, -1 for none. The operators are not notified of
    its completion (TASK-06). Raises ConfigError if `max_concurrent` is below 1, or `restored` below -1.
    """

    def __init__(
        self,
        max_concurrent: int = 1,
        profile: TaskProfile = TASK_PROFILES[NEWEST_TASK],
        *,
        restored: int = component.NO_CHECKPOINT,
    ) -> None:
        if max_concurrent < 1:
            raise ConfigError(f"max_concurrent must be at least 1, got {max_concurrent}; correct it")
        if restored < component.NO_CHECKPOINT:
            raise ConfigError(f"restored is a checkpoint id, or -1 for none, got {restored}; correct it")
        self._profile = profile
        self._remembers = profile.remembers or max_concurrent
        self._task_runs = True
        self._failed = False
        self._last = component.NO_CHECKPOINT
        self._aborted: list[int] = []  # oldest first
        self._highest_aborted = component.NO_CHECKPOINT
        self._running: set[int] = set()  # checkpoints whose asynchronous part runs
        self._completed = restored if profile.completes_in_order else component.NO_CHECKPOINT

    @property
    def last(self) -> int:
        """The highest checkpoint id triggered or aborted by the gate; -1 before the first."""
        return self._last

    @property
    def completed(self) -> int:
        """The highest id of a completed checkpoint, as far as the task knows; -1 for none.

        In a new task it is the checkpoint from which the task is restored.
        """
        return self._completed

    @property
    def running(self) -> tuple[int, ...]:
        """The checkpoints whose asynchronous part runs, ascending."""
        return tuple(sorted(self._running))

    def checkpoint(self, checkpoint: int, fails: bool = False) -> events.SubtaskEffects:
        """The gate, or the coordinator for a source, triggers `checkpoint`.

        `fails`: the synchronous part of its snapshot throws.
        """
        self._require_alive()
        component.require_checkpoint_id(checkpoint)
        if not self._profile.orders_triggers and checkpoint in self._running:
            raise ProtocolError(
                f"the asynchronous part of checkpoint {checkpoint} still runs, so the id cannot be triggered "
                "again; trigger each id once"
            )
        if not self._task_runs:  # TASK-10
            return (events.BroadcastCancel(checkpoint), events.SendDecline(checkpoint, TASK_NOT_READY))
        if self._profile.orders_triggers:
            was_aborted = self._forget_abort(checkpoint)
            if checkpoint <= self._last:
                return ()  # TASK-02
            self._last = checkpoint
            if was_aborted:  # TASK-03, TASK-19
                return (events.BroadcastCancel(checkpoint),)
        if fails:
            return (events.BroadcastBarrier(checkpoint), self._broken_snapshot(checkpoint))
        self._running.add(checkpoint)
        return (events.BroadcastBarrier(checkpoint), events.TakeSnapshot(checkpoint))  # TASK-01

    def abort_on_barrier(self, checkpoint: int, reason: str) -> events.SubtaskEffects:
        """The gate aborts `checkpoint` (TASK-04)."""
        self._require_alive()
        component.require_checkpoint_id(checkpoint)
        if self._profile.orders_triggers:
            self._last = max(self._last, checkpoint)
            while self._aborted and self._aborted[0] < self._last:
                del self._aborted[0]
        return (events.SendDecline(checkpoint, reason), events.BroadcastCancel(checkpoint))

    def abort_notification(
        self, checkpoint: int, completed: int = component.NO_CHECKPOINT
    ) -> events.SubtaskEffects:
        """The coordinator has aborted `checkpoint`; `completed`: its newest completed id, -1 for none."""
        self._require_alive()
        component.require_checkpoint_id(checkpoint)
        if completed < component.NO_CHECKPOINT:
            raise ProtocolError(f"completed is a checkpoint id, or -1 for none, got {completed}; send that")
        if not self._profile.notified_of_aborts:
            return ()  # TASK-12
        effects: list[events.SubtaskEffect] = []
        if self._profile.completes_in_order:
            effects += self._notify_complete(completed)  # TASK-06
        if not self._task_runs:
            return ()
        if checkpoint in self._running:  # TASK-05
            self._running.remove(checkpoint)
            effects.append(events.CancelAsync(checkpoint))
        elif checkpoint > self._last:
            self._remember(checkpoint)
        effects.append(events.NotifyOperatorsAbort(checkpoint))
        return tuple(effects)

    def complete_notification(self, checkpoint: int) -> events.SubtaskEffects:
        """The coordinator has completed `checkpoint`."""
        self._require_alive()
        component.require_checkpoint_id(checkpoint)
        if self._profile.completes_in_order:
            return self._notify_complete(checkpoint)
        return (events.NotifyOperatorsComplete(checkpoint),) if self._task_runs else ()  # TASK-17

    def subsumed_notification(self, checkpoint: int) -> events.SubtaskEffects:
        """The coordinator has dropped `checkpoint`, because a newer one is complete (TASK-18)."""
        self._require_alive()
        component.require_checkpoint_id(checkpoint)
        notifies = self._task_runs and self._profile.notified_of_subsumed
        return (events.NotifyOperatorsSubsumed(checkpoint),) if notifies else ()

    def async_done(self, checkpoint: int) -> events.SubtaskEffects:
        """The asynchronous part of `checkpoint` has succeeded (TASK-07)."""
        self._require_alive()
        component.require_checkpoint_id(checkpoint)
        return (events.SendAcknowledge(checkpoint),) if self._async_ended(checkpoint) else ()

    def async_failed(self, checkpoint: int, reason: str = ASYNC_EXCEPTION) -> events.SubtaskEffects:
        """The asynchronous part of `checkpoint` has failed for `reason` (TASK-08)."""
        self._require_alive()
        component.require_checkpoint_id(checkpoint)
        if not self._async_ended(checkpoint):
            return ()
        if self._profile.stopped_ignores_failures and not self._task_runs:
            return ()  # TASK-16
        return (events.SendDecline(checkpoint, self._recorded(reason)),)

    def close(self) -> events.SubtaskEffects:
        """The task has finished or was cancelled: its asynchronous parts are stopped (TASK-20)."""
        self._require_alive()
        stopped = sorted(self._running)
        self._running.clear()
        self._task_runs = False
        return tuple(events.CancelAsync(checkpoint) for checkpoint in stopped)

    def status(self, running: bool) -> events.SubtaskEffects:
        """The task starts or stops running."""
        self._require_alive()
        self._task_runs = running
        return ()

    def observe(self) -> dict[str, Any]:
        """The state fields `running_task`, `last`, `aborted`, `running`, `completed`, `highest_aborted`."""
        return {
            "running_task": self._task_runs,
            "last": self._last,
            "aborted": list(self._aborted),
            "running": sorted(self._running),
            "completed": self._completed,
            "highest_aborted": self._highest_aborted,
        }

    def _require_alive(self) -> None:
        if self._failed:
            raise ProtocolError("the task has failed and accepts no event; make a new subtask")

    def _forget_abort(self, checkpoint: int) -> bool:
        """Whether the checkpoint was aborted before its trigger; a remembered abort is forgotten."""
        if checkpoint in self._aborted:
            self._aborted.remove(checkpoint)
            return True
        lowest_known = self._highest_aborted - self._remembers
        return self._profile.infers_aborts and checkpoint < lowest_known

    def _remember(self, checkpoint: int) -> None:
        """Remember an abort; above the limit, forget the one remembered first (TASK-09)."""
        if self._profile.infers_aborts:
            self._highest_aborted = max(self._highest_aborted, checkpoint)
        if checkpoint not in self._aborted:
            self._aborted.append(checkpoint)
            if len(self._aborted) > self._remembers:
                del self._aborted[0]

    def _broken_snapshot(self, checkpoint: int) -> events.SubtaskEffect:
        """The effect after the barrier if the synchronous part throws (TASK-13, TASK-14)."""
        if not self._profile.broken_snapshot_fails:
            return events.SendDecline(checkpoint, JOB_FAILURE)
        self._failed = True
        return Fail(f"the snapshot of checkpoint {checkpoint} could not be taken")

    def _notify_complete(self, checkpoint: int) -> events.SubtaskEffects:
        """Notify the operators of a newer completion while the task runs (TASK-06)."""
        if checkpoint <= self._completed:
            return ()
        self._completed = checkpoint
        return (events.NotifyOperatorsComplete(checkpoint),) if self._task_runs else ()

    def _recorded(self, reason: str) -> str:
        """The reason of a failed asynchronous part that the coordinator records (TASK-15)."""
        if self._profile.declines_with_cause:
            return reason
        return ASYNC_EXCEPTION if self._profile.names_async_failure else JOB_FAILURE

    def _async_ended(self, checkpoint: int) -> bool:
        """The asynchronous part ends; returns whether it was running."""
        if checkpoint not in self._running:
            return False
        self._running.remove(checkpoint)
        return True

    _events = component.events_of(events.SubtaskEvent)


def subtask_from_config(config: Mapping[str, object]) -> Subtask:
    """A new subtask with the options of a configuration of the wire.

    Raises ConfigError for a wrong value, UnsupportedError for an unknown profile.
    """
    component.only_keys(config, ("profile", "max_concurrent", "restored"))
    profile = TASK_PROFILES[component.supported(config, "profile", TASK_PROFILES, NEWEST_TASK)]
    at_once = component.positive_int(config, "max_concurrent") if "max_concurrent" in config else 1
    return Subtask(at_once, profile, restored=component.any_int(config, "restored", component.NO_CHECKPOINT))
