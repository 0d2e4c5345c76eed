"""The proofs of a coordinator with any number of tasks: acknowledgements, its pause and its scheduler."""

import random
from itertools import product

import pytest

from conformance.mutants.catalogue import mutant_of
from model.checker.any_number.cases import prove
from model.checker.any_number.claims import reread
from model.checker.any_number.recompiled_model import Edit
from model.checker.symbolic import SymbolicUseError
from model.coordinator.coordinator import CoordinatorSteps
from model.coordinator.events import (
    AcknowledgeMessage,
    DeclineMessage,
    FailTasks,
    IoFails,
    JobStatus,
    Rejected,
    RestoreRequest,
    TaskStatus,
    TriggerRequest,
    TriggerTask,
)
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.coordinator.proofs import any_listener
from model.coordinator.proofs import any_number as coordinator_proofs
from model.coordinator.proofs.any_number import Setting
from model.coordinator.proofs.closed import Numbers
from model.coordinator.properties import checkpoint_start, terms
from model.coordinator.requests import Request
from model.coordinator.state import FINISHED, RUNNING, Plan, Scheduler, new_coordinator
from model.events import ID, LOCATION, Advance, NotifyAbort
from model.properties import of_component
from model.steps import step_of
from model.store.store import CHECKPOINT, SAVEPOINT


@pytest.mark.parametrize(
    ("profile", "own", "rule"),
    [("2.3", False, "COORD-07"), ("2.3", True, "COORD-07"), ("1.14", True, "SUB-11")],
)
def test_acknowledgements_of_any_number_of_tasks_are_proved(profile, own, rule):
    every = coordinator_proofs.coordinator_cases(reread(), coordinator_proofs.Setting(profile))
    name = f"{profile}, 1 pending, 1 stored, acknowledge"
    chosen = [case for case in every if case.label == name]
    result = prove([chosen[own]])

    assert result.refutations == ()
    assert rule in result.proved


def test_effects_from_the_first_of_some_kinds_on_and_their_answers():
    rejected, trigger, abort = Rejected(0, "X"), TriggerTask(0, 7, 0), NotifyAbort(3, 0)
    for effects in product((rejected, trigger, abort, TriggerTask(1, 7, 0), TriggerTask(0, 8, 0)), repeat=3):
        kinds = (Rejected, TriggerTask)
        assert coordinator_proofs.beginning_with(effects, kinds) == terms.beginning_with(effects, kinds)
        assert coordinator_proofs.answers(effects, 6) == terms.answers(effects, 6)


@pytest.mark.parametrize("number", range(1, 5))
def test_reports_of_tasks_at_once_are_those_of_the_loop(number):
    """Checks the cases in which the function over ropes gives an answer.

    These are one report, or several of which only the last one starts a checkpoint.
    """
    draw, steps, answered = random.Random(number), CoordinatorSteps(), 0
    plan = Plan((True,) * number, timeout=9, max_concurrent=1, interval=10, initial_delay=5, min_pause=4)
    new, request = new_coordinator(plan, 1), Request(0, False, False, True)
    for _ in range(400):
        tasks, run, over, awaited, fresh = (
            tuple(draw.random() < 0.5 for _ in range(number)) for _ in range(5)
        )
        awaited = tuple(waits or draw.random() < 0.5 for waits in awaited)
        flags = (draw.random() < 0.5 for _ in range(3))
        state = new._replace(
            status=draw.choice((RUNNING, "RESTARTING")),
            tasks_run=run,
            tasks_finished=tuple(ends and not runs for ends, runs in zip(over, run, strict=True)),
            queue=(request,),
            open=draw.random() < 0.8,
            scheduler=Scheduler(next(flags), 7, 5, next(flags), False, awaited, next(flags), fresh),
        )
        try:
            found = any_listener.report(steps, state, tasks)
        except SymbolicUseError:
            assert sum(tasks) > 1
            continue
        assert found == steps.report(state, tasks)
        answered += any(tasks)
    assert answered > 100


