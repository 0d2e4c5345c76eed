"""The steps of older generations of the coordinator, Flink 1.9 to 1.20.

A class derives from the class of the next newer generation. It overrides the steps in which its generation
and all older ones differ from newer ones. `coordinator_steps` selects the class for a coordinator. The
properties check the steps against the switches of `model.coordinator.profiles`.
"""

from collections.abc import Mapping

from model.coordinator.coordinator import CoordinatorSteps
from model.coordinator.events import Complete, FailJob
from model.coordinator.failures import Failure, Failures, FailureSteps, is_counted_or_older
from model.coordinator.pending import Pending
from model.coordinator.profiles import COORDINATOR_PROFILES, PROPOSED_COORDINATORS, CoordinatorProfile
from model.coordinator.proposed.regional import FallsBack
from model.coordinator.requests import Request, may_start
from model.coordinator.shared_state_generations import CountsUses
from model.coordinator.state import RUNNING, Coordinator, Plan, find
from model.coordinator.trigger import (
    end_master_phase,
    is_awaited,
    move_to_end_of_pause,
    pre_check,
    rejection,
    with_answer,
)
from model.events import (
    ALREADY_QUEUED,
    CHECKPOINT_SUBSUMED,
    COORDINATOR_SUSPEND,
    EXCEPTION,
    IO_EXCEPTION,
    MINIMUM_TIME_BETWEEN_CHECKPOINTS,
    NONE,
    PRE_FLIGHT,
    TOO_MANY_CONCURRENT_CHECKPOINTS,
    TRIGGER_CHECKPOINT_FAILURE,
    Effects,
    Rules,
    Step,
)
from model.gate.events import Abort
from model.store.store import CHECKPOINT, SAVEPOINT, STOP


class FollowsTheJob(CoordinatorSteps):
    """1.18 to 1.20: the scheduler runs while the job runs, and each of its starts has the initial delay."""

    def listens_to_tasks(self, coordinator: Coordinator) -> bool:
        """False: the scheduler does not depend on the statuses of tasks."""
        return False

    def follow_listener(self, coordinator: Coordinator) -> Step[Coordinator]:
        """The listener starts or suspends the scheduler at each status of the job."""
        if not coordinator.plan.interval:
            return Step(coordinator, (), ())
        return self.start_or_stop(coordinator, should_run=coordinator.status == RUNNING)

    def later_delay(self, plan: Plan) -> int:
        """Delay in ms of the first request after any start."""
        return plan.initial_delay


class SuspendsAtStart(FollowsTheJob):
    """1.19: every start of the scheduler first suspends requests and checkpoints."""

    def start_suspends(self, coordinator: Coordinator) -> bool:
        """True: every start of the scheduler first suspends all requests and pending checkpoints."""
        return True


class DeletesInTurn(SuspendsAtStart):
    """1.18: an aborted checkpoint begins a deletion, even if it has collected no state."""

    def has_deletion(self, pending: Pending) -> bool:
        """True: every aborted checkpoint begins a deletion."""
        return True


class CountsSuccessFirst(DeletesInTurn):
    """1.16.2 to 1.17: a checkpoint counts as a success before it is stored."""

    def before_storing(self, coordinator: Coordinator, done: Pending) -> tuple[Coordinator, Effects]:
        """A checkpoint counts as a success, even if the store then fails."""
        return self.succeed(coordinator, done), ()

    def after_storing(self, coordinator: Coordinator, done: Pending) -> tuple[Coordinator, Effects]:
        """The checkpoint is reported complete."""
        return coordinator, (Complete(done.checkpoint),)

    def count_failed_store(self, coordinator: Coordinator, done: Pending) -> Step[Coordinator]:
        """A failed addition to the store does not count."""
        return Step(coordinator, (), ())


class CompletesFirst(CountsSuccessFirst):
    """1.16.0 and 1.16.1: a checkpoint is complete before it is stored."""

    def before_storing(self, coordinator: Coordinator, done: Pending) -> tuple[Coordinator, Effects]:
        """The checkpoint counts as a success and is reported complete, even if the store then fails."""
        return self.succeed(coordinator, done), (Complete(done.checkpoint),)

    def after_storing(self, coordinator: Coordinator, done: Pending) -> tuple[Coordinator, Effects]:
        """No change and no effect: the checkpoint was reported complete before it was stored."""
        return coordinator, ()

    def abort_unstored(self, done: Pending) -> Effects:
        """No effect: a checkpoint that was reported complete is not reported aborted."""
        return ()


