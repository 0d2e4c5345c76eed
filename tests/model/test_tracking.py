"""The gate of mode at-least-once: its proofs contain every rule, and its closed models fire every rule."""

import pytest

from model.checker.explore import explore
from model.checker.prove import prove
from model.components import COMPONENTS, WireError
from model.gate.environment.tracking import closed_tracker_models
from model.gate.events import Trigger
from model.gate.profiles import PROFILES
from model.gate.proofs.tracking import tracker_cases
from model.gate.tracking import Tracker, TrackingSteps, describe, new_tracker
from model.properties import PROPERTIES, of_component
from model.registry import Property

RULES = {known.rule for known in of_component("tracker")}


@pytest.mark.parametrize("profile", ["flink-1.7", "flink-1.13", "flink-1.14"])
def test_every_rule_holds_for_every_id_with_two_checkpoints_under_way(profile):
    report = prove(
        tracker_cases(2, 2, 2, counts_as_aligned=profile == "flink-1.14", profile=PROFILES[profile]),
        PROPERTIES,
    )

    assert report.refutations == ()
    assert report.proved == RULES


def test_a_false_property_is_refuted():
    def never_two_triggers(before: Tracker, event: object, effects: tuple, after: Tracker) -> bool:
        """False: with one open channel each barrier triggers, and nothing is remembered (TRACK-17)."""
        triggered = [effect.checkpoint for effect in effects if type(effect) is Trigger]
        return all(after.latest >= checkpoint for checkpoint in triggered)

    false = Property("TRACK-17", "tracker", True, never_two_triggers)
    report = prove(tracker_cases(2, 0, 2), (*of_component("tracker"), false))

    refuted = [found for found in report.refutations if found.property == "never_two_triggers"]
    assert refuted
    assert all(sum(not ended for ended in found.state.closed) == 1 for found in refuted)


def test_the_closed_models_fire_every_rule():
    fired = frozenset[str]().union(*(explore(closed).rules for closed in closed_tracker_models()))

    assert fired == RULES == {f"TRACK-{number:02}" for number in range(1, 19)}


def test_only_closed_models_with_the_real_bound_are_toured():
    assert {closed.state.tracked_at_most for closed in closed_tracker_models() if closed.toured} == {50}
    assert any(not closed.toured for closed in closed_tracker_models())


def test_a_tracker_describes_itself_in_one_line():
    steps = TrackingSteps()
    tracker = steps.on_barrier(new_tracker(3, True), 0, 4).state
    tracker = steps.on_end_of_partition(steps.on_cancel(tracker, 1, 5).state, 2).state

    assert describe(tracker) == "latest=5, 5: 2 of 3 aborted, closed 2"


def test_a_tracker_that_counts_knows_no_checkpoints_after_tasks_finish():
    config = {
        "channels": 2,
        "mode": "at-least-once",
        "profile": "flink-1.13",
        "checkpoints_after_tasks_finish": True,
    }
    with pytest.raises(WireError, match="does not have it"):
        COMPONENTS["gate"].new(config)
