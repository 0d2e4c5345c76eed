"""The checkpoint coordinator: its step for each event.

Rules COORD-01 to COORD-12, SUB-02 to SUB-05. A request waits until it may start
(`model.coordinator.trigger`). A started checkpoint is pending until the last task has acknowledged it, or
until a decline, the time-out or a newer completed checkpoint ends it (`model.coordinator.completion`,
`model.coordinator.scheduler`). The store keeps a completed one (`model.store.store`).
`model.coordinator.recovery` holds restores and restarts.
"""

from model.coordinator import shared_state
from model.coordinator.completion import abort, complete
from model.coordinator.events import SUCCESS, UNKNOWN, Acknowledged
from model.coordinator.job_status_listener import follow_job, follow_tasks, report
from model.coordinator.pending import Pending, acknowledge, is_fully_acknowledged
from model.coordinator.requests import Request
from model.coordinator.scheduler import follow, suspend
from model.coordinator.state import CREATED, FINISHED, RESTARTING, RUNNING, Coordinator, find, replace_pending
from model.coordinator.trigger import is_forced, request
from model.events import Effects, Step
from model.store.store import CHECKPOINT, STOP

# ---------------------------------------------------------------- requests


def on_trigger(
    coordinator: Coordinator,
    type: int = CHECKPOINT,  # noqa: A002 - the protocol's word
    forced: bool = False,
    periodic: bool = False,
) -> Step[Coordinator]:
    """A user requests a checkpoint, a savepoint, or a stop with a savepoint."""
    effects: Effects = ()
    if type == STOP:  # a stop ends everything that waits or is pending
        coordinator, effects, _ = suspend(coordinator)
    requested = Request(type, is_forced(coordinator, type, forced), periodic, awaits_answer=True)
    step = request(coordinator, requested)
    return step._replace(effects=(*effects, *step.effects))


# ---------------------------------------------------------------- messages of tasks


def on_acknowledge(
    coordinator: Coordinator, task: int, checkpoint: int, handle: int, shared: tuple[int, ...] = ()
) -> Step[Coordinator]:
    """Task `task` (beyond the plan: an unknown one) acknowledges with the state `handle` (0: none)."""
    if not coordinator.open:
        return Step(coordinator, (), ())
    pending = find(coordinator.pending, checkpoint)
    early = coordinator.plan.profile.registers_early
    if early and (pending is None or pending.type == CHECKPOINT):
        registered = shared_state.register(coordinator.shared, checkpoint, shared)
        coordinator = coordinator._replace(shared=registered)
    unused = shared_state.loss(coordinator.shared, handle, shared, registers_early=early)
    if pending is None:
        return Step(coordinator, unused, ("COORD-06",))
    changed, result = acknowledge(pending, task, handle, shared)
    effects: Effects = (Acknowledged(task, checkpoint, result),)
    if result != SUCCESS:
        return Step(coordinator, (*effects, *unused) if result == UNKNOWN else effects, ("COORD-05",))
    coordinator = replace_pending(coordinator, changed)
    if is_fully_acknowledged(changed):
        coordinator, effects, rules = complete(coordinator, changed, effects)
        return follow(coordinator, effects, (*rules, "COORD-11"))
    return Step(coordinator, effects, ("COORD-05",))


def on_decline(coordinator: Coordinator, task: int, checkpoint: int, reason: str) -> Step[Coordinator]:
    """A task declines `checkpoint`."""
    pending = find(coordinator.pending, checkpoint)
    if pending is None:
        return Step(coordinator, (), ("COORD-09",))
    coordinator, effects, rules = abort(coordinator, pending, reason, by_task=True)
    rules = ("COORD-09", *rules)
    if is_held_back(coordinator, pending):
        return Step(coordinator, effects, rules)
    return follow(coordinator, effects, (*rules, "COORD-11"))


def is_held_back(coordinator: Coordinator, declined: Pending) -> bool:
    """Older generations: a decline repeats no postponed request while a newer checkpoint is pending."""
    if coordinator.plan.profile.queues:
        return False
    return any(other.checkpoint > declined.checkpoint for other in coordinator.pending)


# ---------------------------------------------------------------- statuses


def on_job_status(coordinator: Coordinator, status: str) -> Step[Coordinator]:
    """The job changes its status; leaving RUNNING ends all requests and pending checkpoints (COORD-12)."""
    coordinator = coordinator._replace(status=status)
    if coordinator.plan.interval:
        return follow_job(coordinator)
    if status != RUNNING:
        return suspend(coordinator)
    return Step(coordinator, (), ("COORD-12",))


def on_task_status(coordinator: Coordinator, task: int, status: str) -> Step[Coordinator]:
    """A task changes its status."""
    runs = (*coordinator.tasks_run[:task], status == RUNNING, *coordinator.tasks_run[task + 1 :])
    over = (*coordinator.tasks_finished[:task], status == FINISHED, *coordinator.tasks_finished[task + 1 :])
    reached = status != CREATED
    deployed = (*coordinator.tasks_reached[:task], reached, *coordinator.tasks_reached[task + 1 :])
    coordinator = coordinator._replace(tasks_run=runs, tasks_finished=over, tasks_reached=deployed)
    changed = tuple(other == task for other in range(len(runs)))
    followed = follow_tasks(coordinator, changed)
    return followed._replace(rules=("COORD-01", *followed.rules))


def on_fail_tasks(coordinator: Coordinator, failed: tuple[bool, ...]) -> Step[Coordinator]:
    """Tasks fail; the job restarts."""
    runs = tuple(runs and not fails for runs, fails in zip(coordinator.tasks_run, failed, strict=True))
    over = tuple(over and not fails for over, fails in zip(coordinator.tasks_finished, failed, strict=True))
    reached = tuple(was or fails for was, fails in zip(coordinator.tasks_reached, failed, strict=True))
    coordinator = coordinator._replace(tasks_run=runs, tasks_finished=over, tasks_reached=reached)
    coordinator, effects, rules = report(coordinator, failed)
    step = on_job_status(coordinator, RESTARTING)
    return step._replace(effects=(*effects, *step.effects), rules=(*rules, *step.rules))