class OutlivesAborts(CompletesFirst):
    """1.15: an abort does not end the master phase, and waiting requests get no turn after a deletion."""

    def turns_after_deletion(self, deleted: int) -> int:
        """0: waiting requests get no turn after the deletion of stored checkpoints."""
        return 0

    def abort_start(
        self, coordinator: Coordinator, pending: Pending, reason: str, *, by_task: bool
    ) -> Step[Coordinator]:
        """The master phase continues until the awaited masters have answered (COORD-30)."""
        return self.discard(coordinator._replace(outlived=(pending,)), pending, reason, by_task=by_task)

    def fail_start(self, coordinator: Coordinator, begun: Pending, reason: str) -> Step[Coordinator]:
        """No change and no effect: the abort of the checkpoint is the only failure that counts."""
        return Step(coordinator, (), ())

    def on_master_answer(
        self, coordinator: Coordinator, place: int, checkpoint: int, is_hook: bool, fails: bool
    ) -> Step[Coordinator]:
        """If its checkpoint was aborted, an answer can only end the master phase."""
        aborted = find(coordinator.outlived, checkpoint)
        if aborted is None or coordinator.master != checkpoint:
            return super().on_master_answer(coordinator, place, checkpoint, is_hook, fails)
        if not is_awaited(aborted, place, is_hook):
            return Step(coordinator, (), ("COORD-23",))
        if fails:
            return self.take_turns(end_master_phase(coordinator), (), ("COORD-23",))
        aborted = with_answer(aborted, place, is_hook)
        if is_hook or all(aborted.coordinators):
            return self.take_turns(end_master_phase(coordinator), (), ("COORD-23", "COORD-30"))
        return Step(coordinator._replace(outlived=(aborted,)), (), ("COORD-23", "COORD-30"))


class StoresSavepoints(OutlivesAborts):
    """1.14.5 and 1.14.6: savepoints are stored and subsume older checkpoints. The registry counts uses."""

    shared_state = CountsUses()

    def is_stored(self, done: Pending) -> bool:
        """True: the store adds savepoints too."""
        return True

    def end_older(
        self, coordinator: Coordinator, done: Pending, subsumed: tuple[int, ...]
    ) -> Step[Coordinator]:
        """A savepoint subsumes older checkpoints as a checkpoint does (SUB-11)."""
        step = self.replace_older(coordinator, done, subsumed)
        return step._replace(rules=("SUB-11", *step.rules)) if done.type == SAVEPOINT else step


class LocatesFirst(StoresSavepoints):
    """1.14.3 and 1.14.4: the storage location is initialised before the checkpoint is pending."""

    def needs_location_first(self, coordinator: Coordinator) -> bool:
        """True: if there is no storage location, the request is rejected before a checkpoint is pending."""
        return True


class FailuresOfAnyType(FailureSteps):
    """1.11 to 1.14.2: failures of savepoints count, whoever reports them. A failing stop fails the job."""

    def fails_the_job(self, failure: Failure) -> bool:
        """Whether a stop-with-savepoint has failed after its start (COORD-28)."""
        return failure.type == STOP and failure.reason not in PRE_FLIGHT

    def concerns_the_job(self, failure: Failure) -> bool:
        """A failed checkpoint or savepoint counts, whoever reports it. A stop does not count (COORD-28)."""
        return failure.type != STOP

    def is_known(self, failures: Failures, checkpoint: int) -> bool:
        """Whether the failure does not count again. -1 is an id like any other, so it counts at most once."""
        return is_counted_or_older(failures, checkpoint)


class CountsEveryType(LocatesFirst):
    """1.14.0 to 1.14.2: failures count as in 1.13."""

    failures: FailureSteps = FailuresOfAnyType()

    def fail_io(self, coordinator: Coordinator, failed: Pending, reported: str) -> Step[Coordinator]:
        """A start that has failed by input or output does not count as a failure."""
        return Step(coordinator, (), ())

    def refuse_for_io(self, coordinator: Coordinator, requested: Request) -> Step[Coordinator]:
        """The request is rejected, and the failure does not count."""
        return Step(coordinator, rejection(requested, IO_EXCEPTION), ())


class AwaitsEveryTask(CountsEveryType):
    """1.13: only sources must run at the start, and every task must acknowledge."""

    def can_start(self, coordinator: Coordinator) -> bool:
        """The job and all sources run, and no task has finished."""
        return not any(coordinator.tasks_finished) and sources_run(coordinator)

    def refuse_for_io(self, coordinator: Coordinator, requested: Request) -> Step[Coordinator]:
        """The request is rejected with the reason of every failed start."""
        return Step(coordinator, rejection(requested, TRIGGER_CHECKPOINT_FAILURE), ())

    def taking_part(self, coordinator: Coordinator) -> tuple[bool, ...]:
        """A checkpoint that starts now awaits every task."""
        return (True,) * len(coordinator.tasks_run)

    def on_trigger_fails(self, coordinator: Coordinator, task: int, checkpoint: int) -> Step[Coordinator]:
        """A lost trigger has no effect (COORD-24)."""
        return Step(coordinator, (), ("COORD-24",))


