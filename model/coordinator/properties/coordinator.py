"""COORD-01 to COORD-08, COORD-10 to COORD-12 and ONCE-04, stated over the coordinator."""

from itertools import combinations, pairwise

from model.coordinator.events import (
    Acknowledged,
    AcknowledgeMessage,
    Complete,
    DiscardCheckpoint,
    Fail,
    FailTasks,
    JobStatus,
    Rejected,
    Restored,
    RestoreRequest,
    TriggerRequest,
    TriggerTask,
)
from model.coordinator.pending import DUPLICATE, SUCCESS, UNKNOWN
from model.coordinator.properties.checkpoint_end import notified_tasks, suspension
from model.coordinator.properties.terms import (
    answers,
    beginners,
    emits,
    find_pending,
    has_to_wait,
    is_fit,
    is_fresh,
    is_full,
    is_stored,
    replacing_checkpoint,
    start_fails,
    started_ids,
    with_reports,
)
from model.coordinator.shared_state import DiscardState, SharedState
from model.coordinator.state import RUNNING, Coordinator
from model.coordinator.trigger import MasterAnswer
from model.events import (
    CHECKPOINT_EXPIRED,
    COORDINATOR_SUSPEND,
    JOB_FAILOVER_REGION,
    Advance,
    Effects,
    Event,
    NotifyAbort,
    NotifyComplete,
)
from model.gate.events import Abort
from model.registry import Registry

COORDINATOR = Registry("coordinator")


