"""Properties of the end of checkpoints: the effects of acknowledgements, completions and aborts.

Rules COORD-05, COORD-08, COORD-09, COORD-16 and SUB-12. A checkpoint is complete when every task that takes
part has acknowledged this id since the checkpoint started, and every operator coordinator and hook has
answered. A property compares all effects of a step.
"""

from model.coordinator.events import (
    Acknowledged,
    AcknowledgeMessage,
    Complete,
    CoordinatorRestart,
    DeclineMessage,
    DiscardCheckpoint,
    Fail,
    FailJob,
    NotifyAbort,
    NotifyComplete,
    NotifyMaster,
    NotifySubsumed,
    Rejected,
    TriggerRequest,
    TriggerTask,
)
from model.coordinator.failures import Failures
from model.coordinator.pending import DUPLICATE, SUCCESS, UNKNOWN, Pending
from model.coordinator.properties.files import (
    completed,
    dropped_checkpoints,
    loss,
    once,
    unstored,
    with_files,
)
from model.coordinator.properties.terms import (
    acknowledged,
    answers,
    beginners,
    beginning_with,
    find_pending,
    is_safe,
    last_missing,
    start_fails,
    triggered_type,
)
from model.coordinator.shared_state import DiscardState
from model.coordinator.state import Coordinator
from model.coordinator.trigger import MasterAnswer, TriggerMaster
from model.events import (
    CHECKPOINT_SUBSUMED,
    FINALIZE_CHECKPOINT_FAILURE,
    IO_EXCEPTION,
    MAYBE,
    NONE,
    PRE_FLIGHT,
    Effects,
    Event,
)
from model.gate.events import Abort
from model.registry import Registry
from model.store.store import CHECKPOINT, FULL, SAVEPOINT, STOP

COORDINATOR_ENDS = Registry("coordinator")


@COORDINATOR_ENDS.step("COORD-05", AcknowledgeMessage)
def coord_05_counts_once(
    before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator
) -> bool:
    """An acknowledgement that completes no checkpoint changes only the flag, state and files of its task."""
    if last_missing(before, event) is not None:
        return True
    if not before.open:
        return not effects and after == before
    shared = with_files(before, event)
    pending = find_pending(before, event.checkpoint)
    kept = before._replace(shared=shared)
    lost = loss(before, shared, None, event.handle, event.shared)
    if pending is None:
        return effects == lost and after == kept
    if event.task >= len(pending.tasks) or not pending.tasks[event.task]:
        return effects == (Acknowledged(event.task, event.checkpoint, UNKNOWN), *lost) and after == kept
    if pending.acknowledged[event.task]:
        return effects == (Acknowledged(event.task, event.checkpoint, DUPLICATE),) and after == kept
    changed = tuple(acknowledged(one, event) if one is pending else one for one in before.pending)
    kept = kept._replace(pending=changed)
    return effects == (Acknowledged(event.task, event.checkpoint, SUCCESS),) and after == kept