class IgnoresFinishedTasks(AwaitsEveryTask):
    """1.12: a finished task prevents a start only if it is a source."""

    def can_start(self, coordinator: Coordinator) -> bool:
        """The job and all sources run."""
        return sources_run(coordinator)

    def takes_all_turns(self, coordinator: Coordinator, requested: Request) -> bool:
        """Whether no request starts in the further turns. If a source does not run, requests still can."""
        return super().takes_all_turns(coordinator, requested) and self.can_start(coordinator)


def sources_run(coordinator: Coordinator) -> bool:
    """The job and all sources run."""
    if coordinator.status != RUNNING:
        return False
    sources = zip(coordinator.tasks_run, coordinator.plan.sources, strict=True)
    return all(runs or not source for runs, source in sources)


class ClearsAtEverySuccess(FailuresOfAnyType):
    """1.11: every success clears the count, and failures of any age count (COORD-18)."""

    rules = ("COORD-15", "COORD-16", "COORD-18")

    def cleared(self, failures: Failures, checkpoint: int) -> Failures:
        """Every success clears the count."""
        return failures._replace(counted=())


class DiscardsUnstored(IgnoresFinishedTasks):
    """1.11: if the store fails, the checkpoint is deleted, even if it is unknown whether it is stored."""

    failures: FailureSteps = ClearsAtEverySuccess()

    def may_be_stored(self, fault: int) -> bool:
        """False: the coordinator deletes every checkpoint whose addition failed."""
        return False


class StopsCountToo(ClearsAtEverySuccess):
    """1.9 and 1.10: a failing stop counts like any other checkpoint."""

    def fails_the_job(self, failure: Failure) -> bool:
        """False: the abort of a stop has already failed the job, before the failure counts."""
        return False

    def concerns_the_job(self, failure: Failure) -> bool:
        """Failures of every type count."""
        return True


class NeverQueues(DiscardsUnstored):
    """1.9 and 1.10: no request waits, no task is notified of aborts, and no forced checkpoint is subsumed."""

    failures = StopsCountToo()

    def refuse_for_io(self, coordinator: Coordinator, requested: Request) -> Step[Coordinator]:
        """The request is rejected with the reason of any exception."""
        return Step(coordinator, rejection(requested, EXCEPTION), ())

    def request(self, coordinator: Coordinator, requested: Request) -> Step[Coordinator]:
        """A request starts now or is rejected. If too many are pending, the scheduler will repeat it."""
        refused = pre_check(coordinator, requested)
        if refused is None and not requested.forced:
            scheduler = coordinator.scheduler
            if scheduler.postponed:
                refused = ALREADY_QUEUED
            elif not may_start(requested, len(coordinator.pending), coordinator.plan.max_concurrent):
                refused = TOO_MANY_CONCURRENT_CHECKPOINTS
                coordinator = coordinator._replace(scheduler=scheduler._replace(postponed=True, due=NONE))
            elif coordinator.now < coordinator.pause_ends:
                refused = MINIMUM_TIME_BETWEEN_CHECKPOINTS
                coordinator = move_to_end_of_pause(coordinator)
        rules: Rules = ("COORD-03", "COORD-14") if coordinator.plan.min_pause else ("COORD-03",)
        if refused is not None:
            emitted = (*failed_stop(requested.type, refused), *rejection(requested, refused))
            return Step(coordinator, emitted, rules)
        return self.start(coordinator, requested, (), rules)

    def follow(self, coordinator: Coordinator, effects: Effects, rules: Rules) -> Step[Coordinator]:
        """A checkpoint has ended: the scheduler repeats a postponed request."""
        scheduler = coordinator.scheduler
        if scheduler.postponed:
            due = coordinator.now if scheduler.runs else NONE
            coordinator = coordinator._replace(scheduler=scheduler._replace(postponed=False, due=due))
        return self.settle(coordinator, effects, rules)

    def on_decline(
        self, coordinator: Coordinator, task: int, checkpoint: int, reason: str
    ) -> Step[Coordinator]:
        """A task declines. While a newer checkpoint is pending, the scheduler repeats no request."""
        pending = find(coordinator.pending, checkpoint)
        if pending is None or not any(other.checkpoint > checkpoint for other in coordinator.pending):
            return super().on_decline(coordinator, task, checkpoint, reason)
        coordinator, effects, rules = self.abort(coordinator, pending, reason, by_task=True)
        return Step(coordinator, effects, ("COORD-09", *rules))

    def suspend(self, coordinator: Coordinator, reason: str = COORDINATOR_SUSPEND) -> Step[Coordinator]:
        """Suspends the scheduler, and drops a postponed request."""
        scheduler = coordinator.scheduler._replace(postponed=False)
        return super().suspend(coordinator._replace(scheduler=scheduler), reason)

    def is_forced(
        self,
        coordinator: Coordinator,
        type: int,  # noqa: A002 - the protocol's word
        forced: bool,
    ) -> bool:
        """Whether the request is forced. Every savepoint is."""
        return forced or type != CHECKPOINT

    def can_be_subsumed(self, pending: Pending) -> bool:
        """Whether a newer checkpoint subsumes this one. It does not subsume a forced one."""
        return not pending.forced

    def discard(
        self, coordinator: Coordinator, pending: Pending, reason: str, *, by_task: bool
    ) -> Step[Coordinator]:
        """The effects of an abort. An aborted stop fails the job at once. No task is notified (COORD-19).

        Except for a subsumed checkpoint, the scheduler may begin its initial delay again (`begin_anew`).
        """
        lost = self.shared_state.loss_of(coordinator.shared, pending)
        aborted = (Abort(pending.checkpoint, reason), *failed_stop(pending.type, reason))
        if reason != CHECKPOINT_SUBSUMED:
            coordinator = begin_anew(coordinator)
        coordinator, emitted, rules = self.count_failure(coordinator, pending, reason, by_task=by_task)
        notifications = self.notify_abort(coordinator, pending)
        return Step(coordinator, (*aborted, *lost, *emitted, *notifications), (*rules, "COORD-19"))

    def notify_abort(self, coordinator: Coordinator, ended: Pending) -> Effects:
        """No task is notified of an abort."""
        return ()


