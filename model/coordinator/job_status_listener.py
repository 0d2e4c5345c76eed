"""The listener of the statuses of the job and its tasks, which starts and stops the periodic scheduler.

Rule COORD-26. An *execution* is one attempt to run a task. The listener receives the status of every
execution. It *awaits* each execution whose last reported status is neither running nor finished. The
scheduler runs while the job runs and the listener awaits no execution. In addition, Flink's execution graph
starts a stopped scheduler when a task begins to run.

The module describes Flink 2.3. `model.coordinator.generations` holds the steps of older generations.
"""

from model.coordinator.scheduler import SchedulerSteps
from model.coordinator.state import RUNNING, Coordinator
from model.events import Effects, Rules, Step


class ListenerSteps(SchedulerSteps):
    """The steps of the listener, and the methods that older generations override."""

    def follow_job(self, coordinator: Coordinator) -> Step[Coordinator]:
        """The step after the job has changed its status. If it runs now, new executions report statuses."""
        coordinator, effects, rules = self.follow_listener(coordinator)
        if coordinator.status == RUNNING:
            coordinator, emitted, further = self.report_new_executions(coordinator)
            effects, rules = (*effects, *emitted), (*rules, *further)
        return self.settle(coordinator, effects, rules)

    def follow_tasks(self, coordinator: Coordinator, tasks: tuple[bool, ...]) -> Step[Coordinator]:
        """The step after these tasks have changed their statuses, one after the other."""
        coordinator, effects, rules = self.report(coordinator, tasks)
        return self.settle(coordinator, effects, rules)

    def report(self, coordinator: Coordinator, tasks: tuple[bool, ...]) -> Step[Coordinator]:
        """The listener receives the statuses of these tasks. A running task starts a stopped scheduler."""
        effects: Effects = ()
        rules: Rules = ()
        if not self.listens_to_tasks(coordinator):
            return Step(coordinator, effects, rules)
        for task, reports in enumerate(tasks):
            if not reports:
                continue
            if coordinator.tasks_run[task] and coordinator.open and not coordinator.scheduler.runs:
                coordinator, emitted, _ = self.start_scheduler(coordinator)
                effects = (*effects, *emitted)
            awaited = not (coordinator.tasks_run[task] or coordinator.tasks_finished[task])
            coordinator, emitted, further = self.follow_listener(awaiting(coordinator, task, awaited))
            effects, rules = (*effects, *emitted), (*rules, *further)
        return Step(coordinator, effects, rules)

    def listens_to_tasks(self, coordinator: Coordinator) -> bool:
        """Whether there is a scheduler that depends on the statuses of tasks."""
        return coordinator.plan.interval > 0

    def renew(self, coordinator: Coordinator, tasks: tuple[bool, ...]) -> Step[Coordinator]:
        """These tasks get new executions. Their former executions never report again, also if awaited."""
        if not self.listens_to_tasks(coordinator):
            return Step(coordinator, (), ())
        scheduler = coordinator.scheduler
        left = any(renews and waits for renews, waits in zip(tasks, scheduler.awaited, strict=True))
        scheduler = scheduler._replace(
            awaits_former=scheduler.awaits_former or left,
            awaited=tuple(
                waits and not renews for renews, waits in zip(tasks, scheduler.awaited, strict=True)
            ),
            unreported=tuple(
                renews or unreported for renews, unreported in zip(tasks, scheduler.unreported, strict=True)
            ),
        )
        coordinator = coordinator._replace(scheduler=scheduler)
        return (
            self.report_new_executions(coordinator)
            if coordinator.status == RUNNING
            else Step(coordinator, (), ())
        )

    def report_new_executions(self, coordinator: Coordinator) -> Step[Coordinator]:
        """New executions report that they are scheduled. Then those of running and finished tasks report."""
        scheduler = coordinator.scheduler
        fresh = scheduler.unreported
        if not any(fresh):
            return Step(coordinator, (), ())
        awaited = tuple(waits or is_new for waits, is_new in zip(scheduler.awaited, fresh, strict=True))
        scheduler = scheduler._replace(awaited=awaited, unreported=(False,) * len(fresh))
        coordinator, effects, rules = self.follow_listener(coordinator._replace(scheduler=scheduler))
        statuses = zip(fresh, coordinator.tasks_run, coordinator.tasks_finished, strict=True)
        coordinator, emitted, further = self.report(
            coordinator, tuple(is_new and (runs or over) for is_new, runs, over in statuses)
        )
        return Step(coordinator, (*effects, *emitted), (*rules, *further))

    def follow_listener(self, coordinator: Coordinator) -> Step[Coordinator]:
        """The listener starts or suspends the scheduler if the condition to run has changed."""
        if not coordinator.plan.interval:
            return Step(coordinator, (), ())
        scheduler = coordinator.scheduler
        should_run = coordinator.status == RUNNING
        should_run = should_run and not any(scheduler.awaited) and not scheduler.awaits_former
        if should_run == scheduler.follows:
            return Step(coordinator, (), ())
        return self.start_or_stop(coordinator, should_run=should_run)

    def start_or_stop(self, coordinator: Coordinator, *, should_run: bool) -> Step[Coordinator]:
        """The listener starts or suspends the scheduler."""
        coordinator = coordinator._replace(scheduler=coordinator.scheduler._replace(follows=should_run))
        if should_run:
            return self.start_scheduler(coordinator)
        stopped = self.suspend(coordinator)
        return stopped._replace(rules=("COORD-26", *stopped.rules))


def awaiting(coordinator: Coordinator, task: int, awaited: bool) -> Coordinator:
    """The coordinator after the listener has received a status of the task's execution.

    `awaited`: the listener still awaits the execution.
    """
    scheduler = coordinator.scheduler
    return coordinator._replace(
        scheduler=scheduler._replace(
            awaited=(*scheduler.awaited[:task], awaited, *scheduler.awaited[task + 1 :]),
            unreported=(*scheduler.unreported[:task], False, *scheduler.unreported[task + 1 :]),
        )
    )
