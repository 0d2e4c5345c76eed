"""The steps of the coordinator's timers: periodic requests and time-outs. Rule COORD-10.

The scheduler runs while the job runs, and makes one request in each interval. Only `on_advance` advances
time. Timers fire in the order of their due times. If a time-out and a request are due at the same time, the
time-out comes first.

The module describes Flink 2.3. `model.coordinator.generations` holds the steps of older generations.
"""

from model.coordinator.pending import Pending
from model.coordinator.requests import Request
from model.coordinator.state import Coordinator, Plan, find, to_trigger
from model.coordinator.trigger import TriggerSteps, rejection
from model.events import (
    CHECKPOINT_EXPIRED,
    COORDINATOR_SUSPEND,
    NONE,
    TRIGGER_CHECKPOINT_FAILURE,
    Effects,
    Fail,
    Rules,
    Step,
)
from model.store.store import CHECKPOINT


class SchedulerSteps(TriggerSteps):
    """The steps of the timers, and the methods that older generations override."""

    def on_advance(self, coordinator: Coordinator, ms: int) -> Step[Coordinator]:
        """Time passes by `ms` milliseconds. Timers that become due fire in order of time (COORD-10)."""
        reached = self.run_until(coordinator, coordinator.now + ms, (), ("COORD-10",))
        return reached._replace(state=reached.state._replace(now=coordinator.now + ms))

    def run_until(
        self, coordinator: Coordinator, target: int, effects: Effects, rules: Rules
    ) -> Step[Coordinator]:
        """Fires all timers due until `target`, in order of time. The clock stays at the last one."""
        while True:
            expired = next_due(coordinator.pending, target)
            due = coordinator.scheduler.due
            is_due = due != NONE and due <= target
            if expired is not None and not (is_due and due < expired.deadline):
                coordinator = coordinator._replace(now=expired.deadline)
                coordinator, ended, counting = self.abort(coordinator, expired, CHECKPOINT_EXPIRED)
                effects, rules = (*effects, *ended), (*rules, "COORD-11", *counting)
                coordinator, effects, rules = self.follow(coordinator, effects, rules)
            elif is_due:
                coordinator, emitted, fired = self.make_request(coordinator._replace(now=due))
                effects, rules = (*effects, *emitted), (*rules, "COORD-26", *fired)
            else:
                return Step(coordinator, effects, rules)

    def make_request(self, coordinator: Coordinator) -> Step[Coordinator]:
        """The scheduler requests a checkpoint, and sets its timer to the next interval."""
        due = coordinator.now + coordinator.plan.interval
        coordinator = coordinator._replace(scheduler=coordinator.scheduler._replace(due=due))
        return self.request(
            coordinator, Request(CHECKPOINT, forced=False, periodic=True, awaits_answer=False)
        )

    def follow(self, coordinator: Coordinator, effects: Effects, rules: Rules) -> Step[Coordinator]:
        """The step after the end of a checkpoint: waiting requests can start (COORD-11)."""
        return self.take_turns(coordinator, effects, rules)

    def settle(self, coordinator: Coordinator, effects: Effects, rules: Rules) -> Step[Coordinator]:
        """Fires the scheduler's timer if it is due now."""
        if coordinator.scheduler.due == NONE:
            return Step(coordinator, effects, rules)
        return self.run_until(coordinator, coordinator.now, effects, rules)

    def on_deleted(self, coordinator: Coordinator) -> Step[Coordinator]:
        """The oldest deletion ends. Waiting requests can then start, unless the coordinator is shut down."""
        if not coordinator.deletions:
            return Step(coordinator, (), ())
        rules: Rules = ("COORD-33",) if coordinator.queue and self.is_cleaning(coordinator) else ()
        gives_turn = coordinator.deletions[0]
        coordinator = coordinator._replace(deletions=coordinator.deletions[1:])
        if not gives_turn or not coordinator.open:
            return Step(coordinator, (), rules)
        return self.follow(coordinator, (), rules)

    def on_trigger_fails(self, coordinator: Coordinator, task: int, checkpoint: int) -> Step[Coordinator]:
        """The trigger of a task is lost. This aborts the checkpoint if it is pending (COORD-24)."""
        pending = find(coordinator.pending, checkpoint)
        if pending is None:
            return Step(coordinator, (), ("COORD-24",))
        if coordinator.master == checkpoint or task not in to_trigger(coordinator, pending):
            return Step(coordinator, (), ("COORD-24",))
        coordinator, effects, rules = self.abort(coordinator, pending, TRIGGER_CHECKPOINT_FAILURE)
        return self.follow(coordinator, effects, ("COORD-24", "COORD-11", *rules))

    def suspend(self, coordinator: Coordinator, reason: str = COORDINATOR_SUSPEND) -> Step[Coordinator]:
        """Stops the scheduler, rejects waiting requests and aborts pending checkpoints (COORD-12)."""
        effects: Effects = ()
        rules: Rules = ("COORD-12",)
        for waiting in coordinator.queue:
            effects = (*effects, *rejection(waiting, reason))
        scheduler = coordinator.scheduler._replace(runs=False, due=NONE)
        coordinator = coordinator._replace(queue=(), scheduler=scheduler)
        for pending in coordinator.pending:
            coordinator, ended, counting = self.abort(coordinator, pending, reason)
            effects, rules = (*effects, *ended), (*rules, *counting)
        return Step(coordinator._replace(turns=0), effects, rules)

    def start_scheduler(self, coordinator: Coordinator) -> Step[Coordinator]:
        """Starts the scheduler. Its first request is due after a delay (COORD-26)."""
        if not coordinator.open:
            return Step(coordinator, (Fail("IllegalArgumentException"),), ("COORD-25", "COORD-26"))
        effects: Effects = ()
        if self.start_suspends(coordinator):
            coordinator, effects, _ = self.suspend(coordinator)
        delay = coordinator.scheduler.delay
        scheduler = coordinator.scheduler._replace(
            runs=True, due=coordinator.now + delay, delay=self.later_delay(coordinator.plan)
        )
        return Step(coordinator._replace(scheduler=scheduler), effects, ("COORD-26",))

    def start_suspends(self, coordinator: Coordinator) -> bool:
        """Whether a start first suspends requests and pending checkpoints: if the scheduler already runs."""
        return coordinator.scheduler.runs

    def later_delay(self, plan: Plan) -> int:
        """Delay in ms of the first request after a start of the scheduler, except its first start."""
        return plan.min_pause


def next_due(pending: tuple[Pending, ...], target: int) -> Pending | None:
    """The first checkpoint that expires until `target`, or None. Of equal deadlines, the smaller id wins."""
    first: Pending | None = None
    for candidate in pending:
        if candidate.deadline <= target and (first is None or candidate.deadline < first.deadline):
            first = candidate
    return first
