"""Who has the scheduler run: a listener of the job's status, in newer generations of executions too.

Rule COORD-26. In newer generations it is told of every execution, and awaits each whose last word was another
than that it runs or has finished. The execution graph starts a scheduler by itself when a task begins to run.
"""

from model.coordinator.scheduler import settle, start_scheduler, suspend
from model.coordinator.state import RUNNING, Coordinator
from model.events import Effects, Rules, Step


def hear_of_job(coordinator: Coordinator) -> Step[Coordinator]:
    """The job has changed its status; once it runs its new executions are heard of."""
    coordinator, effects, rules = follow_listener(coordinator)
    if coordinator.status == RUNNING:
        coordinator, said, further = hear_of_unheard(coordinator)
        effects, rules = (*effects, *said), (*rules, *further)
    return settle(coordinator, effects, rules)


def hear_of_tasks(coordinator: Coordinator, tasks: tuple[bool, ...]) -> Step[Coordinator]:
    """These tasks have changed their statuses, one after the other."""
    coordinator, effects, rules = report(coordinator, tasks)
    return settle(coordinator, effects, rules)


def report(coordinator: Coordinator, tasks: tuple[bool, ...]) -> Step[Coordinator]:
    """The listener is told of these tasks' statuses, and the graph starts what stands still."""
    effects: Effects = ()
    rules: Rules = ()
    if not listens_to_tasks(coordinator):
        return Step(coordinator, effects, rules)
    for task, reports in enumerate(tasks):
        if not reports:
            continue
        if coordinator.tasks_run[task] and coordinator.open and not coordinator.scheduler.runs:
            coordinator, said, _ = start_scheduler(coordinator)
            effects = (*effects, *said)
        awaited = not (coordinator.tasks_run[task] or coordinator.tasks_finished[task])
        coordinator, said, further = follow_listener(awaiting(coordinator, task, awaited))
        effects, rules = (*effects, *said), (*rules, *further)
    return Step(coordinator, effects, rules)


def listens_to_tasks(coordinator: Coordinator) -> bool:
    """Whether tasks make a difference for the scheduler."""
    return coordinator.plan.interval > 0 and coordinator.plan.profile.follows_tasks


def awaiting(coordinator: Coordinator, task: int, awaited: bool) -> Coordinator:
    """The listener has heard of the task's execution, and awaits it or not."""
    scheduler = coordinator.scheduler
    return coordinator._replace(
        scheduler=scheduler._replace(
            awaited=(*scheduler.awaited[:task], awaited, *scheduler.awaited[task + 1 :]),
            unheard=(*scheduler.unheard[:task], False, *scheduler.unheard[task + 1 :]),
        )
    )


def renew(coordinator: Coordinator, tasks: tuple[bool, ...]) -> Step[Coordinator]:
    """These tasks get new executions; of the former ones nothing more is heard."""
    if not listens_to_tasks(coordinator):
        return Step(coordinator, (), ())
    scheduler = coordinator.scheduler
    left = any(renews and waits for renews, waits in zip(tasks, scheduler.awaited, strict=True))
    scheduler = scheduler._replace(
        awaits_former=scheduler.awaits_former or left,
        awaited=tuple(waits and not renews for renews, waits in zip(tasks, scheduler.awaited, strict=True)),
        unheard=tuple(renews or unheard for renews, unheard in zip(tasks, scheduler.unheard, strict=True)),
    )
    coordinator = coordinator._replace(scheduler=scheduler)
    return hear_of_unheard(coordinator) if coordinator.status == RUNNING else Step(coordinator, (), ())


def hear_of_unheard(coordinator: Coordinator) -> Step[Coordinator]:
    """New executions are scheduled, all of them; then those of tasks that run, or have finished, do so."""
    fresh = coordinator.scheduler.unheard
    if not any(fresh):
        return Step(coordinator, (), ())
    for task, is_new in enumerate(fresh):
        if is_new:
            coordinator = awaiting(coordinator, task, True)
    coordinator, effects, rules = follow_listener(coordinator)
    statuses = zip(fresh, coordinator.tasks_run, coordinator.tasks_finished, strict=True)
    coordinator, said, further = report(
        coordinator, tuple(is_new and (runs or over) for is_new, runs, over in statuses)
    )
    return Step(coordinator, (*effects, *said), (*rules, *further))


def follow_listener(coordinator: Coordinator) -> Step[Coordinator]:
    """The listener starts or suspends the scheduler, if what it knows has changed."""
    if not coordinator.plan.interval:
        return Step(coordinator, (), ())
    scheduler = coordinator.scheduler
    wanted = coordinator.status == RUNNING
    if coordinator.plan.profile.follows_tasks:
        wanted = wanted and not any(scheduler.awaited) and not scheduler.awaits_former
        if wanted == scheduler.follows:
            return Step(coordinator, (), ())
    coordinator = coordinator._replace(scheduler=scheduler._replace(follows=wanted))
    if wanted:
        return start_scheduler(coordinator)
    stopped = suspend(coordinator)
    return stopped._replace(rules=("COORD-26", *stopped.rules))
