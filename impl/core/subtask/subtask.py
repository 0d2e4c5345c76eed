"""The snapshot steps of one subtask: what it does when a checkpoint is triggered, aborted or completed.

The barrier leaves before the state is snapshotted; an abort that arrives before its trigger is
remembered, so that the trigger sends a cancellation in place of the barrier; and the asynchronous part of
a snapshot ends in exactly one acknowledgement, one decline, or a cancellation. Rules: TASK-01 to TASK-20.
It knows one subtask, and neither its input nor the coordinator; `task_generations` knows how releases
differ.
"""

from collections.abc import Mapping
from typing import Any, assert_never

from impl.core.component import Component, events_of, only_keys, positive_int, require_checkpoint_id
from impl.core.effects import ASYNC_EXCEPTION, JOB_FAILURE, TASK_NOT_READY, Fail
from impl.core.errors import ConfigError, ProtocolError
from impl.core.subtask.events import (
    AbortNotification,
    AbortOnBarrier,
    AsyncDone,
    AsyncFailed,
    BroadcastBarrier,
    BroadcastCancel,
    CancelAsync,
    CloseTask,
    CompleteNotification,
    NotifyOperatorsAbort,
    NotifyOperatorsComplete,
    NotifyOperatorsSubsumed,
    SendAcknowledge,
    SendDecline,
    Status,
    SubsumedNotification,
    SubtaskEffect,
    SubtaskEffects,
    SubtaskEvent,
    TakeSnapshot,
    TriggerCheckpoint,
)
from impl.core.subtask.profiles import NEWEST_TASK, TaskGeneration, task_generation


