"""The checkpoint coordinator: its step for each event.

Rules COORD-01 to COORD-12, SUB-02 to SUB-05. A request waits until it can start
(`model.coordinator.trigger`). A started checkpoint is pending until the last task has acknowledged it, or
until a decline, the time-out or a newer completed checkpoint ends it (`model.coordinator.completion`,
`model.coordinator.scheduler`). The store keeps a completed checkpoint (`model.store.store`).
`model.coordinator.recovery` holds restores and restarts. Each of these modules defines a class of steps that
derives from the class of another one. `CoordinatorSteps` inherits from all of them.

The module describes Flink 2.3. `model.coordinator.generations` holds the steps of older generations.
"""

from model.coordinator.events import Acknowledged
from model.coordinator.pending import SUCCESS, UNKNOWN, acknowledge, is_fully_acknowledged
from model.coordinator.recovery import RecoverySteps
from model.coordinator.requests import Request
from model.coordinator.shared_state import register
from model.coordinator.state import CREATED, FINISHED, RESTARTING, RUNNING, Coordinator, find, replace_pending
from model.events import Effects, Step
from model.store.store import STOP


class CoordinatorSteps(RecoverySteps):
    """The step of a coordinator for each event."""

    def on_trigger(
        self,
        coordinator: Coordinator,
        type: int,  # noqa: A002 - the protocol's word
        forced: bool,
        periodic: bool,
    ) -> Step[Coordinator]:
        """A user requests a checkpoint, a savepoint, or a stop with a savepoint."""
        effects: Effects = ()
        if type == STOP:  # a stop ends all waiting requests and pending checkpoints
            coordinator, effects, _ = self.suspend(coordinator)
        requested = Request(type, self.is_forced(coordinator, type, forced), periodic, awaits_answer=True)
        step = self.request(coordinator, requested)
        return step._replace(effects=(*effects, *step.effects))

    def on_acknowledge(
        self, coordinator: Coordinator, task: int, checkpoint: int, handle: int, shared: tuple[int, ...] = ()
    ) -> Step[Coordinator]:
        """A task acknowledges `checkpoint`. `handle`: its state, 0 for none. `shared`: its shared files.

        A task whose number is not in the plan is unknown.
        """
        if not coordinator.open:
            return Step(coordinator, (), ())
        pending = find(coordinator.pending, checkpoint)
        if self.shared_state.registers_at_acknowledgement(pending):
            registered = register(coordinator.shared, checkpoint, shared)
            coordinator = coordinator._replace(shared=registered)
        unused = self.shared_state.loss(coordinator.shared, handle, shared)
        if pending is None:
            return Step(coordinator, unused, ("COORD-06",))
        changed, result = acknowledge(pending, task, handle, shared)
        effects: Effects = (Acknowledged(task, checkpoint, result),)
        if result != SUCCESS:
            return Step(coordinator, (*effects, *unused) if result == UNKNOWN else effects, ("COORD-05",))
        coordinator = replace_pending(coordinator, changed)
        if is_fully_acknowledged(changed):
            coordinator, effects, rules = self.complete(coordinator, changed, effects)
            return self.follow(coordinator, effects, (*rules, "COORD-11"))
        return Step(coordinator, effects, ("COORD-05",))

    def on_decline(
        self, coordinator: Coordinator, task: int, checkpoint: int, reason: str
    ) -> Step[Coordinator]:
        """A task declines `checkpoint`."""
        pending = find(coordinator.pending, checkpoint)
        if pending is None:
            return Step(coordinator, (), ("COORD-09",))
        coordinator, effects, rules = self.abort(coordinator, pending, reason, by_task=True)
        return self.follow(coordinator, effects, ("COORD-09", *rules, "COORD-11"))

    def on_job_status(self, coordinator: Coordinator, status: str) -> Step[Coordinator]:
        """The job changes its status. If it leaves RUNNING, requests and checkpoints end (COORD-12)."""
        coordinator = coordinator._replace(status=status)
        if coordinator.plan.interval:
            return self.follow_job(coordinator)
        if status != RUNNING:
            return self.suspend(coordinator)
        return Step(coordinator, (), ("COORD-12",))

    def on_task_status(self, coordinator: Coordinator, task: int, status: str) -> Step[Coordinator]:
        """A task changes its status."""
        runs = (*coordinator.tasks_run[:task], status == RUNNING, *coordinator.tasks_run[task + 1 :])
        over = (
            *coordinator.tasks_finished[:task],
            status == FINISHED,
            *coordinator.tasks_finished[task + 1 :],
        )
        reached = status != CREATED
        deployed = (*coordinator.tasks_reached[:task], reached, *coordinator.tasks_reached[task + 1 :])
        coordinator = coordinator._replace(tasks_run=runs, tasks_finished=over, tasks_reached=deployed)
        changed = tuple(other == task for other in range(len(runs)))
        followed = self.follow_tasks(coordinator, changed)
        return followed._replace(rules=("COORD-01", *followed.rules))

    def on_fail_tasks(self, coordinator: Coordinator, failed: tuple[bool, ...]) -> Step[Coordinator]:
        """The tasks whose element of `failed` is True fail, and the job restarts."""
        runs = tuple(runs and not fails for runs, fails in zip(coordinator.tasks_run, failed, strict=True))
        over = tuple(
            over and not fails for over, fails in zip(coordinator.tasks_finished, failed, strict=True)
        )
        reached = tuple(was or fails for was, fails in zip(coordinator.tasks_reached, failed, strict=True))
        coordinator = coordinator._replace(tasks_run=runs, tasks_finished=over, tasks_reached=reached)
        coordinator, effects, rules = self.report(coordinator, failed)
        step = self.on_job_status(coordinator, RESTARTING)
        return step._replace(effects=(*effects, *step.effects), rules=(*rules, *step.rules))
