"""Words in which the rules of the coordinator are stated: who has to wait, who begins, what an abort says."""

from model.coordinator.events import Complete, DiscardState, FailJob, TellMaster
from model.coordinator.pending import Pending
from model.coordinator.state import RUNNING, Coordinator
from model.events import Effect, Effects, NotifyAbort
from model.gate.events import Abort
from model.store.store import CHECKPOINT, SAVEPOINT


def find_pending(coordinator: Coordinator, checkpoint: int) -> Pending | None:
    """The pending checkpoint with that id."""
    for pending in coordinator.pending:
        if pending.checkpoint == checkpoint:
            return pending
    return None


def is_fit(coordinator: Coordinator) -> bool:
    """Job and tasks are as a start needs them."""
    plan = coordinator.plan
    if coordinator.status != RUNNING:
        return False
    for task, source in enumerate(plan.sources):
        excused = plan.profile.awaits_every_task and not source
        over = plan.finished_tasks and coordinator.tasks_finished[task]
        if not (coordinator.tasks_run[task] or excused or over):
            return False
    return True


def has_to_wait(coordinator: Coordinator) -> bool:
    """The head of the queue may not start now: others are pending, or it comes too early."""
    head = coordinator.queue[0]
    if coordinator.master != -1 or is_full(coordinator):
        return True
    return head.periodic and not head.forced and coordinator.plan.min_pause > 0


def is_full(coordinator: Coordinator) -> bool:
    """So many are pending that the head of the queue has to wait for an end."""
    head = coordinator.queue[0]
    return not head.forced and len(coordinator.pending) >= coordinator.plan.max_concurrent


def beginners(coordinator: Coordinator) -> tuple[int, ...]:
    """The tasks that a start has to trigger: sources, or those behind sources that have all finished."""
    everybody = tuple(enumerate(coordinator.plan.sources))
    sources = tuple(task for task, source in everybody if source and coordinator.tasks_run[task])
    others = tuple(task for task, _ in everybody if coordinator.tasks_run[task])
    return sources or others


def is_fresh(pending: Pending) -> bool:
    """Nobody who takes part has acknowledged."""
    return all(done != takes for done, takes in zip(pending.acknowledged, pending.tasks, strict=True))


def is_safe(coordinator: Coordinator, pending: Pending) -> bool:
    """No completion ends it."""
    return pending.forced if coordinator.plan.profile.forced_are_safe else pending.type != CHECKPOINT


def replacing_checkpoint(before: Coordinator, effects: Effects) -> Pending | None:
    """The checkpoint that completes in this step and takes the place of older ones."""
    for effect in effects:
        if type(effect) is Complete:
            done = find_pending(before, effect.checkpoint)
            if done is None:
                continue
            storing = done.type == CHECKPOINT or before.plan.profile.stores_savepoints
            if storing and before.fault:
                return None
            if done.type != SAVEPOINT or storing:
                return done
    return None


def is_stored(done: Pending, after: Coordinator) -> bool:
    """It is the newest in the store, if it belongs there."""
    if done.type != CHECKPOINT and not after.plan.profile.stores_savepoints:
        return True
    return after.store.entries[-1].checkpoint == done.checkpoint


def started_ids(before: Coordinator, after: Coordinator) -> tuple[int, ...]:
    """Ids drawn in the step; at most one more than requests waited, but for those of the scheduler."""
    drawn = tuple(before.next_id + count for count in range(len(before.queue) + 1))
    return tuple(checkpoint for checkpoint in drawn if checkpoint < after.next_id)


def says(effects: Effects, word: Effect) -> bool:
    """It is among the effects; words of other kinds are not compared, they tell of other things."""
    return any(type(effect) is type(word) and effect == word for effect in effects)


def essence(effects: Effects) -> Effects:
    """Without what the job and operator coordinators are told."""
    return tuple(effect for effect in effects if type(effect) not in {FailJob, TellMaster})


def abort_effects(
    before: Coordinator, pending: Pending, reason: str, after: Coordinator | None = None
) -> Effects:
    """What an abort says: the end, what is deleted, and to each task that it is over.

    `after`: whose registry of shared files is asked, where the step has changed it before the abort.
    """
    known = tuple(use.handle for use in before.shared.registered)
    if not before.plan.profile.registers_early:
        known = tuple(use.handle for use in (after or before).shared.completed)
    lost: Effects = ()
    for handle, files in zip(pending.states, pending.shared, strict=True):
        own: Effects = (DiscardState(handle),) if handle != 0 else ()
        lost = (*lost, *own, *(DiscardState(file) for file in files if file not in known))
    told: Effects = ()
    if before.plan.profile.tells_of_aborts:
        told = tuple(
            NotifyAbort(pending.checkpoint, task) for task, takes in enumerate(pending.tasks) if takes
        )
    return (Abort(pending.checkpoint, reason), *lost, *told)