class Subtask(Component):
    """One subtask's checkpoints. `max_concurrent`: how many may be pending at once (TASK-09)."""

    def __init__(self, max_concurrent: int = 1, generation: TaskGeneration | None = None) -> None:
        if max_concurrent < 1:
            raise ConfigError(f"max_concurrent has to be at least 1, came {max_concurrent}; correct it")
        self._generation = generation or task_generation(NEWEST_TASK)
        self._memory = self._generation.fixed_memory or max_concurrent
        self._task_runs = True
        self._failed = False
        self._last = -1
        self._aborted: list[int] = []  # in the order of remembering
        self._highest_aborted = -1
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

    def checkpoint(self, checkpoint: int, fails: bool = False) -> SubtaskEffects:
        """The gate, or the coordinator for a source, triggers `checkpoint`; `fails`: its snapshot throws."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        if not self._generation.ignores_old_triggers and checkpoint in self._running:
            raise ProtocolError(
                f"checkpoint {checkpoint} is being written and is triggered again; trigger each id once"
            )
        if not self._task_runs:  # TASK-10
            return (BroadcastCancel(checkpoint), SendDecline(checkpoint, TASK_NOT_READY))
        if self._generation.ignores_old_triggers:
            told_aborted = self._recall(checkpoint)
            if checkpoint <= self._last:
                return ()  # TASK-02
            self._last = checkpoint
            if told_aborted:  # TASK-03, TASK-19
                return (BroadcastCancel(checkpoint),)
        if fails:
            return (BroadcastBarrier(checkpoint), self._broken_snapshot(checkpoint))
        self._running.add(checkpoint)
        return (BroadcastBarrier(checkpoint), TakeSnapshot(checkpoint))  # TASK-01

    def abort_on_barrier(self, checkpoint: int, reason: str) -> SubtaskEffects:
        """The gate aborts `checkpoint` (TASK-04)."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        if self._generation.ignores_old_triggers:
            self._last = max(self._last, checkpoint)
            while self._aborted and self._aborted[0] < self._last:
                del self._aborted[0]
        return (SendDecline(checkpoint, reason), BroadcastCancel(checkpoint))

    def abort_notification(self, checkpoint: int, completed: int = -1) -> SubtaskEffects:
        """The coordinator aborted `checkpoint`; `completed` is its newest completed one, -1 for none."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        if completed < -1:
            raise ProtocolError(f"completed is a checkpoint id, or -1 for none, came {completed}; send that")
        if not self._generation.abort_messages:
            return ()  # TASK-12
        effects: list[SubtaskEffect] = []
        if self._generation.newest_completion_only:
            effects += self._told_complete(completed)  # TASK-06
        if not self._task_runs:
            return ()
        if checkpoint in self._running:  # TASK-05
            self._running.remove(checkpoint)
            effects.append(CancelAsync(checkpoint))
        elif checkpoint > self._last:
            self._remember(checkpoint)
        effects.append(NotifyOperatorsAbort(checkpoint))
        return tuple(effects)

    def complete_notification(self, checkpoint: int) -> SubtaskEffects:
        """The coordinator completed `checkpoint`."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        if self._generation.newest_completion_only:
            return self._told_complete(checkpoint)
        return (NotifyOperatorsComplete(checkpoint),) if self._task_runs else ()  # TASK-17

    def subsumed_notification(self, checkpoint: int) -> SubtaskEffects:
        """The coordinator dropped `checkpoint` because a newer one is complete (TASK-18)."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        heard = self._task_runs and self._generation.subsumption_messages
        return (NotifyOperatorsSubsumed(checkpoint),) if heard else ()

    def async_done(self, checkpoint: int) -> SubtaskEffects:
        """The asynchronous part of `checkpoint` ended well (TASK-07)."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        return (SendAcknowledge(checkpoint),) if self._async_ended(checkpoint) else ()

    def async_failed(self, checkpoint: int, reason: str = ASYNC_EXCEPTION) -> SubtaskEffects:
        """The asynchronous part of `checkpoint` failed (TASK-08), for a reason that its failure may name."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        if not self._async_ended(checkpoint):
            return ()
        if self._generation.mute_when_stopped and not self._task_runs:
            return ()  # TASK-16
        return (SendDecline(checkpoint, reason if self._generation.tells_the_cause else ASYNC_EXCEPTION),)

    def close(self) -> SubtaskEffects:
        """The task is gone: what still runs for it is stopped (TASK-20)."""
        self._require_alive()
        stopped = sorted(self._running)
        self._running.clear()
        self._task_runs = False
        return tuple(CancelAsync(checkpoint) for checkpoint in stopped)

    def status(self, running: bool) -> SubtaskEffects:
        """The task starts or stops running."""
        self._require_alive()
        self._task_runs = running
        return ()

    def observe(self) -> dict[str, Any]:
        """`running_task`, `last`, `aborted` (as remembered), `running`, `completed`, `highest_aborted`."""
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
            raise ProtocolError("the task has failed with its snapshot; send it nothing more")

    def _recall(self, checkpoint: int) -> bool:
        """Whether its abort was told; once asked, it is forgotten."""
        if checkpoint in self._aborted:
            self._aborted.remove(checkpoint)
            return True
        reach = self._highest_aborted - self._memory
        return self._generation.far_below_is_aborted and checkpoint < reach

    def _remember(self, checkpoint: int) -> None:
        """TASK-09: the one remembered first makes room."""
        if self._generation.far_below_is_aborted:
            self._highest_aborted = max(self._highest_aborted, checkpoint)
        if checkpoint not in self._aborted:
            self._aborted.append(checkpoint)
            if len(self._aborted) > self._memory:
                del self._aborted[0]

    def _broken_snapshot(self, checkpoint: int) -> SubtaskEffect:
        """What follows the barrier when the synchronous part throws: TASK-13, or TASK-14."""
        if not self._generation.fails_with_its_snapshot:
            return SendDecline(checkpoint, JOB_FAILURE)
        self._failed = True
        return Fail(f"the snapshot of checkpoint {checkpoint} could not be taken")

    def _told_complete(self, checkpoint: int) -> SubtaskEffects:
        """TASK-06: a task hears of completions in ascending order only, and its operators while it runs."""
        if checkpoint <= self._completed:
            return ()
        self._completed = checkpoint
        return (NotifyOperatorsComplete(checkpoint),) if self._task_runs else ()

    def _async_ended(self, checkpoint: int) -> bool:
        """Whether the part ran until now; a cancelled or ended one says nothing more."""
        if checkpoint not in self._running:
            return False
        self._running.remove(checkpoint)
        return True

    def handle(self, event: SubtaskEvent) -> SubtaskEffects:
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
        match event:
            case TriggerCheckpoint(checkpoint, fails):
                return self.checkpoint(checkpoint, fails)
            case AbortOnBarrier(checkpoint, reason):
                return self.abort_on_barrier(checkpoint, reason)
            case AbortNotification(checkpoint, completed):
                return self.abort_notification(checkpoint, completed)
            case CompleteNotification(checkpoint):
                return self.complete_notification(checkpoint)
            case SubsumedNotification(checkpoint):
                return self.subsumed_notification(checkpoint)
            case AsyncDone(checkpoint):
                return self.async_done(checkpoint)
            case AsyncFailed(checkpoint, reason):
                return self.async_failed(checkpoint, reason)
            case Status(running):
                return self.status(running)
            case CloseTask():
                return self.close()
            case _:
                assert_never(event)

    _events = events_of(SubtaskEvent)


def subtask_from_config(config: Mapping[str, object]) -> Subtask:
    """The subtask that a wire configuration asks for."""
    only_keys(config, ("profile", "max_concurrent"))
    name = config.get("profile", NEWEST_TASK)
    if not isinstance(name, str):
        raise ConfigError(f"profile is the name of a release, came {name!r}; correct the configuration")
    return Subtask(positive_int(config, "max_concurrent", 1), task_generation(name))