@COORDINATOR.step("COORD-01")
def coord_01(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """While the job or a task does not run, a request draws no id and no checkpoint starts."""
    started = any(
        type(effect) is TriggerTask and effect.checkpoint >= before.next_id  # older ids have begun: COORD-23
        for effect in effects
    )
    idle = not started and after.next_id == before.next_id
    if (idle and type(event) is not TriggerRequest) or is_fit(with_reports(before, event, after)):
        return True
    if type(event) is TriggerRequest:
        answered = any(type(effect) is Rejected for effect in effects)
        waited, wait = (
            sum(1 for one in queue if one.awaits_answer)  # the scheduler's requests get no answer
            for queue in (before.queue, after.queue)
        )
        if answered == (wait > waited):
            return False
    return idle


@COORDINATOR.state("COORD-01")
def coord_01_deployed(coordinator: Coordinator) -> bool:
    """A task that runs or has finished was deployed. No task both runs and has finished."""
    statuses = zip(coordinator.tasks_run, coordinator.tasks_finished, coordinator.tasks_reached, strict=True)
    return all(reached if runs != over else not runs for runs, over, reached in statuses)


@COORDINATOR.step("COORD-02")
def coord_02(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Started checkpoints get the next ids of the counter. The counter never falls."""
    if start_fails(before, after):  # COORD-35, COORD-36
        return True
    if before.plan.coordinators or before.plan.hooks or any(before.tasks_finished):
        return after.next_id >= before.next_id
    started = tuple(
        effect.checkpoint  # type: ignore[attr-defined]
        for effect in answers(effects, before.next_id - 1)
        if type(effect) is not Rejected
    )
    expected = tuple(before.next_id + count for count in range(len(started)))
    others = any(type(effect) is TriggerTask and effect.checkpoint not in expected for effect in effects)
    return started == expected and after.next_id == before.next_id + len(started) and not others


@COORDINATOR.state("COORD-02")
def coord_02_ids(coordinator: Coordinator) -> bool:
    """Pending and durable ids were drawn from the counter, each once. Pending ids ascend."""
    pending = tuple(pending.checkpoint for pending in coordinator.pending)
    ascending = all(left < right for left, right in pairwise(pending))
    durable = tuple(entry.checkpoint for entry in (*coordinator.store.entries, *coordinator.unseen))
    apart = not any(left == right for left in pending for right in durable)
    once = not any(left == right for left, right in combinations(durable, 2))
    drawn = all(1 <= known < coordinator.next_id for known in (*pending, *durable))
    return coordinator.next_id >= 1 and ascending and apart and once and drawn


@COORDINATOR.state("COORD-03")
def coord_03(coordinator: Coordinator) -> bool:
    """Pending checkpoints that are not forced do not exceed the limit. A waiting request has to wait.

    Requests wait only while the job runs, unless the listener awaits a former execution (COORD-12).
    """
    limit = coordinator.plan.max_concurrent
    if limit < 1 or len(tuple(pending for pending in coordinator.pending if not pending.forced)) > limit:
        return False
    if not coordinator.queue:
        return True
    if coordinator.plan.slow_cleaning:  # any request can wait for deletions: COORD-33
        return True
    return has_to_wait(coordinator) and (coordinator.status == RUNNING or coordinator.scheduler.awaits_former)


@COORDINATOR.step("COORD-04")
def coord_04(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Each started checkpoint triggers every source once, in task order, and awaits every task."""
    if start_fails(before, after):  # COORD-35, COORD-36
        return True
    for checkpoint in started_ids(before, after):
        triggered = tuple(
            effect.task
            for effect in effects
            if type(effect) is TriggerTask and effect.checkpoint == checkpoint
        )
        has_masters = before.plan.coordinators + before.plan.hooks > 0  # masters come first (COORD-23)
        if triggered != (() if has_masters else beginners(with_reports(before, event, after))):
            return False
        for pending in after.pending:
            if pending.checkpoint == checkpoint and not is_fresh(pending):
                return False
    return True


@COORDINATOR.step("COORD-05", AcknowledgeMessage)
def coord_05(before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator) -> bool:
    """The first acknowledgement of a task gets SUCCESS, a repeated one DUPLICATE, an unknown task UNKNOWN."""
    pending = find_pending(before, event.checkpoint)
    if pending is None:
        return True
    result = SUCCESS
    if event.task >= len(pending.acknowledged) or not pending.tasks[event.task]:
        result = UNKNOWN
    elif pending.acknowledged[event.task]:
        result = DUPLICATE
    return effects[:1] == (Acknowledged(event.task, event.checkpoint, result),)


@COORDINATOR.state("COORD-05")
def coord_05_states(coordinator: Coordinator) -> bool:
    """A checkpoint holds states only of tasks that have acknowledged it."""
    return not any(
        handle != 0 and not done
        for pending in coordinator.pending
        for handle, done in zip(pending.states, pending.acknowledged, strict=True)
    )


@COORDINATOR.step("COORD-06", AcknowledgeMessage)
def coord_06(before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator) -> bool:
    """An acknowledgement of an id that is not pending only deletes the state that it brings."""
    if find_pending(before, event.checkpoint) is not None:
        return True
    deleted = all(type(effect) is DiscardState for effect in effects)
    own = before.open and event.handle != 0
    return deleted and (not own or effects[:1] == (DiscardState(event.handle),))


@COORDINATOR.step("COORD-07", AcknowledgeMessage)
def coord_07(before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator) -> bool:
    """A checkpoint completes at the last awaited acknowledgement, and at no other event."""
    completed = tuple(effect.checkpoint for effect in effects if type(effect) is Complete)
    pending = find_pending(before, event.checkpoint)
    if pending is None or event.task >= len(pending.acknowledged):
        return not completed
    missing = tuple(task for task, done in enumerate(pending.acknowledged) if not done)
    if missing == (event.task,) and all(pending.coordinators) and all(pending.hooks):
        ended = find_pending(after, event.checkpoint) is None
        return ended and (completed == (event.checkpoint,) or before.fault != 0 or before.io.metadata)
    return not completed and find_pending(after, event.checkpoint) is not None


@COORDINATOR.state("COORD-12")
def coord_12_stopped(coordinator: Coordinator) -> bool:
    """No checkpoint is pending while the job does not run, unless the listener awaits a former execution."""
    listens = not coordinator.scheduler.awaits_former
    return coordinator.status == RUNNING or not (listens and coordinator.pending)


@COORDINATOR.state("COORD-10")
def coord_10_deadlines(coordinator: Coordinator) -> bool:
    """Time begins at 0, the time-out is positive, and no pending checkpoint has expired."""
    if coordinator.now < 0 or coordinator.plan.timeout < 1:
        return False
    return all(pending.deadline > coordinator.now for pending in coordinator.pending)


@COORDINATOR.state("COORD-07")
def coord_07_pending(coordinator: Coordinator) -> bool:
    """A pending checkpoint still awaits a task, an operator coordinator or a hook."""
    return not any(
        all(pending.acknowledged) and all(pending.coordinators) and all(pending.hooks)
        for pending in coordinator.pending
    )


@COORDINATOR.step("COORD-08", AcknowledgeMessage, MasterAnswer)
def coord_08(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The checkpoint is stored, then the older ones end, then every task is notified."""
    done = replacing_checkpoint(before, effects)
    if done is None:
        return True
    called = -1 if before.plan.profile.completes_before_storing else 1
    effects = tuple(
        effect
        for effect in effects
        if type(effect) is not TriggerTask or effect.checkpoint != done.checkpoint
    )
    kinds = tuple(_PHASES.get(type(effect), called if type(effect) is Complete else -2) for effect in effects)
    phases = tuple(phase for phase in kinds if phase > -2)
    notified = tuple(effect.task for effect in effects if type(effect) is NotifyComplete)
    in_order = all(left <= right for left, right in combinations(phases, 2)) or start_fails(before, after)
    all_notified = notified == tuple(task for task, own in enumerate(notified_tasks(done, after)) if own)
    return in_order and all_notified and is_stored(done, after)


_PHASES = {DiscardCheckpoint: 0, Abort: 2, NotifyAbort: 2, NotifyComplete: 3, TriggerTask: 4}


@COORDINATOR.step("COORD-10")
def coord_10(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A checkpoint expires if and only if its deadline has passed. The clock shows the new time."""
    if type(event) is not Advance:
        return not any(type(effect) is Abort and effect.reason == CHECKPOINT_EXPIRED for effect in effects)
    for pending in before.pending:
        expired = emits(effects, Abort(pending.checkpoint, CHECKPOINT_EXPIRED))
        if expired != (pending.deadline <= before.now + event.ms):
            return False
    return after.now == before.now + event.ms


@COORDINATOR.step("COORD-11")
def coord_11(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """After a step, no waiting request could start. A periodic one cannot start before the pause is over."""
    if not after.queue:
        return True
    if not has_to_wait(after):
        return False
    if after.master != -1 or is_full(after) or after.plan.slow_cleaning:
        return True
    ended = tuple(pending for pending in before.pending if find_pending(after, pending.checkpoint) is None)
    if type(event) is Advance:
        return all(pending.deadline < after.pause_ends for pending in ended)
    return (not ended and after.queue == before.queue) or after.now < after.pause_ends


@COORDINATOR.state("COORD-11")
def coord_11_turns(coordinator: Coordinator) -> bool:
    """Between two events there are no turns left."""
    return coordinator.turns == 0


@COORDINATOR.step("COORD-12", FailTasks, JobStatus)
def coord_12(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A job that stops running rejects waiting requests and aborts pending checkpoints.

    If the listener awaits a former execution, it stops nothing, and these requests and checkpoints stay.
    """
    if type(event) is JobStatus and event.status == RUNNING:
        return True
    if before.scheduler.awaits_former:
        return after.pending == before.pending and after.queue == before.queue
    expected, _ = suspension(before, event, COORDINATOR_SUSPEND, after)
    return effects == expected and not after.pending and not after.queue


@COORDINATOR.step("ONCE-04", RestoreRequest)
def once_04(before: Coordinator, event: RestoreRequest, effects: Effects, after: Coordinator) -> bool:
    """A restore returns the newest completed checkpoint, or none if there is none."""
    if not before.open:
        return effects == (Fail("IllegalStateException"),) and after == before
    newest = before.store.entries[-1].checkpoint if before.store.entries else -1
    expected, _ = suspension(before._replace(queue=()), event, JOB_FAILOVER_REGION, after)
    expected = (*expected, Restored(newest))
    rest = effects[len(expected) :]
    if effects[: len(expected)] != expected or any(type(more) is Restored for more in rest):
        return False
    shared = before.shared
    if before.plan.profile.restore_registers_anew:
        kept, durable = (
            tuple(use for entry in entries for use in uses if use.checkpoint == entry.checkpoint)
            for entries, uses in (
                (before.store.entries, shared.completed),
                (before.unseen, (*shared.completed, *shared.unseen)),
            )
        )
        files = tuple(use.handle for use in kept)
        registered = tuple(file for file in shared.registered if file.handle in files)
        shared = SharedState(registered, kept, durable, shared.unclaimed)
    return after.shared == shared and (not rest or bool(before.queue) or before.plan.interval > 0)
