"""The steps that complete or abort a pending checkpoint. Rules COORD-07 to COORD-09, SUB-02 to SUB-05.

The coordinator stores a complete checkpoint, aborts older pending ones, and then notifies the tasks. No step
of this module starts a checkpoint. When a checkpoint has ended, `model.coordinator.trigger` starts waiting
requests.

The module describes Flink 1.19 and later. `model.coordinator.generations` holds the steps of older releases.
"""

from model.coordinator.events import Complete, DiscardCheckpoint, FailJob, NotifyMaster
from model.coordinator.failures import Failure, FailureSteps
from model.coordinator.pending import NO_STATE, Pending
from model.coordinator.shared_state import SharedStateSteps
from model.coordinator.state import Coordinator, drop_pending, holds_savepoint, unclaimed
from model.events import (
    BEFORE,
    CHECKPOINT_SUBSUMED,
    FINALIZE_CHECKPOINT_FAILURE,
    IO_EXCEPTION,
    MAYBE,
    NONE,
    Effects,
    Fail,
    NotifyAbort,
    NotifyComplete,
    NotifySubsumed,
    Rules,
    Step,
)
from model.gate.events import Abort
from model.store.events import Subsumed
from model.store.generations import store_steps
from model.store.store import CHECKPOINT, SAVEPOINT, STOP, Entry

STORE_EXCEPTION = "CheckpointException"
"""The exception in answer to the last acknowledgement, if writing the metadata or the store fails."""


