"""Claims that two generations behave alike are proved; a state and an event refute a false claim."""

import pickle
import re
from itertools import pairwise

import pytest

from model.checker.equivalence import alike
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.gate.events import Abort, Barrier, Cancel, Trigger
from model.gate.profiles import NEWEST, PROFILES
from model.generations import CLAIMS, Claim, comparable, contrasts, outcomes
from model.sink.two_phase_commit import SINK_PROFILES
from model.source.source_task import SOURCE_PROFILES
from model.subtask.profiles import TASK_PROFILES
from spec.modules import module_text


@pytest.mark.parametrize("claim", CLAIMS, ids=Claim.describe)
def test_the_claim_is_proved(claim):
    proved = claim.prove()

    assert proved.difference is None
    assert proved.paths > 50


def test_a_repeated_barrier_distinguishes_1_13_from_1_14():
    refuted = Claim("flink-1.13", "flink-1.14", ends=True, repeats=True, exact=False).prove().difference

    assert type(refuted.run[-1]) is Barrier
    assert refuted.state.blocked[refuted.run[-1].channel]
    assert [type(effect) for effect in outcomes(refuted.left)] == [Trigger]
    assert not outcomes(refuted.right)


def test_the_order_of_calls_distinguishes_1_12_from_1_13():
    refuted = Claim("flink-1.12", "flink-1.13", ends=True, repeats=False, exact=True).prove().difference

    assert sorted(refuted.left) == sorted(refuted.right)
    assert refuted.left != refuted.right


def test_a_generation_is_alike_to_itself():
    claim = Claim(NEWEST.name, NEWEST.name, ends=True, repeats=True, exact=True)

    assert alike(claim._pairs(), lambda effects: effects, comparable).difference is None


def test_a_search_finds_the_shortest_run_or_none():
    found = {
        (one.mode, one.left.name, one.right.name): one.difference
        for one in contrasts()
        if one.seen == "outcomes"
    }

    first = found["exactly-once", "flink-1.7", "flink-1.9"]
    assert first.run == (Barrier(0, 1), Cancel(0, 2))
    assert outcomes(first.left)[0] == Abort(2, "SUBSUMED")
    assert found["exactly-once", "flink-1.9", "flink-1.11"] is None
    assert found["at-least-once", "flink-1.9", "flink-1.11"] is None


def test_every_profile_differs_from_its_neighbour_in_a_switch():
    switches = [
        {name: value for name, value in vars(profile).items() if name not in ("name", "releases")}
        for profile in PROFILES.values()
    ]

    assert all(older != newer for older, newer in pairwise(switches))


def test_the_switches_of_the_model_are_those_of_the_specification():
    text = module_text("GateGenerations")
    sets = dict(re.findall(r"^Flink_(\w+)\s*==\s*\{([^}]*)\}$", text, flags=re.MULTILINE))
    named = {name for found in sets.values() for name in re.findall(r'"(\w+)"', found)}

    assert {f"flink-{name.replace('_', '.')}" for name in sets} == set(PROFILES)
    for name, found in sets.items():
        profile = PROFILES[f"flink-{name.replace('_', '.')}"]
        assert set(re.findall(r'"(\w+)"', found)) == {one for one in named if getattr(profile, one)}


@pytest.mark.parametrize(
    "profiles", [PROFILES, COORDINATOR_PROFILES, TASK_PROFILES, SINK_PROFILES, SOURCE_PROFILES]
)
def test_there_is_one_object_of_each_generation(profiles):
    """It stays the same object when a state is sent to another process."""
    for known in profiles.values():
        assert pickle.loads(pickle.dumps(known)) is known