@COORDINATOR_ENDS.step("COORD-08", AcknowledgeMessage, MasterAnswer)
def coord_08_effects(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A completion emits exactly the effects of `completion`, in order. Only effects of requests follow."""
    done = last_missing(before, event)
    if done is None:
        return not any(type(effect) is Complete for effect in effects)
    expected: Effects
    if type(event) is AcknowledgeMessage:
        expected = (Acknowledged(event.task, done.checkpoint, SUCCESS),)
    else:
        tasks = beginners(before._replace(tasks_run=done.tasks))
        kind = triggered_type(before, done.type)
        expected = tuple(TriggerTask(task, done.checkpoint, kind) for task in tasks)
    added, count = completion(before, event, done, after)
    expected = (*expected, *added)
    rest = effects[len(expected) :]
    follows = all(type(effect) in {Rejected, TriggerMaster, TriggerTask} for effect in rest)
    follows = (follows and after.failures == count) or start_fails(before, after)  # COORD-35, COORD-36
    return effects[: len(expected)] == expected and follows


@COORDINATOR_ENDS.step("COORD-16")
def coord_16_aborts(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Each abort emits exactly the effects of `abort`, and counts as one failure. Aborts count in order."""
    if start_fails(before, after):  # COORD-35, COORD-36
        return True
    if type(event) is CoordinatorRestart:
        return after.failures == Failures((), NONE)
    if last_missing(before, event) is not None:
        return True
    count = before.failures
    rest = beginning_with(effects, _OF_ABORTS)
    while rest:
        effect = rest[0]
        expected: Effects = (effect,)
        if type(effect) is Abort:
            ended = find_pending(before, effect.checkpoint) or begun(before, effects, effect.checkpoint)
            if ended is None:
                return False
            expected, count = abort(before, event, ended, effect.reason, after, count)
            if rest[: len(expected)] != expected:
                return False
        elif not is_refused_stop(before, event, effects):
            return False
        rest = beginning_with(rest[len(expected) :], _OF_ABORTS)
    return after.failures == count


@COORDINATOR_ENDS.step("COORD-09", DeclineMessage)
def coord_09(before: Coordinator, event: DeclineMessage, effects: Effects, after: Coordinator) -> bool:
    """A decline aborts its checkpoint with the reason of the decline. If none is pending, nothing changes."""
    ended = find_pending(before, event.checkpoint)
    if ended is None:
        return not effects and after == before
    expected, _ = abort(before, event, ended, event.reason, after, before.failures)
    return effects[: len(expected)] == expected and find_pending(after, event.checkpoint) is None


_OF_ABORTS = (Abort, FailJob, NotifyAbort, NotifyMaster)
"""Effects that only an abort or a rejected stop has."""


@COORDINATOR_ENDS.step("SUB-12", AcknowledgeMessage, MasterAnswer)
def sub_12_registry(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A completion registers its files, and keeps every file that a retained or newer checkpoint can use."""
    done = last_missing(before, event)
    if done is None:
        return True
    shared = with_files(before, event)
    if not is_added(before, done):
        return after.shared == shared
    if before.fault != 0:
        return after.shared == unstored(before, shared, done)
    return after.shared == completed(before, shared, done, after)[0]


# ---------------------------------------------------------------- completions


def is_added(before: Coordinator, done: Pending) -> bool:
    """Whether the coordinator adds the complete checkpoint to the store. False if writing metadata fails."""
    if before.io.metadata:
        return False
    return before.plan.profile.stores_savepoints or done.type == CHECKPOINT


def completion(
    before: Coordinator, event: Event, done: Pending, after: Coordinator
) -> tuple[Effects, Failures]:
    """The effects of a completion, except those of the acknowledgement or triggers, and the new count."""
    if before.io.metadata:
        return unwritten(before, event, done, after)
    profile = before.plan.profile
    called = (Complete(done.checkpoint),)
    added = is_added(before, done)
    count = succeeded(before, done.checkpoint)
    if added and before.fault != 0:
        if not profile.counts_success_before_storing:
            count = before.failures
        refused, count = refusal(before, event, done, after, count)
        return ((*called, *refused) if profile.completes_before_storing else refused), count
    kept = tuple(entry.checkpoint for entry in after.store.entries)
    dropped = dropped_checkpoints(before, kept) if added else ()
    deleted = completed(before, with_files(before, event), done, after)[1] if added else ()
    effects: Effects = (*called, *deleted) if profile.completes_before_storing else (*deleted, *called)
    if done.type == SAVEPOINT and not added:
        return effects, count
    for older in before.pending:
        if older.checkpoint < done.checkpoint and not is_safe(before, older):
            ended, count = abort(before, event, older, CHECKPOINT_SUBSUMED, after, count)
            effects = (*effects, *ended)
    gone = dropped[-1:] if profile.subsumed_notifications else ()
    notifications = tuple(
        notification
        for task, notified in enumerate(notified_tasks(done, after))
        if notified
        for notification in (
            NotifyComplete(done.checkpoint, task),
            *(NotifySubsumed(checkpoint, task) for checkpoint in gone),
        )
    )
    return (*effects, *notifications, *notified_masters(before, done, completes=True)), count


def unwritten(
    before: Coordinator, event: Event, done: Pending, after: Coordinator
) -> tuple[Effects, Failures]:
    """The effects if the metadata of a complete checkpoint cannot be written, and the count of failures."""
    reason = FINALIZE_CHECKPOINT_FAILURE
    if not before.plan.profile.registers_at_acknowledgement:
        done = once(done)
    effects, count = abort(before, event, done, reason, after, before.failures)
    if type(event) is AcknowledgeMessage:
        return (*effects, Fail("CheckpointException")), count
    if before.plan.profile.counts_failed_io:
        fails, count = failed(before, done, IO_EXCEPTION, count)
        effects = (*effects, *(FailJob(reason) for _ in fails))
    return effects, count


def refusal(
    before: Coordinator, event: Event, done: Pending, after: Coordinator, count: Failures
) -> tuple[Effects, Failures]:
    """The effects if the store does not add the checkpoint, and the count of failures."""
    profile = before.plan.profile
    reason = FINALIZE_CHECKPOINT_FAILURE
    effects: Effects = () if profile.completes_before_storing else (Abort(done.checkpoint, reason),)
    if before.fault != MAYBE or not profile.keeps_possibly_stored:
        effects = (*effects, DiscardCheckpoint(done.checkpoint))
        if not profile.registers_at_acknowledgement:
            used = tuple(use.handle for use in before.shared.completed)
            own = dict.fromkeys(tuple(file for files in done.shared for file in files))
            effects = (*effects, *(DiscardState(file) for file in own if file not in used))
    if profile.counts_failed_store:
        fails, count = failed(before, done, reason, count)
        effects = (*effects, *fails)
    effects = (*effects, *notified_aborts(before, done, after))
    if type(event) is AcknowledgeMessage:
        return (*effects, Fail("CheckpointException")), count
    if profile.counts_failed_start:
        fails, count = failed(before, done, reason, count)
        effects = (*effects, *fails)
    return effects, count


# ---------------------------------------------------------------- aborts and failures


def abort(
    before: Coordinator,
    event: Event,
    ended: Pending,
    reason: str,
    after: Coordinator,
    count: Failures,
    *,
    in_phase: bool = True,
) -> tuple[Effects, Failures]:
    """All effects of an abort, from `Abort` to the last notification, and the count of failures after it.

    `in_phase`: if the checkpoint still awaits masters, it is in its master phase.
    """
    profile = before.plan.profile
    effects: Effects = (Abort(ended.checkpoint, reason),)
    if profile.failed_stops_count_too and reason not in PRE_FLIGHT and ended.type == STOP:
        effects = (*effects, FailJob(reason))
    shared = after.shared if type(event) in (AcknowledgeMessage, MasterAnswer) else before.shared
    lost = tuple(
        deleted
        for handle, files in zip(ended.states, ended.shared, strict=True)
        for deleted in loss(before, shared, ended, handle, files)
    )
    effects = (*effects, *lost)
    fails, count = failed(before, ended, reason, count, by_task=type(event) is DeclineMessage)
    effects = (*effects, *fails, *notified_aborts(before, ended, after))
    if (
        profile.counts_failed_start
        and in_phase
        and type(event) is not MasterAnswer
        and is_starting(before, ended)
    ):
        fails, count = failed(before, ended, reason, count)
        effects = (*effects, *fails)
    return effects, count


def suspension(
    before: Coordinator, event: Event, reason: str, after: Coordinator
) -> tuple[Effects, Failures]:
    """The effects of a suspension, and the count of failures after it.

    The effects are the rejection of every waiting request, then the abort of every pending checkpoint.
    """
    count = before.failures
    effects: Effects = tuple(Rejected(one.type, reason) for one in before.queue if one.awaits_answer)
    for pending in before.pending:
        ended, count = abort(before, event, pending, reason, after, count)
        effects = (*effects, *ended)
    return effects, count


def is_refused_stop(before: Coordinator, event: Event, effects: Effects) -> bool:
    """Up to 1.10 a rejected stop fails the job: the last two effects are the failure and the rejection."""
    if type(event) is not TriggerRequest or not before.plan.profile.failed_stops_count_too:
        return False
    last = effects[-2:]
    return len(last) == 2 and type(last[0]) is FailJob and last[1] == Rejected(event.type, last[0].reason)


def is_starting(before: Coordinator, ended: Pending) -> bool:
    """Whether an operator coordinator or a hook has not answered."""
    return not all((*ended.coordinators, *ended.hooks))


def begun(before: Coordinator, effects: Effects, checkpoint: int) -> Pending | None:
    """A checkpoint that has begun and ended in this step, reconstructed from the queue and the triggers."""
    plan = before.plan
    for place, effect in enumerate(answers(effects, before.next_id - 1)):
        if type(effect) is not Rejected and effect.checkpoint == checkpoint:  # type: ignore[attr-defined]
            kind = effect.type if type(effect) is TriggerTask else before.queue[place].type
            kind = CHECKPOINT if plan.savepoint and kind == FULL else kind
            tasks = before.tasks_run if plan.profile.every_task_must_run else (True,) * len(plan.sources)
            return Pending(
                checkpoint, kind, False, 0, tasks, (False,) * len(tasks), (0,) * len(tasks),
                ((),) * len(tasks), (False,) * plan.coordinators, (False,) * plan.hooks,
            )  # fmt: skip
    return None


def failed(
    before: Coordinator, ended: Pending, reason: str, count: Failures, *, by_task: bool = False
) -> tuple[Effects, Failures]:
    """The failure of the job, if this failure causes one, and the count after this failure."""
    plan, profile = before.plan, before.plan.profile
    by_task = by_task and reason not in PRE_FLIGHT
    fatal = by_task if profile.declines_count_for_all_types else reason not in PRE_FLIGHT
    if ended.type == STOP and not profile.failed_stops_count_too:
        return (FailJob(reason),) if fatal else (), count
    if plan.tolerable_failures < 0 or reason not in profile.counted:
        return (), count
    if profile.declines_count_for_all_types and not by_task and ended.type != CHECKPOINT:
        return (), count
    if ended.checkpoint <= count.highest_success or ended.checkpoint in count.counted:
        return (), count
    if len(count.counted) == plan.tolerable_failures:
        return (FailJob(reason),), count._replace(counted=())
    return (), count._replace(counted=(*count.counted, ended.checkpoint))


def succeeded(before: Coordinator, checkpoint: int) -> Failures:
    """The count of failures after a success."""
    count = before.failures
    if before.plan.tolerable_failures < 0:
        return count
    if not before.plan.profile.counts_in_order:
        return count._replace(counted=())
    return Failures((), checkpoint) if checkpoint > count.highest_success else count


def notified_tasks(ended: Pending, after: Coordinator) -> tuple[bool, ...]:
    """By task: the coordinator notifies it, because it took part and was deployed at some time."""
    return tuple(takes and reached for takes, reached in zip(ended.tasks, after.tasks_reached, strict=True))


def notified_masters(before: Coordinator, ended: Pending, *, completes: bool) -> Effects:
    """The effects that notify every operator coordinator of the end of the checkpoint."""
    places = range(before.plan.coordinators)
    return tuple(NotifyMaster(place, ended.checkpoint, completes) for place in places)


def notified_aborts(before: Coordinator, ended: Pending, after: Coordinator) -> Effects:
    """The notifications of the abort, to every task that takes part, then to every operator coordinator."""
    if not before.plan.profile.abort_notifications:
        return ()
    flags = enumerate(notified_tasks(ended, after))
    notifications = tuple(NotifyAbort(ended.checkpoint, task) for task, notified in flags if notified)
    return (*notifications, *notified_masters(before, ended, completes=False))