class CompletionSteps:
    """The steps that end a checkpoint, and the methods that older generations override."""

    failures: FailureSteps = FailureSteps()
    shared_state: SharedStateSteps = SharedStateSteps()

    # ------------------------------------------------------------ completion

    def complete(self, coordinator: Coordinator, done: Pending, effects: Effects) -> Step[Coordinator]:
        """Completes the checkpoint: stores it, aborts older ones, then notifies the tasks (COORD-08)."""
        if coordinator.io.metadata:
            return self.fail_to_write(coordinator, done, effects)
        turns = coordinator.plan.profile.turns_after_end
        coordinator = owe_turns(drop_pending(coordinator, done), turns)
        subsumed: tuple[int, ...] = ()
        rules: Rules = ("COORD-07", *self.counting_rules(coordinator))
        coordinator, called = self.before_storing(coordinator, done)
        effects = (*effects, *called)
        if self.is_stored(done):
            if coordinator.fault != 0:
                return self.fail_to_store(coordinator, done, effects, rules)
            added = self.add_to_store(coordinator, done)
            dropped = len(coordinator.store.entries) + 1 - len(added.state.store.entries)
            coordinator = added.state
            subsumed = tuple(effect.checkpoint for effect in added.effects if type(effect) is Subsumed)
            coordinator = self.delete(coordinator, (True,) * self.turns_after_deletion(dropped))
            effects = (*effects, *(effect for effect in added.effects if type(effect) is not Subsumed))
            rules = (*rules, *added.rules)
        coordinator, called = self.after_storing(coordinator, done)
        ended = self.end_older(pause(coordinator), done, subsumed)
        return Step(ended.state, (*effects, *called, *ended.effects), (*rules, *ended.rules))

    def before_storing(self, coordinator: Coordinator, done: Pending) -> tuple[Coordinator, Effects]:
        """The changes and the effects before the store adds the checkpoint: none."""
        return coordinator, ()

    def after_storing(self, coordinator: Coordinator, done: Pending) -> tuple[Coordinator, Effects]:
        """The changes and the effects after that: the success counts, and the coordinator reports it."""
        return self.succeed(coordinator, done), (Complete(done.checkpoint),)

    def is_stored(self, done: Pending) -> bool:
        """Whether the store adds the checkpoint. It adds no savepoint, because that belongs to a user."""
        return done.type == CHECKPOINT

    def turns_after_deletion(self, dropped: int) -> int:
        """Number of turns that waiting requests get after the store has deleted `dropped` checkpoints."""
        return dropped

    def end_older(
        self, coordinator: Coordinator, done: Pending, subsumed: tuple[int, ...]
    ) -> Step[Coordinator]:
        """A completed checkpoint aborts older pending ones. A savepoint aborts none (SUB-05)."""
        if done.type == SAVEPOINT:
            return Step(coordinator, (), ("SUB-05",))
        return self.replace_older(coordinator, done, subsumed)

    def replace_older(
        self, coordinator: Coordinator, done: Pending, subsumed: tuple[int, ...]
    ) -> Step[Coordinator]:
        """Aborts the older pending checkpoints, then notifies the tasks of the complete one.

        `subsumed`: the highest id that the store has dropped, as a tuple. Empty for none.
        """
        coordinator, effects, rules = self.subsume_older(coordinator, done)
        notifications = notify_complete(coordinator, done, subsumed)
        return Step(coordinator, (*effects, *notifications), ("COORD-08", "SUB-03", *rules))

    def succeed(self, coordinator: Coordinator, done: Pending) -> Coordinator:
        """The coordinator after a success. A success can clear the count of failures."""
        tolerable = coordinator.plan.tolerable_failures
        counted = self.failures.on_success(coordinator.failures, tolerable, done.checkpoint)
        return coordinator._replace(failures=counted)

    def add_to_store(self, coordinator: Coordinator, done: Pending) -> Step[Coordinator]:
        """The store adds the checkpoint and drops surplus ones. The registry deletes unused files."""
        shared = self.shared_state.complete(coordinator.shared, done)
        added = store_steps(coordinator.store).on_add(coordinator.store, done.checkpoint, done.type)
        retained = self.lasting(coordinator, tuple(entry.checkpoint for entry in added.state.entries))
        durable = (*retained, *(entry.checkpoint for entry in coordinator.unseen))
        kept = tuple(one for one in retained if one not in unclaimed(coordinator.plan))
        shared, effects = self.shared_state.delete(shared, added.effects, kept, durable)
        rules = (*added.rules, "SUB-12") if shared.completed else added.rules
        after = coordinator._replace(store=added.state, shared=shared)
        if holds_savepoint(coordinator) and not holds_savepoint(after):
            rules = (*rules, "SUB-13")
        return Step(after, effects, rules)

    def lasting(self, coordinator: Coordinator, retained: tuple[int, ...]) -> tuple[int, ...]:
        """The checkpoints whose files a restore can need: the retained ones."""
        return retained

    def subsume_older(self, coordinator: Coordinator, done: Pending) -> Step[Coordinator]:
        """Aborts the older pending checkpoints (SUB-02), except savepoints (SUB-04)."""
        effects: Effects = ()
        rules: Rules = ()
        for older in coordinator.pending:
            if older.checkpoint < done.checkpoint:
                if not self.can_be_subsumed(older):
                    rules = (*rules, "SUB-04")
                    continue
                coordinator, ended, further = self.abort(coordinator, older, CHECKPOINT_SUBSUMED)
                effects = (*effects, *ended)
                rules = (*rules, "SUB-02", "SUB-01", *further)
        return Step(coordinator, effects, rules)

    def can_be_subsumed(self, pending: Pending) -> bool:
        """Whether the completion of a newer checkpoint aborts this one (SUB-02, SUB-04)."""
        return pending.type == CHECKPOINT

    # ------------------------------------------------------------ metadata or a store that fails

    def fail_to_write(self, coordinator: Coordinator, done: Pending, effects: Effects) -> Step[Coordinator]:
        """The metadata cannot be written: the checkpoint is aborted before it is stored (COORD-34).

        Waiting requests get one turn after the abort, and one after the failed completion.
        """
        coordinator = coordinator._replace(io=coordinator.io._replace(metadata=False))
        unwritten = self.shared_state.unwritten(done)
        coordinator, ended, rules = self.abort(coordinator, unwritten, FINALIZE_CHECKPOINT_FAILURE)
        coordinator = owe_turns(coordinator, min(coordinator.plan.profile.turns_after_end, 1))
        return Step(coordinator, (*effects, *ended, Fail(STORE_EXCEPTION)), ("COORD-34", *rules))

    def fail_to_store(
        self, coordinator: Coordinator, done: Pending, effects: Effects, rules: Rules
    ) -> Step[Coordinator]:
        """The store has failed: aborts the checkpoint, and deletes it if it is not stored (COORD-21)."""
        fault = coordinator.fault
        is_durable = fault != BEFORE
        shared = self.shared_state.complete(coordinator.shared, done)
        coordinator = coordinator._replace(fault=0, shared=shared)
        if is_durable:
            unseen = (*coordinator.unseen, Entry(done.checkpoint, done.type))
            coordinator = coordinator._replace(unseen=unseen)
        effects = (*effects, *self.abort_unstored(done))
        if not self.may_be_stored(fault):
            shared, released = self.shared_state.discard_unstored(
                shared, done.checkpoint, is_durable=is_durable
            )
            coordinator = self.delete(coordinator._replace(shared=shared), (False,))
            effects = (*effects, DiscardCheckpoint(done.checkpoint), *released)
        coordinator, emitted, counting = self.count_failed_store(coordinator, done)
        notifications = self.notify_abort(coordinator, done)
        return Step(
            coordinator,
            (*effects, *emitted, *notifications, Fail(STORE_EXCEPTION)),
            ("COORD-20", "COORD-21", *rules, *counting),
        )

    def abort_unstored(self, done: Pending) -> Effects:
        """The effects that abort a checkpoint that the store has not added."""
        return (Abort(done.checkpoint, FINALIZE_CHECKPOINT_FAILURE),)

    def may_be_stored(self, fault: int) -> bool:
        """Whether the failed store may have stored the checkpoint. Its files then stay (COORD-21)."""
        return fault == MAYBE

    def count_failed_store(self, coordinator: Coordinator, done: Pending) -> Step[Coordinator]:
        """A failed addition to the store counts as a failure."""
        return self.count_failure(coordinator, done, FINALIZE_CHECKPOINT_FAILURE, by_task=False)

    # ------------------------------------------------------------ deletions and aborts

    def delete(self, coordinator: Coordinator, turns: tuple[bool, ...]) -> Coordinator:
        """Begins one deletion for each element of `turns`. Without slow cleaning, the deletions end at once.

        The element states whether waiting requests get a turn when the deletion ends.
        """
        if coordinator.plan.slow_cleaning:
            return coordinator._replace(deletions=(*coordinator.deletions, *turns))
        return owe_turns(coordinator, sum(turns))

    def delete_collected(self, coordinator: Coordinator, pending: Pending, turns: int) -> Coordinator:
        """Begins to delete an aborted checkpoint's state. After that, waiting requests get `turns` turns."""
        if coordinator.plan.slow_cleaning and not self.has_deletion(pending):
            return owe_turns(coordinator, turns)
        return self.delete(coordinator, (True,) * turns)

    def has_deletion(self, pending: Pending) -> bool:
        """Whether an aborted checkpoint has collected state. Only then its deletion can take time."""
        of_tasks = any(state != NO_STATE for state in pending.states) or any(pending.shared)
        return of_tasks or (len(pending.coordinators) > 0 and all(pending.coordinators))

    def abort(
        self, coordinator: Coordinator, pending: Pending, reason: str, *, by_task: bool = False
    ) -> Step[Coordinator]:
        """Aborts a pending checkpoint. `by_task`: a task has declined it."""
        turns = coordinator.plan.profile.turns_after_end
        is_starting = coordinator.master == pending.checkpoint
        coordinator = owe_turns(drop_pending(coordinator, pending), min(turns, 1))
        coordinator = self.delete_collected(coordinator, pending, turns - 1)
        if is_starting:
            return self.abort_start(coordinator, pending, reason, by_task=by_task)
        return self.discard(coordinator, pending, reason, by_task=by_task)

    def abort_start(
        self, coordinator: Coordinator, pending: Pending, reason: str, *, by_task: bool
    ) -> Step[Coordinator]:
        """An abort in the master phase ends this phase, and the start fails (COORD-30)."""
        coordinator = owe_turns(coordinator._replace(master=NONE), 1)
        coordinator, effects, rules = self.discard(coordinator, pending, reason, by_task=by_task)
        coordinator, emitted, further = self.fail_start(coordinator, pending, reason)
        return Step(coordinator, (*effects, *emitted), (*rules, "COORD-30", *further))

    def discard(
        self, coordinator: Coordinator, pending: Pending, reason: str, *, by_task: bool
    ) -> Step[Coordinator]:
        """Emits the effects of an abort: deletes the state, counts the failure, and notifies the tasks."""
        lost = self.shared_state.loss_of(coordinator.shared, pending)
        coordinator, emitted, rules = self.count_failure(coordinator, pending, reason, by_task=by_task)
        notifications = self.notify_abort(coordinator, pending)
        effects: Effects = (Abort(pending.checkpoint, reason), *lost, *emitted, *notifications)
        return Step(coordinator, effects, rules)

    def fail_start(self, coordinator: Coordinator, begun: Pending, reason: str) -> Step[Coordinator]:
        """Counts the failed start of an aborted checkpoint, as a second failure (COORD-31)."""
        coordinator, emitted, rules = self.count_failure(coordinator, begun, reason, by_task=False)
        return Step(coordinator, emitted, (*rules, "COORD-31"))

    def fail_io(self, coordinator: Coordinator, failed: Pending, reported: str) -> Step[Coordinator]:
        """Counts a start that failed at an input or output. If the job fails, the reason is `reported`."""
        coordinator, emitted, rules = self.count_failure(coordinator, failed, IO_EXCEPTION, by_task=False)
        return Step(coordinator, (FailJob(reported),) if emitted else (), rules)

    def notify_abort(self, coordinator: Coordinator, ended: Pending) -> Effects:
        """The effects that notify the tasks that took part, and every operator coordinator, of an abort."""
        flags = enumerate(listeners(coordinator, ended))
        notifications = tuple(NotifyAbort(ended.checkpoint, task) for task, notified in flags if notified)
        masters = tuple(
            NotifyMaster(place, ended.checkpoint, False) for place in range(coordinator.plan.coordinators)
        )
        return (*notifications, *masters)

    # ------------------------------------------------------------ failures that count

    def count_failure(
        self, coordinator: Coordinator, failed: Pending, reason: str, *, by_task: bool
    ) -> Step[Coordinator]:
        """Counts one more failure. The job fails if the count exceeds the tolerated number."""
        plan = coordinator.plan
        failure = Failure(failed.checkpoint, failed.type, reason, by_task)
        counted, too_many = self.failures.on_failure(
            coordinator.failures, plan.profile, plan.tolerable_failures, failure
        )
        rules = self.counting_rules(coordinator)
        effects: Effects = ()
        if too_many:
            effects = (FailJob(reason),)
            if failed.type == STOP:
                rules = ("COORD-28", *rules)
        return Step(coordinator._replace(failures=counted), effects, rules)

    def counting_rules(self, coordinator: Coordinator) -> Rules:
        """The rules of the count of failures. Empty if the job tolerates any number of failures."""
        return self.failures.rules if coordinator.plan.tolerable_failures >= 0 else ()


