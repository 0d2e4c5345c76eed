"""Proofs of how a coordinator's checkpoints begin and end, each of which can fail.

In the second half a test breaks one function of the model. The cases that prove its rule must then refute
it.
"""

import pytest

from model.checker.induction import gaps_of
from model.checker.prove import Case, prove
from model.checker.symbolic import int_term
from model.coordinator import completion, coordinator, failures, recovery, scheduler, shared_state, trigger
from model.coordinator.completion import CompletionSteps
from model.coordinator.events import EVENTS, JobEnd, RestoreRequest, TriggerRequest
from model.coordinator.failures import FailureSteps
from model.coordinator.generations import CompletesFirst, NeverQueues
from model.coordinator.pending import Pending
from model.coordinator.proofs import closed
from model.coordinator.proofs.claim_modes import claim_cases
from model.coordinator.proofs.coordinator import all_coordinator_cases, completion_cases, request_cases
from model.coordinator.proofs.failures_and_ends import (
    failure_cases,
    io_failure_cases,
    job_end_cases,
    older_cases,
    restart_cases,
    store_failure_cases,
)
from model.coordinator.proofs.shared_state import file_cases
from model.coordinator.proofs.trigger import finished_cases, master_cases, scheduler_cases
from model.coordinator.state import CLAIM, LEGACY, NO_CLAIM
from model.coordinator.trigger import TriggerSteps
from model.events import (
    BEFORE,
    JOB_FAILOVER_REGION,
    MAYBE,
    Advance,
    Effects,
    NotifyAbort,
    NotifyComplete,
    Step,
)
from model.proofs import start_cases
from model.properties import PROPERTIES, of_component
from model.sizes import SIZES
from model.store.store import StoreSteps

PROVED = {
    "failures that count": (lambda: failure_cases("2.3", 1, 1, 1), {"COORD-15", "COORD-16", "COORD-17"}),
    "failures below the limit": (lambda: failure_cases("2.3", 2, 1, 1), {"COORD-16"}),
    "failures of 1.11": (lambda: failure_cases("1.11", 1, 1, 1), {"COORD-18"}),
    "aborts of 1.9": (lambda: older_cases("1.9", 1, 1), {"COORD-19"}),
    "savepoints of 1.14": (lambda: older_cases("1.14", 1, 1), {"SUB-11"}),
    "a store that fails": (lambda: store_failure_cases("2.3", MAYBE, 1, 1), {"COORD-20", "COORD-21"}),
    "a store of 1.15 that fails": (
        lambda: store_failure_cases("1.15", MAYBE, 1, 1),
        {"COORD-20", "COORD-21"},
    ),
    "input and output that fail": (
        lambda: io_failure_cases("2.3", 1),
        {"COORD-34", "COORD-35", "COORD-36"},
    ),
    "an unclaimed savepoint": (lambda: claim_cases("2.3", NO_CLAIM, 0, 0, 1), {"COORD-37", "COORD-38"}),
    "a claimed savepoint": (lambda: claim_cases("2.3", CLAIM, 1, 0, 1), {"COORD-37", "SUB-13"}),
    "a savepoint of 1.14": (lambda: claim_cases("1.14", LEGACY, 1, 0, 1), {"COORD-37", "SUB-13"}),
    "input and output of 1.14.3 that fail": (lambda: io_failure_cases("1.14.3", 1), {"COORD-35"}),
    "a new coordinator": (lambda: restart_cases("2.3", 1, 1, is_open=True), {"COORD-22"}),
    "the end of the job": (lambda: job_end_cases("2.3", 1, 0, 1), {"COORD-25"}),
    "masters": (lambda: master_cases("2.3", 2, 1, 1, 0, "begun"), {"COORD-23", "COORD-31"}),
    "triggers that are lost": (lambda: master_cases("2.3", 1, 1, 1, 0, "over"), {"COORD-24"}),
    "an aborted phase": (lambda: master_cases("1.15", 2, 1, 1, 0, "outlived"), {"COORD-30"}),
    "the scheduler": (lambda: scheduler_cases("2.3", 1, runs=True), {"COORD-26"}),
    "finished tasks": (lambda: finished_cases("2.3", (False, True), (True, False)), {"COORD-27"}),
    "stops that fail": (lambda: failure_cases("1.14", 0, 0, 1), {"COORD-28"}),
    "shared files": (lambda: file_cases("2.3", 1, (1,), (2,)), {"SUB-12"}),
    "three tasks and one retained": (
        lambda: completion_cases(3, 1, 1, 1),
        {"SUB-06", "SUB-07", "SUB-08", "SUB-09"},
    ),
    "a restore": (lambda: few(RestoreRequest), {"ONCE-04"}),
    "an older one is pending": (lambda: completion_cases(1, 2, 1, 1), {"SUB-02", "SUB-03"}),
    "nobody before it": (lambda: request_cases(0, 0), {"COORD-14"}),
    "one that waits": (lambda: request_cases(1, 1), {"COORD-14"}),
    "three that wait": (lambda: request_cases(3, 1), {"COORD-13", "COORD-14", "COORD-29"}),
}


