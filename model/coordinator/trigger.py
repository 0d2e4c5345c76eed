"""The steps of a request: it waits for its turn, draws an id, and triggers masters and sources.

Rules COORD-01 to COORD-04, COORD-11. The coordinator triggers first the operator coordinators, then the
master hooks, then the sources. Until then the checkpoint is in its master phase. Only one checkpoint at a
time is in this phase. A turn follows each new request, each failed start and each end of a checkpoint. In a
turn, waiting requests start until the head of the queue is not allowed to start.

The module describes Flink 1.16 and later. `model.coordinator.generations` holds the steps of older releases.
"""

from typing import NamedTuple

from model.coordinator.completion import CompletionSteps, owe_turns
from model.coordinator.events import FailJob, Rejected, TriggerTask
from model.coordinator.failures import Failure
from model.coordinator.pending import Pending, is_fully_acknowledged, new_pending
from model.coordinator.requests import QUEUE_LIMIT, Request, has_capacity, joined, may_start
from model.coordinator.state import RUNNING, Coordinator, find, replace_pending, to_trigger, triggers_full
from model.events import (
    COORDINATOR_SHUTDOWN,
    FINALIZE_CHECKPOINT_FAILURE,
    IO_EXCEPTION,
    MINIMUM_TIME_BETWEEN_CHECKPOINTS,
    NONE,
    NOT_ALL_REQUIRED_TASKS_RUNNING,
    PERIODIC_SCHEDULER_SHUTDOWN,
    TOO_MANY_CHECKPOINT_REQUESTS,
    TRIGGER_CHECKPOINT_FAILURE,
    Effects,
    Fail,
    Rules,
    Step,
)
from model.store.store import CHECKPOINT, FULL


class MasterAnswer(NamedTuple):
    """An operator coordinator or a hook answers for a checkpoint, or reports that it has failed."""

    place: int
    """The position in the configured list of operator coordinators, or of hooks."""
    checkpoint: int
    is_hook: bool
    fails: bool
    kind: str = "master_answer"


class TriggerMaster(NamedTuple):
    """The coordinator triggers an operator coordinator or a hook for a checkpoint."""

    place: int
    checkpoint: int
    is_hook: bool
    kind: str = "trigger_master"


