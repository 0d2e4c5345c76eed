"""The checkpoint coordinator of a running job, on the driver: the core's components, wired to the closed
model.

The core decides; this room tells it what happens (each event recorded), carries its effects out, reads
the clock for it, and keeps the checkpoint folder in step: a checkpoint is published there before its last
acknowledgement is handed to the coordinator, so that nobody hears of a checkpoint that is not durable.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from impl.config import CheckpointConfig
from impl.core import Coordinator
from impl.core.coordinator.events import FINALIZE_CHECKPOINT_FAILURE
from impl.eventlog import EventLog, Recorded, Wire
from impl.faults import COMPLETION_STORED, FaultLedger
from impl.graph.plan import Plan, Role
from impl.savepoints import Savepoint, SavepointDesk
from impl.spark.coordination.final_checkpoint import LastCheckpoint
from impl.spark.coordination.history import CheckpointReport, Course
from impl.spark.coordination.periodic_trigger import PeriodicTrigger
from impl.spark.coordination.restore import Restoring, bounds_of, options_of
from impl.spark.errors import AttemptFailedError, UnknownEffectError
from impl.spark.faults.driver import DriverFaults
from impl.spark.savepoints.savepoints import Savepoints
from impl.spark.snapshots.locations import SnapshotPlaces
from impl.state import CheckpointStorage, Refused, StateHandle, StorageError

Send = Callable[[str, dict[str, Any]], None]
_CLEARED_AGAIN = 3
"""At a completion: so many of the checkpoints that were aborted last."""


class Coordination:
    """The coordinator of one job over all its attempts. Used by one thread.

    Whom it speaks to is set anew for each attempt, by `begin_attempt`. `clock` answers seconds,
    `wall_clock` those that tasks on other hosts count too. `takes_over`: from a driver whose log goes on.
    """

    def __init__(
        self,
        plan: Plan,
        config: CheckpointConfig,
        storage: CheckpointStorage,
        ledger: FaultLedger,
        log: EventLog | None,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        *,
        takes_over: bool = False,
        savepoints: Savepoints | None = None,
    ) -> None:
        self._restoring = Restoring(storage, self._line, takes_over=takes_over)
        self._savepoints = savepoints or Savepoints(SavepointDesk(), Path(), "", plan, storage)
        self._files = SnapshotPlaces(storage, self._savepoints, plan.max_parallelism)
        self._clock = clock
        self._wall_clock = wall_clock
        self._plan = plan
        self._tasks = plan.ids()
        self._config = config
        self._storage = storage
        self.faults = DriverFaults(ledger, self._tasks, plan.of_role(Role.SINK), self._line, plan.outputs())
        self._log = log
        self._periodic = PeriodicTrigger(
            config.checkpointing_interval_ms,
            min_pause_ms=config.min_pause_between_checkpoints_ms,
            initial_delay_ms=config.first_delay_ms,
        )
        self._wanted = self._savepoints.wanted
        self._started = self._clock()
        self._send: Send = _to_nobody
        self._attempt = 0
        self._reserved = 0
        """The highest id whose directory this driver has made."""
        self._running: set[str] = set()
        self._last = LastCheckpoint()
        self._failure: str | None = None
        self._course = Course(config.tolerable_checkpoint_failure_number)
        self._triggered: dict[int, float] = {}
        self.completions = self._course.completions
        self.aborted = self._course.aborted
        first = storage.next_checkpoint_id()
        if first > 1 and not storage.completed_ids():  # an earlier driver has begun some and completed none
            self._line({"kind": "coordinator_started", "first_id": first, "completed": []})
        self._use(Coordinator(options_of(plan, config), first_id=first))

    # ------------------------------------------------------------ attempts

    def begin_attempt(self, attempt: int, send: Send) -> tuple[int | None, Mapping[str, StateHandle]]:
        """Start `attempt`: the checkpoint it restores (None: from the beginning) and its handles, by task.

        A checkpoint that was altered is refused, and the one before it is used (ONCE-04). A checkpoint
        that an earlier driver has published is taken over. Raises `SupersededError` if a newer attempt was
        drawn since.
        """
        self._attempt = attempt
        if self._log:
            self._log.attempt = attempt
        self._send = send
        self._running.clear()
        self._last = LastCheckpoint()
        self._failure = None
        states, published = self._restoring.newest(self._coordinator.completed)
        first = self._reserved_id()
        if published is not None or first != self._coordinator.next_id:
            self._take_over(self._coordinator.completed if published is None else published, first)
        restored = self._restored(self._apply({"kind": "restore"}))
        self._storage.record_restored(attempt, restored)
        self._line({"kind": "configured", **bounds_of(self._config)})
        self._line(
            {
                "kind": "attempt_started",
                "restored": restored,
                "tasks": list(self._tasks),
                "edges": self._plan.edges(),
                "exchanges": self._plan.exchanges(),
                "states": list(states),
            }
        )
        return restored, states

    def fail_attempt(self, reason: str) -> None:
        """The attempt has failed: every task with it, and every pending checkpoint (COORD-12)."""
        self._send = _to_nobody
        self._periodic.stop()
        self._last.give_up()
        self._line({"kind": "attempt_failed", "reason": reason})
        self._savepoints.attempt_failed(reason)
        self._wanted.refused(reason)
        self._failure = None  # it has been told: too many failed checkpoints fail an attempt once
        self._act({"kind": "fail_tasks", "tasks": list(self._tasks)})

    def finish(self) -> tuple[Savepoint, ...]:
        """Every task has finished, and writes nothing more: what was begun and not completed goes.

        Answers the savepoints that were taken; whoever has asked for a stop hears of it now. Raises
        `SupersededError`, and leaves everything as it is, if a newer attempt exists.
        """
        self._storage.require_newest("finishing the job", self._attempt)
        self._send = _to_nobody
        for effect in self._apply({"kind": "job_status", "status": "FINISHED"}):
            self._carry_out(effect)
        self._files.clear([*(checkpoint for checkpoint, _ in self.aborted), self._coordinator.next_id])
        self._storage.sweep(self._attempt + 1)
        self._line({"kind": "finished"})
        self._savepoints.finished()
        return tuple(self._savepoints.completed)

    # ------------------------------------------------------------ what tasks say

    def running(self, task: str) -> None:
        """`task` has restored its state and runs; with the last one the schedule starts."""
        self._running.add(task)
        self._act({"kind": "task_status", "task": task, "status": "RUNNING"})
        if self.all_running:
            self._act({"kind": "job_status", "status": "RUNNING"})
            self._periodic.start(self._now())

    @property
    def all_running(self) -> bool:
        """Whether every task of the attempt runs."""
        return len(self._running) == len(self._tasks)

    @property
    def refused(self) -> list[Refused]:
        """Checkpoints that were altered or belong to a dead attempt, and so are not gone on from."""
        return self._restoring.refused

    @property
    def pending(self) -> int | None:
        """The oldest pending checkpoint, for those who watch."""
        return next(iter(self._coordinator.pending), None)

    def acknowledge(self, task: str, checkpoint: int, state: dict[str, Any]) -> None:
        """`task` acknowledges; the last one publishes the checkpoint first, or declines it if that fails."""
        if self._coordinator.awaiting(checkpoint) == (task,):
            if not self._savepoints.has(checkpoint):  # a driver may die just after it
                self._line({"kind": "publishing", "checkpoint": checkpoint})
            handles = [*self._coordinator.collected(checkpoint).values(), state]
            try:
                with self.faults.publication(self._send):
                    self._files.publish(checkpoint, self._attempt, map(_handle, handles))
            except StorageError as failed:
                self._line({"kind": "publication_failed", "checkpoint": checkpoint, "reason": str(failed)})
                self.decline(task, checkpoint, FINALIZE_CHECKPOINT_FAILURE)
                return
        self._act({"kind": "acknowledge", "task": task, "checkpoint": checkpoint, "state": state})

    def decline(self, task: str, checkpoint: int, reason: str, why: str | None = None) -> None:
        """`task` declines a checkpoint; `why`: in plain words, where it knows."""
        self._course.declined(task, checkpoint, why)
        self._act({"kind": "decline", "task": task, "checkpoint": checkpoint, "reason": reason})

    def end_of_data(self, task: str) -> None:
        """The end of data has passed through `task`; with the last one the final checkpoint is due."""
        if self._last.ended(task, len(self._tasks)):
            self._periodic.stop()
            if not self._savepoints.stopping:  # else the savepoint that drains the job is the last of all
                self._last.may_be(self._coordinator.next_id)

    # ------------------------------------------------------------ time

    def tick(self) -> float:
        """Do what is due by the clock; answers the seconds until something may be due again."""
        now = self._now()
        deadline = self._coordinator.next_deadline
        if deadline is not None and now >= deadline:
            self._sync()
        self._ask_for_savepoints(now)
        decision = self._periodic.poll(now, waiting=bool(self._coordinator.waiting))
        if self._savepoints.stopping:
            self._wanted.refused("the job is being stopped with a savepoint")
        elif decision.trigger or self._last.due or (self.all_running and self._wanted.due()):
            self._last.due = False
            self._sync()
            self._act({"kind": "trigger", "type": "checkpoint"})
        due = [at for at in (decision.look_again, self._coordinator.next_deadline) if at is not None]
        return max(min(due, default=now + 200) - self._now(), 0) / 1_000

    def _ask_for_savepoints(self, now: int) -> None:
        """What somebody has asked for while all tasks run; one that stops the job ends the schedule."""
        if not self.all_running:
            return
        while (event := self._savepoints.due(now)) is not None:
            self._sync()
            if self._savepoints.stopping:
                self._periodic.stop()
                self._last.give_up()
            self._act(event)

    def _now(self) -> int:
        return int((self._clock() - self._started) * 1_000)

    def _sync(self) -> None:
        """Let the coordinator's virtual time catch up with the clock."""
        passed = self._now() - self._coordinator.now
        if passed > 0:
            self._act({"kind": "advance", "ms": passed})

    # ------------------------------------------------------------ events and effects

    def _act(self, event: Wire) -> None:
        effects = self._apply(event)
        for effect in effects:
            self._carry_out(effect)
        if self._failure is not None:
            raise AttemptFailedError(self._failure)

    def _apply(self, event: Wire) -> list[Wire]:
        return self._recorded.apply(event)

    def _restored(self, effects: list[Wire]) -> int | None:
        """What the coordinator restores; whatever else it answers is carried out."""
        for effect in effects:
            if effect["kind"] != "restored":
                self._carry_out(effect)
        (restored,) = (effect["checkpoint"] for effect in effects if effect["kind"] == "restored")
        assert restored is None or isinstance(restored, int)
        return restored

    def _carry_out(self, effect: Wire) -> None:
        match effect:
            case {"kind": "trigger_task", "task": str(task), "checkpoint": int(checkpoint), "type": kind}:
                self._trigger(task, checkpoint, str(kind))
            case {"kind": "rejected", "type": "checkpoint", "reason": str(reason)}:
                self._wanted.refused(reason)
            case {"kind": "rejected", "type": str(kind), "reason": str(reason)}:
                self._savepoints.rejected(kind, reason)
            case {"kind": "complete", "checkpoint": int(checkpoint)}:
                self._completed(checkpoint)
            case {"kind": "abort", "checkpoint": int(checkpoint), "reason": str(reason)}:
                self._aborted(checkpoint, reason)
            case {"kind": "fail_job", "reason": str(reason)}:
                self._failure = self._failure or self._course.too_many_failures(reason)
            case {"kind": "discard", "checkpoint": int(checkpoint)}:
                self._storage.discard(checkpoint)
            case {"kind": "discard", "state": state}:
                self._files.discard_state(_handle(state))
            case {"kind": "notify_complete", "task": str(task), "checkpoint": int(checkpoint)}:
                self._send(task, {"do": "complete", "checkpoint": checkpoint})
                self._end_if_final(task, checkpoint)
            case {"kind": "notify_abort", "task": str(task), "checkpoint": int(checkpoint)}:
                completed = self._coordinator.completed
                newest = completed[-1] if completed else -1
                self._send(task, {"do": "abort", "checkpoint": checkpoint, "completed": newest})
            case {"kind": "acknowledged"}:
                pass  # its last one has another effect, `complete`
            case {"kind": "notify_subsumed"}:
                pass  # tasks keep nothing of completed checkpoints; `discard` deletes the files
            case {"kind": "fail", "error": str(error)}:
                raise AttemptFailedError(f"the checkpoint coordinator refused an event: {error}")
            case _:
                raise UnknownEffectError.of("checkpoint coordinator", effect)

    def _trigger(self, task: str, checkpoint: int, kind: str) -> None:
        if checkpoint not in self._triggered:
            self._triggered[checkpoint] = self._clock()
            if self._storage.reserve(checkpoint + 1):
                self._reserved = checkpoint + 1
            self._storage.require_newest(f"triggering checkpoint {checkpoint}", self._attempt)
            if kind == "checkpoint":
                self._wanted.triggered(checkpoint)
        message: dict[str, Any] = {"do": "trigger", "checkpoint": checkpoint}
        message["timestamp"] = int(self._wall_clock() * 1_000)
        order = self._savepoints.order(checkpoint, kind)
        if order is not None:
            message["savepoint"] = order._asdict()
        self._send(task, message)

    def _completed(self, checkpoint: int) -> None:
        duration = (self._clock() - self._triggered.pop(checkpoint)) * 1_000
        if self._savepoints.has(checkpoint):
            self._savepoints.complete(checkpoint)
            self._periodic.completed(self._now())
            return
        self.completions.append(CheckpointReport(checkpoint, self._attempt, round(duration, 1)))
        self._wanted.completed(checkpoint)
        self._periodic.completed(self._now())
        self._files.clear([one for one, _ in self.aborted[-_CLEARED_AGAIN:] if one < checkpoint])
        self.faults.passing(COMPLETION_STORED, self._send)

    def _aborted(self, checkpoint: int, reason: str) -> None:
        self._triggered.pop(checkpoint, None)
        self.aborted.append((checkpoint, reason))
        if self._savepoints.has(checkpoint):
            stop = self._savepoints.is_stop(checkpoint)
            self._savepoints.aborted(checkpoint, reason)
            if stop:  # its sources have stopped
                self._failure = f"savepoint {checkpoint} was to stop the job and was aborted with {reason}"
            return
        self._wanted.aborted(checkpoint, reason)
        self._last.aborted(checkpoint)

    def _end_if_final(self, task: str, checkpoint: int) -> None:
        final = self._last.covers(checkpoint) or self._savepoints.is_stop(checkpoint)
        if final and task in self._plan.of_role(Role.SOURCE):
            self._send(task, {"do": "finish"})

    # ------------------------------------------------------------ taking over

    def _use(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._recorded = Recorded("coordinator", coordinator, self._log)

    def _reserved_id(self) -> int:
        """The id that the next checkpoint gets, which no other driver uses (COORD-02)."""
        first = self._coordinator.next_id
        if self._reserved == first and self._storage.next_checkpoint_id() <= first + 1:
            self._storage.reserve(first)  # a sweep may have removed its directory
            return first
        first = max(first, self._storage.next_checkpoint_id())
        while not self._storage.reserve(first):
            first = max(first + 1, self._storage.next_checkpoint_id())
        self._reserved = first
        return first

    def _take_over(self, completed: tuple[int, ...], first: int) -> None:
        """A new coordinator over `completed`; ids go on above all that were ever used (COORD-02)."""
        self._use(Coordinator(options_of(self._plan, self._config), first_id=first, completed=completed))
        kept = self._coordinator.completed
        self._line({"kind": "coordinator_started", "first_id": first, "completed": list(kept)})
        for checkpoint in completed:
            if checkpoint not in kept:
                self._storage.discard(checkpoint)  # the coordinator leaves that to who owns the files

    def _line(self, fields: Mapping[str, object]) -> None:
        if self._log:
            self._log.line(fields)


def _to_nobody(task: str, message: dict[str, Any]) -> None:
    """Between attempts nobody is there to be told."""


def _handle(state: Any) -> StateHandle:  # noqa: ANN401 - opaque to the coordinator
    return StateHandle.from_json(state)