def failed_stop(type: int, reason: str) -> Effects:  # noqa: A002 - the protocol's word
    """The failure of the job, if the type is STOP and the reason is not one of PRE_FLIGHT."""
    return (FailJob(reason),) if type == STOP and reason not in PRE_FLIGHT else ()


def begin_anew(coordinator: Coordinator) -> Coordinator:
    """Drops a postponed request and begins the initial delay again, if no checkpoint is pending."""
    scheduler = coordinator.scheduler
    if coordinator.pending or not scheduler.runs or not scheduler.postponed:
        return coordinator
    due = coordinator.now + coordinator.plan.initial_delay
    return coordinator._replace(scheduler=scheduler._replace(postponed=False, due=due))


_STEPS: Mapping[CoordinatorProfile, CoordinatorSteps] = {
    COORDINATOR_PROFILES["1.9"]: NeverQueues(),
    COORDINATOR_PROFILES["1.11"]: DiscardsUnstored(),
    COORDINATOR_PROFILES["1.12"]: IgnoresFinishedTasks(),
    COORDINATOR_PROFILES["1.13"]: AwaitsEveryTask(),
    COORDINATOR_PROFILES["1.14.0"]: CountsEveryType(),
    COORDINATOR_PROFILES["1.14.3"]: LocatesFirst(),
    COORDINATOR_PROFILES["1.14"]: StoresSavepoints(),
    **dict.fromkeys((COORDINATOR_PROFILES[name] for name in ("1.15.0", "1.15")), OutlivesAborts()),
    COORDINATOR_PROFILES["1.16.0"]: CompletesFirst(),
    COORDINATOR_PROFILES["1.17"]: CountsSuccessFirst(),
    COORDINATOR_PROFILES["1.18"]: DeletesInTurn(),
    COORDINATOR_PROFILES["1.19"]: SuspendsAtStart(),
    COORDINATOR_PROFILES["1.20"]: FollowsTheJob(),
    COORDINATOR_PROFILES["2.3"]: CoordinatorSteps(),
    PROPOSED_COORDINATORS["proposed-FLIP-600"]: FallsBack(),
}


def failure_steps(profile: CoordinatorProfile) -> FailureSteps:
    """The steps of the generation's count of failures."""
    return _STEPS[profile].failures


def coordinator_steps(coordinator: Coordinator) -> CoordinatorSteps:
    """The steps of the coordinator's generation."""
    return _STEPS[coordinator.plan.profile]