class TriggerSteps(CompletionSteps):
    """The steps that start a checkpoint, and the methods that older generations override."""

    def request(self, coordinator: Coordinator, requested: Request) -> Step[Coordinator]:
        """A request arrives and joins the queue. Then waiting requests get a turn."""
        if not has_capacity(coordinator.queue):
            return Step(coordinator, rejection(requested, TOO_MANY_CHECKPOINT_REQUESTS), ("COORD-03",))
        queue = joined(coordinator.queue, requested)
        effects: Effects = ()
        if len(queue) > QUEUE_LIMIT:
            effects = rejection(queue[-1], TOO_MANY_CHECKPOINT_REQUESTS)
            queue = queue[:-1]
        rules: Rules = ("COORD-03", "COORD-13") if len(queue) > 1 else ("COORD-03",)
        return self.take_turns(coordinator._replace(queue=queue), effects, rules)

    def take_turns(self, coordinator: Coordinator, effects: Effects, rules: Rules) -> Step[Coordinator]:
        """Starts requests from the head of the queue, until one has to wait (COORD-03, COORD-11).

        If the head of the queue is too early, it leaves the queue, and the turn ends.
        """
        turns = coordinator.turns
        coordinator = coordinator._replace(turns=0)
        while coordinator.queue and coordinator.master == NONE:
            if self.is_cleaning(coordinator):
                rules = (*rules, "COORD-33")
                break
            head = coordinator.queue[0]
            if not may_start(head, len(coordinator.pending), coordinator.plan.max_concurrent):
                break
            if len(coordinator.queue) > 1:
                rules = (*rules, "COORD-13")
            coordinator = coordinator._replace(queue=coordinator.queue[1:])
            if coordinator.plan.min_pause:
                rules = (*rules, "COORD-14")
            if is_too_early(coordinator, head):
                coordinator = move_to_end_of_pause(coordinator)
                effects = (*effects, *rejection(head, MINIMUM_TIME_BETWEEN_CHECKPOINTS))
                rules = (*rules, "COORD-29")
                turns -= 1
                if turns > 0:
                    continue
                break
            if self.takes_all_turns(coordinator, head):
                turns = 0
            coordinator, effects, rules = self.start(coordinator, head, effects, rules)
            turns, coordinator = turns + coordinator.turns, coordinator._replace(turns=0)
        return Step(coordinator, effects, rules)

    def is_cleaning(self, coordinator: Coordinator) -> bool:
        """Whether requests wait because too many deletions are under way (COORD-33).

        Their number must not exceed the limit of pending checkpoints.
        """
        plan = coordinator.plan
        return plan.slow_cleaning and len(coordinator.deletions) > plan.max_concurrent

    def can_start(self, coordinator: Coordinator) -> bool:
        """Whether the job runs, and each task runs (COORD-01) or, if the plan permits it, has finished."""
        plan = coordinator.plan
        if coordinator.status != RUNNING:
            return False
        if plan.finished_tasks:
            return all(
                runs or over
                for runs, over in zip(coordinator.tasks_run, coordinator.tasks_finished, strict=True)
            )
        return all(coordinator.tasks_run)

    def taking_part(self, coordinator: Coordinator) -> tuple[bool, ...]:
        """By task: a checkpoint that starts now awaits the task."""
        return coordinator.tasks_run

    def takes_all_turns(self, coordinator: Coordinator, requested: Request) -> bool:
        """Whether no request starts in the further turns, because this start is still under way then."""
        return pre_check(coordinator, requested) is None

    def start(
        self, coordinator: Coordinator, requested: Request, effects: Effects, rules: Rules
    ) -> Step[Coordinator]:
        """Draws the next id (COORD-02), makes it pending, and triggers its masters and sources."""
        refused = pre_check(coordinator, requested)
        if refused is None and not self.can_start(coordinator):
            refused = NOT_ALL_REQUIRED_TASKS_RUNNING
        if refused is not None:
            return Step(coordinator, (*effects, *rejection(requested, refused)), (*rules, "COORD-01"))
        if coordinator.io.id:
            coordinator = coordinator._replace(io=coordinator.io._replace(id=False))
            failed = self.refuse_for_io(coordinator, requested)
            return Step(failed.state, (*effects, *failed.effects), (*rules, "COORD-36", *failed.rules))
        plan = coordinator.plan
        checkpoint = coordinator.next_id
        coordinator = coordinator._replace(next_id=checkpoint + 1)
        if any(checkpoint == savepoint + 1 for savepoint in plan.savepoint):
            rules = (*rules, "COORD-37")
        tasks = self.taking_part(coordinator)
        if coordinator.io.location and self.needs_location_first(coordinator):
            coordinator = coordinator._replace(io=coordinator.io._replace(location=False))
            failed = self.refuse_for_io(coordinator, requested)
            return Step(failed.state, (*effects, *failed.effects), (*rules, "COORD-35", *failed.rules))
        if not any(tasks):  # the id is drawn and not used
            effects = (*effects, *rejection(requested, TRIGGER_CHECKPOINT_FAILURE))
            return Step(coordinator, effects, (*rules, "COORD-02", "COORD-27"))
        begun = new_pending(
            checkpoint,
            requested.type,
            coordinator.now + plan.timeout,
            tasks,
            forced=requested.forced,
            coordinators=plan.coordinators,
            hooks=plan.hooks,
        )
        if coordinator.io.location:
            coordinator = coordinator._replace(io=coordinator.io._replace(location=False))
            failed = self.abort(owe_turns(coordinator, 1), begun, IO_EXCEPTION)
            return Step(failed.state, (*effects, *failed.effects), (*rules, "COORD-35", *failed.rules))
        coordinator = coordinator._replace(pending=(*coordinator.pending, begun), master=checkpoint)
        triggered = tuple(TriggerMaster(place, checkpoint, False) for place in range(plan.coordinators))
        rules = (*rules, "COORD-02", "COORD-04")
        if any(coordinator.tasks_finished):
            rules = (*rules, "COORD-27")
        return self.continue_start(coordinator, begun, (*effects, *triggered), rules)

    def needs_location_first(self, coordinator: Coordinator) -> bool:
        """False: the storage location is initialised when the checkpoint is pending."""
        return False

    def refuse_for_io(self, coordinator: Coordinator, requested: Request) -> Step[Coordinator]:
        """Rejects a request whose start failed at an input or output. The failure counts, without an id."""
        failures, too_many = self.failures.on_failure(
            coordinator.failures,
            coordinator.plan.profile,
            coordinator.plan.tolerable_failures,
            Failure(NONE, requested.type, IO_EXCEPTION, by_task=False),
        )
        effects = rejection(requested, IO_EXCEPTION)
        if too_many:
            effects = (*effects, FailJob(IO_EXCEPTION))
        return Step(coordinator._replace(failures=failures), effects, self.counting_rules(coordinator))

    def continue_start(
        self, coordinator: Coordinator, begun: Pending, effects: Effects, rules: Rules
    ) -> Step[Coordinator]:
        """Triggers the hooks after all operator coordinators, and the sources after all hooks."""
        if begun.coordinators or begun.hooks:
            rules = (*rules, "COORD-23")
        if not all(begun.coordinators):
            return Step(coordinator, effects, rules)
        if not all(begun.hooks):  # the hooks are triggered now
            triggered = tuple(
                TriggerMaster(place, begun.checkpoint, True) for place in range(len(begun.hooks))
            )
            return Step(coordinator, (*effects, *triggered), rules)
        coordinator = end_master_phase(coordinator)
        kind = FULL if triggers_full(coordinator) and begun.type == CHECKPOINT else begun.type
        if coordinator.plan.savepoint:
            rules = (*rules, "COORD-38")
        triggers = tuple(TriggerTask(task, begun.checkpoint, kind) for task in to_trigger(coordinator, begun))
        if is_fully_acknowledged(begun):  # tasks can acknowledge before the last hook answers
            done = self.complete(coordinator, begun, (*effects, *triggers))
            if not any(type(effect) is Fail for effect in done.effects):
                return Step(done.state, done.effects, (*rules, *done.rules))
            emitted = tuple(
                effect for effect in done.effects if type(effect) is not Fail
            )  # no task to answer
            if coordinator.io.metadata:
                failed = self.fail_io(done.state, begun, FINALIZE_CHECKPOINT_FAILURE)
            else:
                failed = self.fail_start(done.state, begun, FINALIZE_CHECKPOINT_FAILURE)
            return Step(failed.state, (*emitted, *failed.effects), (*rules, *done.rules, *failed.rules))
        return Step(coordinator, (*effects, *triggers), rules)

    def on_master_answer(
        self, coordinator: Coordinator, place: int, checkpoint: int, is_hook: bool, fails: bool
    ) -> Step[Coordinator]:
        """An operator coordinator or a hook answers. Only its first answer after a trigger counts."""
        pending = find(coordinator.pending, checkpoint)
        if pending is None or coordinator.master != checkpoint or not is_awaited(pending, place, is_hook):
            return Step(coordinator, (), ("COORD-23",))
        if fails:
            coordinator = owe_turns(end_master_phase(coordinator), 1)
            coordinator, effects, rules = self.abort(coordinator, pending, TRIGGER_CHECKPOINT_FAILURE)
            return self.take_turns(coordinator, effects, ("COORD-23", "COORD-11", *rules))
        pending = with_answer(pending, place, is_hook)
        coordinator = replace_pending(coordinator, pending)
        if is_hook and not all(pending.hooks):
            return Step(coordinator, (), ("COORD-23",))
        coordinator, effects, rules = self.continue_start(owe_turns(coordinator, 1), pending, (), ())
        return self.take_turns(coordinator, effects, rules)

    def is_forced(
        self,
        coordinator: Coordinator,
        type: int,  # noqa: A002 - the protocol's word
        forced: bool,
    ) -> bool:
        """Whether the request is forced. A savepoint is, except in a job with unaligned checkpoints."""
        return forced or (type != CHECKPOINT and not coordinator.plan.unaligned)