@pytest.mark.parametrize(
    ("setting", "event", "mutant"),
    [
        (Setting(pause=1), "trigger", "coordinator-pause-for-savepoints"),
        (Setting(pause=1, scheduler=1), "job_status", "coordinator-wrong-first-delay"),
        (Setting("1.20", pause=1, scheduler=1), "job_status", "coordinator-wrong-first-delay"),
    ],
    ids=("pause", "scheduler", "scheduler of 1.20"),
)
def test_a_pause_and_a_scheduler_are_proved_and_a_mutant_refuted(setting, event, mutant):
    def chosen(modules):
        every = coordinator_proofs.coordinator_cases(modules, setting, (Numbers(0, 0, 0, 0, 0),))
        return [case for case in every if case.label.endswith(event)]

    found = mutant_of(f"model-{mutant}")
    result = prove(chosen(reread()))
    assert result.refutations == ()
    assert found.rule in result.proved
    assert result.permitted == result.cases == 1

    result = prove(chosen(reread(Edit(found.module, found.find, found.replace))), stop_at={found.rule})
    assert found.rule in {refutation.rule for refutation in result.refutations}


@pytest.mark.parametrize(
    ("numbers", "broken"),
    [
        (Numbers(1, 0, 0, 0, 0), {"coord_12", "coord_12_stopped"}),
        (Numbers(0, 1, 0, 0, 0), {"coord_12", "coord_03"}),
    ],
    ids=("pending", "waiting"),
)
def test_a_job_that_stops_ends_what_its_listener_follows(numbers, broken):
    """COORD-12 follows from the lemma that the listener follows a job with pending or waiting ones."""
    (case,) = scheduled_cases(numbers, "job_status")
    result = prove([case])
    assert result.refutations == ()
    assert {"COORD-03", "COORD-12", "COORD-26"} <= result.proved

    others = tuple(one for one in case.properties if one.name != "coord_12_followed")
    assert {one.property for one in prove([case._replace(properties=others)]).refutations} == broken


@pytest.mark.parametrize(
    ("event", "edit", "lemma"),
    [
        (
            "trigger",
            Edit("model.coordinator.trigger", "return all(coordinator.tasks_run)", "return True"),
            "coord_12_followed",
        ),
        (
            "job_status",
            Edit(
                "model.coordinator.job_status_listener",
                "awaited=awaited, unreported=(False,) * len(fresh)",
                "awaited=awaited",
            ),
            "coord_26_awaits",
        ),
    ],
    ids=("starts while a task is awaited", "never reports"),
)
def test_each_lemma_about_the_listener_can_fail(event, edit, lemma):
    result = prove(scheduled_cases(Numbers(0, 0, 0, 0, 0), event, edit), stop_at={"COORD-12", "COORD-26"})
    assert lemma in {one.property for one in result.refutations}


def scheduled_cases(numbers, event, *edits):
    """The case of an event in 2.3 with a pause and a scheduler."""
    every = coordinator_proofs.coordinator_cases(reread(*edits), Setting(pause=1, scheduler=1), (numbers,))
    return [case for case in every if case.label.endswith(event)]


@pytest.mark.parametrize("at_once", [1, 2])
def test_every_property_holds_in_random_runs_with_a_listener(at_once):
    """Two tasks in 2.3 with a scheduler, and restores that replace an execution before its report.

    There is no minimum pause, as by default in Flink, so a second start of the scheduler requests in the
    same event.
    """
    draw, step, met = random.Random(at_once), step_of("coordinator"), set()
    for _ in range(150):
        plan = Plan(
            (True, False),
            timeout=25,
            max_concurrent=at_once,
            interval=10,
            initial_delay=draw.choice((0, 5)),
            min_pause=draw.choice((0, 4)),
            finished_tasks=draw.random() < 0.5,
            io_failures=True,
        )
        state = new_coordinator(plan, retain=1)
        for _ in range(30):
            event = draw.choice(tuple(offers(state)))
            before, (state, effects, _) = state, step(state, event)
            assert broken(before, event, effects, state) == set(), event
            waits = bool(state.pending), bool(state.queue)
            met.add((state.status == RUNNING, state.scheduler.follows, state.scheduler.awaits_former, waits))
    both = (True, True)
    assert {(True, True, False, both), (True, False, True, both), (False, False, True, both)} <= met


