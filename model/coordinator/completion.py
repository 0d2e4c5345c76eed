"""The end of a pending checkpoint: it is complete, or it is aborted. Rules COORD-07 to 09, SUB-02 to 05.

The coordinator stores a complete one, ends older ones, and then notifies the tasks. No checkpoint starts in
this module; `model.coordinator.trigger`, which follows every end, starts waiting requests.
"""

from model.coordinator import failures, shared_state
from model.coordinator.events import (
    BEFORE,
    FINALIZE_CHECKPOINT_FAILURE,
    MAYBE,
    PRE_FLIGHT,
    Complete,
    DiscardCheckpoint,
    FailJob,
    TellMaster,
)
from model.coordinator.pending import Pending, can_be_subsumed
from model.coordinator.state import Coordinator, Plan, drop_pending
from model.events import (
    CHECKPOINT_SUBSUMED,
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
from model.store.store import CHECKPOINT, SAVEPOINT, STOP, Entry, on_add

STORE_EXCEPTION = "CheckpointException"
"""The exception that the sender of the last acknowledgement gets when the store fails."""


def complete(coordinator: Coordinator, done: Pending, effects: Effects) -> Step[Coordinator]:
    """Every task has acknowledged: store the checkpoint, end the older ones, then notify (COORD-08)."""
    profile = coordinator.plan.profile
    coordinator = owe_turns(drop_pending(coordinator, done), profile.turns_after_end)
    subsumed: tuple[int, ...] = ()
    rules: Rules = ("COORD-07",)
    if coordinator.plan.tolerable_failures >= 0:
        rules = (*rules, *counting_rules(coordinator.plan))
    if profile.counts_success_first:
        coordinator = succeed(coordinator, done)
    if profile.completes_first:
        effects = (*effects, Complete(done.checkpoint))
    if done.type == CHECKPOINT or profile.stores_savepoints:
        if coordinator.fault:
            return fail_to_store(coordinator, done, effects, rules)
        added = add_to_store(coordinator, done)
        coordinator = added.state
        subsumed = tuple(effect.checkpoint for effect in added.effects if type(effect) is Subsumed)
        if profile.turn_after_drop:
            deleted = sum(type(effect) is DiscardCheckpoint for effect in added.effects)
            coordinator = owe_turns(coordinator, deleted)
        effects = (*effects, *(effect for effect in added.effects if type(effect) is not Subsumed))
        rules = (*rules, *added.rules)
    if not profile.counts_success_first:
        coordinator = succeed(coordinator, done)
    if not profile.completes_first:
        effects = (*effects, Complete(done.checkpoint))
    coordinator = pause(coordinator)
    if done.type == SAVEPOINT and not profile.stores_savepoints:  # it replaces no checkpoint
        return Step(coordinator, effects, (*rules, "SUB-05"))
    if done.type == SAVEPOINT:
        rules = (*rules, "SUB-11")
    ended = subsume_older(coordinator, done)
    notifications = notify_complete(ended.state, done, subsumed)
    return Step(
        ended.state,
        (*effects, *ended.effects, *notifications),
        (*rules, "COORD-08", "SUB-03", *ended.rules),
    )


def succeed(coordinator: Coordinator, done: Pending) -> Coordinator:
    """The coordinator after a success, which may clear its count of failures."""
    plan = coordinator.plan
    counted = failures.on_success(
        coordinator.failures, plan.profile, plan.tolerable_failures, done.checkpoint
    )
    return coordinator._replace(failures=counted)


def pause(coordinator: Coordinator) -> Coordinator:
    """After a completion, periodic requests are too early until the minimum pause has passed."""
    if not coordinator.plan.min_pause:
        return coordinator
    return coordinator._replace(pause_ends=coordinator.now + coordinator.plan.min_pause)


def add_to_store(coordinator: Coordinator, done: Pending) -> Step[Coordinator]:
    """The store adds the checkpoint and drops surplus ones; shared files without a user are deleted."""
    shared = shared_state.complete(
        coordinator.shared, done, registers_early=coordinator.plan.profile.registers_early
    )
    added = on_add(coordinator.store, done.checkpoint, done.type)
    retained = tuple(entry.checkpoint for entry in added.state.entries)
    effects: Effects = ()
    for effect in added.effects:
        effects = (*effects, effect)
        if type(effect) is DiscardCheckpoint and not coordinator.plan.profile.registers_early:
            shared, released = shared_state.release(shared, effect.checkpoint)
            effects = (*effects, *released)
    if coordinator.plan.profile.registers_early:
        durable = (*retained, *(entry.checkpoint for entry in coordinator.unseen))
        shared, released = shared_state.forget_older(shared, retained, durable)
        effects = (*effects, *released)
    rules = (*added.rules, "SUB-12") if shared.completed else added.rules
    return Step(coordinator._replace(store=added.state, shared=shared), effects, rules)


def fail_to_store(
    coordinator: Coordinator, done: Pending, effects: Effects, rules: Rules
) -> Step[Coordinator]:
    """The store has failed: the checkpoint is aborted, and deleted unless it may be stored."""
    profile = coordinator.plan.profile
    fault = coordinator.fault
    shared = shared_state.complete(coordinator.shared, done, registers_early=profile.registers_early)
    coordinator = coordinator._replace(fault=0, shared=shared)
    if fault != BEFORE:
        coordinator = coordinator._replace(unseen=(*coordinator.unseen, Entry(done.checkpoint, done.type)))
    if not profile.completes_first:
        effects = (*effects, Abort(done.checkpoint, FINALIZE_CHECKPOINT_FAILURE))
    if fault != MAYBE or not profile.doubts_the_store:
        effects = (*effects, DiscardCheckpoint(done.checkpoint))
        if not profile.registers_early:
            uses = shared_state.uses_of(coordinator.shared, done.checkpoint)
            shared, released = shared_state.release(coordinator.shared, done.checkpoint)
            if fault != BEFORE:
                shared = shared._replace(unseen=(*shared.unseen, *uses))
            coordinator = coordinator._replace(shared=shared)
            effects = (*effects, *released)
    if profile.counts_failed_store:
        coordinator, emitted, counting = count_failure(
            coordinator, done, FINALIZE_CHECKPOINT_FAILURE, by_task=False
        )
        effects, rules = (*effects, *emitted), (*rules, *counting)
    notifications = notify_abort(coordinator, done)
    return Step(
        coordinator, (*effects, *notifications, Fail(STORE_EXCEPTION)), ("COORD-20", "COORD-21", *rules)
    )


def subsume_older(coordinator: Coordinator, done: Pending) -> Step[Coordinator]:
    """Aborts the older pending checkpoints (SUB-02), except savepoints (SUB-04)."""
    effects: Effects = ()
    rules: Rules = ()
    for older in coordinator.pending:
        if older.checkpoint < done.checkpoint:
            if not can_be_subsumed(older, forced_are_safe=coordinator.plan.profile.forced_are_safe):
                rules = (*rules, "SUB-04")
                continue
            coordinator, ended, further = abort(coordinator, older, CHECKPOINT_SUBSUMED)
            effects = (*effects, *ended)
            rules = (*rules, "SUB-02", "SUB-01", *further)
    return Step(coordinator, effects, rules)


def notify_complete(coordinator: Coordinator, done: Pending, subsumed: tuple[int, ...]) -> Effects:
    """Notifies every deployed task that took part, and every operator coordinator."""
    notifications: Effects = ()
    for task, notified in enumerate(listeners(coordinator, done)):
        if notified:
            notifications = (*notifications, NotifyComplete(done.checkpoint, task))
            notifications = (*notifications, *(NotifySubsumed(gone, task) for gone in subsumed))
    masters = tuple(
        TellMaster(place, done.checkpoint, True) for place in range(coordinator.plan.coordinators)
    )
    return (*notifications, *masters)


def abort(
    coordinator: Coordinator, pending: Pending, reason: str, *, by_task: bool = False
) -> Step[Coordinator]:
    """A pending checkpoint ends without success; its collected state is deleted."""
    profile = coordinator.plan.profile
    coordinator = owe_turns(drop_pending(coordinator, pending), profile.turns_after_end)
    fails_to_start = coordinator.master == pending.checkpoint and profile.abort_ends_master_phase
    if fails_to_start:
        coordinator = owe_turns(coordinator._replace(master=NONE), 1)
    elif coordinator.master == pending.checkpoint:
        coordinator = coordinator._replace(outlived=(pending,))  # COORD-30
    early = coordinator.plan.profile.registers_early
    lost = shared_state.loss_of(coordinator.shared, pending, registers_early=early)
    effects: Effects = (Abort(pending.checkpoint, reason),)
    if profile.stop_counts_too and pending.type == STOP and reason not in PRE_FLIGHT:
        effects = (*effects, FailJob(reason))
    effects = (*effects, *lost)
    if profile.abort_begins_anew and reason != CHECKPOINT_SUBSUMED:
        coordinator = begin_anew(coordinator)
    coordinator, emitted, rules = count_failure(coordinator, pending, reason, by_task=by_task)
    if not coordinator.plan.profile.tells_of_aborts:
        rules = (*rules, "COORD-19")
    effects = (*effects, *emitted, *notify_abort(coordinator, pending))
    if not fails_to_start:
        return Step(coordinator, effects, rules)
    coordinator, emitted, further = fail_start(coordinator, pending, reason)
    return Step(coordinator, (*effects, *emitted), (*rules, "COORD-30", *further))


def fail_start(coordinator: Coordinator, begun: Pending, reason: str) -> Step[Coordinator]:
    """A start fails because its checkpoint has failed, which may count as a second failure."""
    if not coordinator.plan.profile.counts_failed_start:
        return Step(coordinator, (), ())
    coordinator, emitted, rules = count_failure(coordinator, begun, reason, by_task=False)
    return Step(coordinator, emitted, (*rules, "COORD-31"))


def begin_anew(coordinator: Coordinator) -> Coordinator:
    """If an abort leaves no checkpoint pending, the postponed request is dropped, and the delay restarts."""
    scheduler = coordinator.scheduler
    if coordinator.pending or not scheduler.runs or not scheduler.put_off:
        return coordinator
    due = coordinator.now + coordinator.plan.initial_delay
    return coordinator._replace(scheduler=scheduler._replace(put_off=False, due=due))


def owe_turns(coordinator: Coordinator, turns: int) -> Coordinator:
    """Waiting requests get `turns` further turns after this event."""
    return coordinator._replace(turns=coordinator.turns + turns)


def count_failure(
    coordinator: Coordinator, failed: Pending, reason: str, *, by_task: bool
) -> Step[Coordinator]:
    """The count after one more failure; the job fails if that exceeds the tolerated number."""
    plan = coordinator.plan
    counted, too_many = failures.on_failure(
        coordinator.failures,
        plan.profile,
        plan.tolerable_failures,
        failed.checkpoint,
        failed.type,
        reason,
        by_task=by_task,
    )
    rules: Rules = counting_rules(plan) if plan.tolerable_failures >= 0 else ()
    effects: Effects = ()
    if too_many:
        effects = (FailJob(reason),)
        if failed.type == STOP:
            rules = ("COORD-28", *rules)
    return Step(coordinator._replace(failures=counted), effects, rules)


def counting_rules(plan: Plan) -> Rules:
    """The rules of the count of failures in the plan's generation."""
    return ("COORD-15", "COORD-16", "COORD-17" if plan.profile.counts_in_order else "COORD-18")


def notify_abort(coordinator: Coordinator, ended: Pending) -> Effects:
    """Notifies every task that took part, and every operator coordinator."""
    if not coordinator.plan.profile.tells_of_aborts:
        return ()
    flags = enumerate(listeners(coordinator, ended))
    notifications = tuple(NotifyAbort(ended.checkpoint, task) for task, notified in flags if notified)
    masters = tuple(
        TellMaster(place, ended.checkpoint, False) for place in range(coordinator.plan.coordinators)
    )
    return (*notifications, *masters)


def listeners(coordinator: Coordinator, ended: Pending) -> tuple[bool, ...]:
    """By task: it is notified of the end, because it is in the checkpoint's plan and was ever deployed."""
    return tuple(
        takes_part and reached
        for takes_part, reached in zip(ended.tasks, coordinator.tasks_reached, strict=True)
    )