def rejection(refused: Request, reason: str) -> Effects:
    """The effect that reports the rejection to the user. A request of the scheduler has no such effect."""
    return (Rejected(refused.type, reason),) if refused.awaits_answer else ()


def is_too_early(coordinator: Coordinator, requested: Request) -> bool:
    """Whether the request is periodic and not forced, and the pause after a completion is not over."""
    return requested.periodic and not requested.forced and coordinator.now < coordinator.pause_ends


def move_to_end_of_pause(coordinator: Coordinator) -> Coordinator:
    """Moves the scheduler's next request to the end of the pause.

    If the scheduler is stopped, that request is rejected at that time.
    """
    if not coordinator.plan.interval or not coordinator.open:
        return coordinator
    return coordinator._replace(scheduler=coordinator.scheduler._replace(due=coordinator.pause_ends))


def pre_check(coordinator: Coordinator, requested: Request) -> str | None:
    """The reason to reject the request before the statuses of tasks matter, or None."""
    if not coordinator.open:
        return COORDINATOR_SHUTDOWN
    if requested.periodic and not coordinator.scheduler.runs:
        return PERIODIC_SCHEDULER_SHUTDOWN
    return None


def is_awaited(pending: Pending, place: int, is_hook: bool) -> bool:
    """Whether the operator coordinator or the hook was triggered and has not answered."""
    if is_hook:
        return not pending.hooks[place] and all(pending.coordinators)
    return not pending.coordinators[place]


def with_answer(pending: Pending, place: int, is_hook: bool) -> Pending:
    """The checkpoint after the operator coordinator or the hook has answered."""
    answered = pending.hooks if is_hook else pending.coordinators
    answered = (*answered[:place], True, *answered[place + 1 :])
    return pending._replace(hooks=answered) if is_hook else pending._replace(coordinators=answered)


def end_master_phase(coordinator: Coordinator) -> Coordinator:
    """The coordinator after the end of the master phase."""
    return coordinator._replace(master=NONE, outlived=())
