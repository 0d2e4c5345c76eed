"""The proposed coordinator (FLIP-600): its properties hold, and each fails without its mechanism."""

import pytest
from click.testing import CliRunner

from conformance.adapters.in_process import offer_of, proposed_of
from conformance.explore import proposed_coordinator
from model.checker.explore import explore
from model.coordinator.coordinator import CoordinatorSteps
from model.coordinator.environment.subject_models import (
    closed_coordinator_models,
    closed_drift,
    closed_regions,
)
from model.coordinator.events import Complete
from model.coordinator.profiles import COORDINATOR_PROFILES, PROPOSED_COORDINATORS
from model.coordinator.proposed.properties import HOPED, PROPOSED
from model.coordinator.proposed.regional import FallsBack
from model.events import NotifyComplete
from model.properties import of_component

NAME = "proposed-FLIP-600"


def violated(closed=None):
    graph = explore(closed or closed_regions(NAME), tuple(PROPOSED.properties), keep_transitions=False)
    return graph.violation.properties if graph.violation else ()


def test_no_default_and_no_offer_has_a_proposed_generation():
    assert proposed_of("coordinator") == tuple(PROPOSED_COORDINATORS) == (NAME,)
    assert NAME not in offer_of("coordinator").profiles
    assert NAME not in COORDINATOR_PROFILES
    assert repr(PROPOSED_COORDINATORS[NAME]) == "proposed-FLIP-600, no released jar"
    assert not any(one.state.plan.profile.proposed for one in closed_coordinator_models())


def test_the_released_coordinator_keeps_every_rule_in_the_same_closed_model():
    assert (
        explore(closed_regions("2.3"), of_component("coordinator"), keep_transitions=False).violation is None
    )


def test_the_properties_of_the_proposal_hold():
    assert violated() == ()
    assert violated(closed_drift(NAME)) == ()


def notifies_all(self, coordinator, pending, failed):
    step = fall_back(self, coordinator, pending, failed)
    wrong = tuple(NotifyComplete(pending.checkpoint, task) for task, fails in enumerate(failed) if fails)
    return step._replace(effects=(*step.effects, *wrong))


def refers_to_the_start(self, coordinator, pending, failed):
    step = fall_back(self, coordinator, pending, failed)
    known = tuple((checkpoint, (0,) * len(failed)) for checkpoint, _ in step.state.regional.references)
    return step._replace(state=step.state._replace(regional=step.state.regional._replace(references=known)))


def forgets_what_it_holds(self, coordinator, done):
    step = add_to_store(self, coordinator, done)
    return step._replace(state=step.state._replace(regional=step.state.regional._replace(held=())))


def completes_at_a_decline(self, coordinator, task, checkpoint, reason):
    step = on_decline(self, coordinator, task, checkpoint, reason)
    return step if step.effects else step._replace(effects=(Complete(checkpoint),))


def always(self, coordinator, pending):
    return pending.type == 0 and coordinator.store.entries != ()


fall_back, add_to_store, on_decline = FallsBack.fall_back, FallsBack.add_to_store, FallsBack.on_decline


@pytest.mark.parametrize(
    ("method", "instead", "found"),
    [
        ("on_decline", completes_at_a_decline, "a_decline_is_kept"),
        ("fall_back", notifies_all, "who_fell_back_is_not_notified"),
        ("fall_back", refers_to_the_start, "completes_with_snapshots_of_all"),
        ("lasting", CoordinatorSteps.lasting, "referenced_checkpoints_stay"),
        ("add_to_store", CoordinatorSteps.add_to_store, "referenced_checkpoints_stay"),
        ("add_to_store", forgets_what_it_holds, "dropped_checkpoints_go"),
        ("may_fall_back", always, "the_count_is_bounded"),
    ],
)
def test_each_property_fails_without_its_mechanism(monkeypatch, method, instead, found):
    monkeypatch.setattr(FallsBack, method, instead)

    assert found in violated(closed_drift(NAME) if found == "the_count_is_bounded" else None)


def test_the_limit_in_a_row_does_not_bound_the_age_of_a_snapshot():
    (found,) = proposed_coordinator.violations(closed_drift(NAME), tuple(HOPED.properties))

    assert found.properties == ("snapshots_are_young",)
    assert proposed_coordinator.failure(closed_drift(NAME), found.run) == "the job does not fail"
    assert proposed_coordinator.failure(closed_drift("2.3"), found.run) == "the job fails at step 11"


def test_the_rules_that_have_to_change_are_listed():
    printed = CliRunner().invoke(proposed_coordinator.main, []).output

    assert printed.startswith("proposed-FLIP-600: proposed, no released jar\n")
    assert "has to change: COORD-15, COORD-09\n" in printed
    assert "expected of the proposal, but violated: REGION-07" in printed
    assert "hold of the proposal: REGION-01, REGION-02, REGION-03, REGION-04, REGION-05, REGION-06" in printed