@pytest.mark.parametrize("subject", PROVED)
def test_its_rules_hold_for_every_id(subject):
    cases, rules = PROVED[subject]
    report = prove(cases(), PROPERTIES)

    assert report.refutations == ()
    assert rules <= report.proved
    assert rules & {rule for _, rule, _ in report.mattered}


FEW = closed.Closed(closed.any_plan("2.3"), closed.Numbers(1, 0, 0, 0, 0))
"""One pending checkpoint at most, and nothing waits or is stored."""


def few(*events: type) -> list[Case]:
    """The cases with small numbers for these classes of events; all cases if no class is named."""
    return [case for case in FEW.cases() if not events or type(case.event) in events]


@pytest.fixture(scope="module")
def proved_few():
    cases = few()
    return prove(
        [*start_cases(cases), *cases], of_component("coordinator"), within={"coordinator": FEW.holds}
    )


def gaps(cases, report) -> list[str]:
    size = SIZES["coordinator"]._replace(includes=FEW.holds)
    return [*gaps_of(cases, report.starts, report.afters, size, {type(case.event) for case in few()})]


def test_a_coordinator_is_closed_under_every_event(proved_few):
    assert {type(case.event) for case in few()} == {*EVENTS, Advance}
    assert proved_few.refutations == ()
    assert gaps(few(), proved_few) == []


def test_an_event_without_a_case_is_a_gap(proved_few):
    cases = [case for case in few() if not (type(case.event) is JobEnd and case.state.pending)]
    (gap,) = gaps(cases, proved_few)
    assert gap.startswith("no case has JobEnd(status=?event.status")


def test_a_shape_without_cases_is_a_gap(proved_few):
    starts = frozenset(start for start in proved_few.starts if "Pending" not in start[1][0])
    assert gaps(few(), proved_few._replace(starts=starts))[0].startswith("a step ends in a shape without")


def test_a_case_that_assumes_a_fact_of_its_state_is_a_gap(proved_few):
    case, *others = few()
    fact = int_term(case.state.plan.timeout) >= 1
    (gap,) = gaps([case._replace(assumptions=(fact,)), *others], proved_few)
    assert gap.startswith("a case assumes a fact of the state, plan.timeout >= 1")


def test_the_published_cases_are_closed_or_larger():
    (published,) = closed.closed_coordinators()
    assert all(map(closed.is_within, published.shapes()))
    assert not any(map(closed.is_within, (case.state for case in closed.outside(all_coordinator_cases()))))


def test_without_an_invariant_a_rule_is_refuted():
    """A pending checkpoint could have the id that the next one draws."""
    weaker = [found for found in of_component("coordinator") if found.name != "coord_02_ids"]
    report = prove(few(TriggerRequest), tuple(weaker))
    assert "COORD-04" in {found.rule for found in report.refutations}


def everybody(*_: object) -> tuple[bool, ...]:
    return (True, True)