def offers(state):
    """Events of an environment in which the job runs most of the time."""
    yield from (JobStatus(RUNNING), JobStatus("RESTARTING"))
    for task in (0, 1):
        yield from (TaskStatus(task, RUNNING), TaskStatus(task, RUNNING), TaskStatus(task, FINISHED))
    yield from (FailTasks((True, False)), RestoreRequest((False, True)), RestoreRequest())
    yield from (Advance(3), Advance(10), IoFails(ID), IoFails(LOCATION))
    if len(state.queue) < 2:
        yield from (TriggerRequest(CHECKPOINT), TriggerRequest(CHECKPOINT), TriggerRequest(SAVEPOINT))
    for pending in state.pending:
        yield from (AcknowledgeMessage(task, pending.checkpoint, 1) for task in (0, 1))


@pytest.mark.parametrize("what", [ID, LOCATION])
def test_a_request_of_the_scheduler_that_fails_to_start(what):
    """COORD-26 once expected a pending checkpoint: it did not know a start without an id or a location."""
    plan = Plan(
        (True,), timeout=99, max_concurrent=1, interval=10, initial_delay=5, min_pause=4, io_failures=True
    )
    state, step = new_coordinator(plan, 1), step_of("coordinator")
    for event in (JobStatus(RUNNING), TaskStatus(0, RUNNING), IoFails(what), Advance(5)):
        before, (state, effects, _) = state, step(state, event)
        assert broken(before, event, effects, state) == set()
    assert state.pending == ()
    begun = step(before._replace(io=before.io._replace(id=False, location=False)), event)
    assert [one.checkpoint for one in begun.state.pending] == [1]
    late = state._replace(scheduler=state.scheduler._replace(due=state.scheduler.due + 1))
    assert "COORD-26" in broken(before, event, effects, late)


def test_a_request_of_the_scheduler_leaves_without_an_effect_before_a_rejected_one():
    """Both requests leave for the same reason, and the effect answers the user's one.

    An older rule took the first.
    """
    profile = COORDINATOR_PROFILES["1.20"]
    plan = Plan(
        (True,),
        timeout=99,
        max_concurrent=1,
        profile=profile,
        interval=10,
        initial_delay=5,
        finished_tasks=False,
    )
    state, step = new_coordinator(plan, 1), step_of("coordinator")
    for event in (
        TaskStatus(0, RUNNING),
        JobStatus(RUNNING),
        TriggerRequest(CHECKPOINT),
        Advance(5),
        TriggerRequest(CHECKPOINT, periodic=True),
        TaskStatus(0, FINISHED),
    ):
        state = step(state, event).state
    assert [one.awaits_answer for one in state.queue] == [False, True]
    event = DeclineMessage(0, 1, "ASYNC_EXCEPTION")
    done = step(state, event)
    assert [effect for effect in done.effects if type(effect) is Rejected] == [
        Rejected(CHECKPOINT, "NOT_ALL_REQUIRED_TASKS_RUNNING")
    ]
    assert checkpoint_start.coord_13_leaves(state, event, done.effects, done.state)


@pytest.mark.parametrize("profile", ["1.20", "2.3"])
def test_a_listener_that_awaits_a_replaced_execution_ends_no_checkpoint(profile):
    """Released coordinators of 1.20.5, 2.0.2 and 2.2.1 abort the checkpoint; that of 2.3.0 does not."""
    plan = Plan(
        (True,),
        timeout=100,
        max_concurrent=1,
        interval=10,
        initial_delay=10,
        profile=COORDINATOR_PROFILES[profile],
    )
    state, step = new_coordinator(plan, retain=1), step_of("coordinator")
    events = (
        JobStatus(RUNNING),
        RestoreRequest((True,)),
        TaskStatus(0, RUNNING),
        TriggerRequest(CHECKPOINT),
        TriggerRequest(CHECKPOINT),
        JobStatus("CANCELLING"),
    )
    for event in events:
        before, (state, effects, _) = state, step(state, event)
        assert broken(before, event, effects, state) == set()
    assert ([one.checkpoint for one in before.pending], len(before.queue)) == ([1], 1)
    assert len(state.pending) == len(state.queue) == (profile == "2.3")
    assert "COORD-12" in broken(before, event, (), before._replace(status="CANCELLING", pending=()))


def broken(before, event, effects, after):
    """The rules of the coordinator that a step breaks."""
    step = (before, event, effects, after)
    return {
        one.rule
        for one in of_component("coordinator")
        if not (one.holds(*step) if one.over_steps else one.holds(after))
    }