def notify_complete(coordinator: Coordinator, done: Pending, subsumed: tuple[int, ...]) -> Effects:
    """The effects that notify the tasks that took part, and every operator coordinator, of a completion."""
    notifications: Effects = tuple(
        notification
        for task, notified in enumerate(listeners(coordinator, done))
        if notified
        for notification in (
            NotifyComplete(done.checkpoint, task),
            *(NotifySubsumed(gone, task) for gone in subsumed),
        )
    )
    masters = tuple(
        NotifyMaster(place, done.checkpoint, True) for place in range(coordinator.plan.coordinators)
    )
    return (*notifications, *masters)


def listeners(coordinator: Coordinator, ended: Pending) -> tuple[bool, ...]:
    """By task: the coordinator notifies it of the end. The task took part and was deployed at some time."""
    return tuple(
        takes_part and reached
        for takes_part, reached in zip(ended.tasks, coordinator.tasks_reached, strict=True)
    )


def pause(coordinator: Coordinator) -> Coordinator:
    """The coordinator after a completion. Periodic requests are too early until the pause has passed."""
    if not coordinator.plan.min_pause:
        return coordinator
    return coordinator._replace(pause_ends=coordinator.now + coordinator.plan.min_pause)


def owe_turns(coordinator: Coordinator, turns: int) -> Coordinator:
    """The coordinator, in which waiting requests get `turns` further turns within this event."""
    return coordinator._replace(turns=coordinator.turns + turns)
