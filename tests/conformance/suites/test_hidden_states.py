"""Machines with hidden states, made at random: a suite refuses all of them, tours and walks do not."""

from random import Random

import pytest

from conformance.drive.plan import Plan
from conformance.suites.h_method import suite
from conformance.suites.hidden_states import refuses_suite, survivors, with_hidden_states
from conformance.suites.machine import difference, minimal
from conformance.suites.play import machine_of
from conformance.suites.registry import alphabets, configurations, left_out
from spec.vocabulary import vocabulary

CONFIGS = [
    {"channels": 2, "mode": "exactly-once", "level": level, "checkpoints_after_tasks_finish": ends}
    for level in ("handler",)
    for ends in (True, False)
]
MACHINES = 50


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: "-".join(map(str, config.values())))
def test_no_machine_with_one_hidden_state_passes(config):
    alphabet = next(iter(alphabets("gate", config, injects=False)))
    measured = survivors(machine_of(alphabet), 1, MACHINES, seed=1)
    assert measured.suite == 0
    assert measured.tours > MACHINES / 2
    assert measured.walks > 0


@pytest.mark.parametrize("component", ["store", "source", "offsets"])
def test_no_such_machine_of_another_component_passes(component):
    config = configurations(component, Plan(0, 1))[0]
    machine = machine_of(next(iter(alphabets(component, config, injects=False))))
    chosen, rng = suite(machine, 1), Random(5)
    assert all(refuses_suite(chosen, with_hidden_states(machine, 1, rng)) for _ in range(MACHINES))


def test_every_configuration_has_an_alphabet_or_the_verdict_names_it():
    for component in vocabulary():
        without = [
            config
            for config in configurations(component, Plan(0, 1))
            if not any(True for _ in alphabets(component, config, injects=True))
        ]
        assert without == [], component
    assert left_out("coordinator")


def test_no_such_machine_of_flink_1_11_passes():
    config = {**CONFIGS[1], "mode": "alternating", "profile": "flink-1.11", "alignment_timeout_ms": 0}
    (alphabet,) = alphabets("gate", config, injects=False)
    assert survivors(machine_of(alphabet), 1, MACHINES, seed=6).suite == 0


def test_no_machine_with_two_hidden_states_passes_a_suite_for_two():
    (alphabet,) = alphabets("gate", CONFIGS[0], injects=False)
    assert survivors(machine_of(alphabet), 2, MACHINES, seed=2).suite == 0


def test_a_suite_for_fewer_states_lets_some_machines_pass():
    (alphabet,) = alphabets("gate", CONFIGS[0], injects=False)
    machine = machine_of(alphabet)
    too_small, rng = suite(machine, 0), Random(3)
    wrong = [with_hidden_states(machine, 1, rng) for _ in range(MACHINES)]
    assert not all(refuses_suite(too_small, other) for other in wrong)


def test_a_wrong_machine_has_at_most_the_hidden_states_more_and_differs():
    (alphabet,) = alphabets("gate", CONFIGS[0], injects=False)
    machine, rng = machine_of(alphabet), Random(4)
    for hidden in (1, 2, 3):
        wrong = with_hidden_states(machine, hidden, rng)
        assert machine.size - 3 <= minimal(wrong).size <= machine.size + hidden
        assert difference(machine, wrong) is not None
