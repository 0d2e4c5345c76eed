"""The checkpoint coordinator: what it does about each event.

Rules COORD-01 to COORD-12, SUB-02 to SUB-05. A request waits until it may start
(`model.coordinator.trigger`); a started checkpoint is pending until the last task has acknowledged it, or a
decline, the time-out or a newer completed checkpoint ends it (`model.coordinator.completion`,
`model.coordinator.scheduler`). A completed one goes to the store (`model.store.store`). What outlives the
coordinator is `model.coordinator.recovery`.
"""

from model.coordinator import shared_state
from model.coordinator.completion import abort, complete
from model.coordinator.events import SUCCESS, UNKNOWN, Acknowledged
from model.coordinator.job_status_listener import hear_of_job, hear_of_tasks, report
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
    """Somebody asks for a checkpoint, a savepoint, or a stop with one."""
    effects: Effects = ()
    if type == STOP:  # nothing else is to happen any more
        coordinator, effects, _ = suspend(coordinator)
    wanted = Request(type, is_forced(coordinator, type, forced), periodic, asked=True)
    step = request(coordinator, wanted)
    return step._replace(effects=(*effects, *step.effects))


# ---------------------------------------------------------------- messages of tasks


def on_acknowledge(
    coordinator: Coordinator, task: int, checkpoint: int, handle: int, shared: tuple[int, ...] = ()
) -> Step[Coordinator]:
    """Task `task` (beyond the plan: a stranger) acknowledges with the state behind `handle` (0: none)."""
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
    """Older generations: after a decline nothing is made up for while a newer checkpoint is pending."""
    if coordinator.plan.profile.queues:
        return False
    return any(other.checkpoint > declined.checkpoint for other in coordinator.pending)


# ---------------------------------------------------------------- statuses


def on_job_status(coordinator: Coordinator, status: str) -> Step[Coordinator]:
    """The job changes its status; leaving RUNNING ends all that waits or is pending (COORD-12)."""
    coordinator = coordinator._replace(status=status)
    if coordinator.plan.interval:
        return hear_of_job(coordinator)
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
    followed = hear_of_tasks(coordinator, changed)
    return followed._replace(rules=("COORD-01", *followed.rules))


def on_fail_tasks(coordinator: Coordinator, failed: tuple[bool, ...]) -> Step[Coordinator]:
    """Tasks fail; the scheduler restarts the job."""
    runs = tuple(runs and not fails for runs, fails in zip(coordinator.tasks_run, failed, strict=True))
    over = tuple(over and not fails for over, fails in zip(coordinator.tasks_finished, failed, strict=True))
    reached = tuple(was or fails for was, fails in zip(coordinator.tasks_reached, failed, strict=True))
    coordinator = coordinator._replace(tasks_run=runs, tasks_finished=over, tasks_reached=reached)
    coordinator, effects, rules = report(coordinator, failed)
    step = on_job_status(coordinator, RESTARTING)
    return step._replace(effects=(*effects, *step.effects), rules=(*rules, *step.rules))