def aborted(_steps: object, _coordinator: object, ended: Pending) -> Effects:
    return (NotifyAbort(ended.checkpoint, 0),)


def nothing(_steps: object, unchanged: object, *_: object) -> Step[object]:
    return Step(unchanged, (), ())


def completed(_steps: object, _coordinator: object, ended: Pending) -> Effects:
    return (NotifyComplete(ended.checkpoint, 0),)


def keeps_pending(steps, coordinator, pending, reason, *, by_task=False):
    """A restore that aborts no checkpoint."""
    if reason == JOB_FAILOVER_REGION:
        return Step(coordinator, (), ())
    return ABORT(steps, coordinator, pending, reason, by_task=by_task)


ABORT = CompletionSteps.abort


BROKEN = {
    "COORD-14, a turn": (trigger, "is_too_early", lambda *_: False, "nobody before it"),
    "COORD-14, a completion": (trigger, "is_too_early", lambda *_: False, "one that waits"),
    "COORD-15": (failures, "is_counted_or_older", lambda *_: True, "failures that count"),
    "COORD-16": (failures, "is_counted_or_older", lambda *_: False, "failures below the limit"),
    "COORD-17": (FailureSteps, "on_success", lambda _, counted, *__: counted, "failures that count"),
    "COORD-19": (NeverQueues, "notify_abort", aborted, "aborts of 1.9"),
    "COORD-20": (CompletionSteps, "notify_abort", completed, "a store that fails"),
    "COORD-20, in 1.15": (
        CompletesFirst,
        "abort_unstored",
        CompletionSteps.abort_unstored,
        "a store of 1.15 that fails",
    ),
    "COORD-21": (completion, "MAYBE", BEFORE, "a store that fails"),
    "COORD-22": (recovery, "ascending", lambda entries: entries, "a new coordinator"),
    "COORD-23": (TriggerSteps, "continue_start", nothing, "masters"),
    "COORD-24": (scheduler, "to_trigger", lambda *_: (), "triggers that are lost"),
    "COORD-25": (recovery, "deletes", lambda *_: True, "the end of the job"),
    "COORD-26": (scheduler, "NONE", 1, "the scheduler"),
    "COORD-27": (TriggerSteps, "taking_part", everybody, "finished tasks"),
    "COORD-28": (failures, "STOP", -1, "stops that fail"),
    "COORD-34": (CompletionSteps, "fail_to_write", nothing, "input and output that fail"),
    "COORD-35": (trigger, "IO_EXCEPTION", "ASYNC_EXCEPTION", "input and output that fail"),
    "COORD-35, in 1.14.3": (TriggerSteps, "refuse_for_io", nothing, "input and output of 1.14.3 that fail"),
    "COORD-37": (recovery, "latest", lambda _: 0, "a savepoint of 1.14"),
    "COORD-38": (trigger, "triggers_full", lambda _: False, "an unclaimed savepoint"),
    "SUB-13": (recovery, "deletes", lambda *_: False, "a claimed savepoint"),
    "COORD-36": (TriggerSteps, "refuse_for_io", nothing, "input and output that fail"),
    "ONCE-04": (CompletionSteps, "abort", keeps_pending, "a restore"),
    "SUB-02": (CompletionSteps, "subsume_older", nothing, "an older one is pending"),
    "SUB-07": (StoreSteps, "may_drop", lambda *_: False, "three tasks and one retained"),
    "SUB-11": (completion, "notify_complete", lambda *_: (), "savepoints of 1.14"),
    "SUB-12, used": (coordinator, "register", lambda shared, *_: shared, "shared files"),
    "SUB-12, idle": (shared_state, "forget_older", lambda shared, *_: (shared, ()), "shared files"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_model_is_refuted(what, monkeypatch):
    place, name, wrong, subject = BROKEN[what]
    monkeypatch.setattr(place, name, wrong)
    report = prove(PROVED[subject][0](), PROPERTIES)

    assert what.partition(",")[0] in {found.rule for found in report.refutations}
