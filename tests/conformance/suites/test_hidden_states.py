"""A complete suite refuses every random machine with hidden states. Tours and walks do not."""

from random import Random

import pytest
from click.testing import CliRunner

from conformance.drive.plan import Plan
from conformance.suites import detection_rate
from conformance.suites.h_method import suite
from conformance.suites.hidden_states import Words, measured, random_words, with_hidden_states
from conformance.suites.machine import access_words, difference, minimal
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
    found = measured(machine_of(alphabet), 1, MACHINES, seed=1)
    assert (found.anywhere.suite, found.deepest.suite) == (0, 0)
    assert min(found.anywhere.tours, found.deepest.tours) > MACHINES / 2
    assert found.anywhere.walks > 0


@pytest.mark.parametrize("component", ["store", "source", "offsets"])
def test_no_machine_of_another_component_with_one_hidden_state_passes(component):
    config = configurations(component, Plan(0, 1))[0]
    machine = machine_of(next(iter(alphabets(component, config, injects=False))))
    chosen, rng = Words(machine, list(suite(machine, 1).words())), Random(5)
    assert all(chosen.refuse(with_hidden_states(machine, 1, rng)) for _ in range(MACHINES))


def passing_suite(machine, extra, seed):
    return [kind.suite for kind in measured(machine, extra, MACHINES, seed)[3:]]


def test_every_configuration_has_an_alphabet_or_is_named_as_left_out():
    for component in vocabulary():
        without = [
            config
            for config in configurations(component, Plan(0, 1))
            if not any(True for _ in alphabets(component, config, injects=True))
        ]
        assert without == [], component
    assert left_out("coordinator")


def test_no_machine_of_flink_1_11_with_one_hidden_state_passes():
    config = {**CONFIGS[1], "mode": "alternating", "profile": "flink-1.11", "alignment_timeout_ms": 0}
    (alphabet,) = alphabets("gate", config, injects=False)
    assert passing_suite(machine_of(alphabet), 1, 6) == [0, 0]


def test_no_machine_with_two_hidden_states_passes_a_suite_for_two():
    (alphabet,) = alphabets("gate", CONFIGS[0], injects=False)
    assert passing_suite(machine_of(alphabet), 2, 2) == [0, 0]


@pytest.mark.parametrize("hidden", [1, 2])
@pytest.mark.parametrize("deepest", [False, True])
def test_a_suite_for_fewer_states_lets_some_machines_pass(hidden, deepest):
    (alphabet,) = alphabets("gate", CONFIGS[0], injects=False)
    machine = machine_of(alphabet)
    too_small, rng = Words(machine, list(suite(machine, hidden - 1).words())), Random(3)
    wrong = [with_hidden_states(machine, hidden, rng, deepest=deepest) for _ in range(MACHINES)]
    assert not all(map(too_small.refuse, wrong))


def test_words_refuse_a_machine_that_answers_one_of_them_differently():
    (alphabet,) = alphabets("gate", CONFIGS[0], injects=False)
    machine, rng = machine_of(alphabet), Random(7)
    words = random_words(machine, 600, rng)
    wrong = [with_hidden_states(machine, 2, rng) for _ in range(MACHINES)]
    differing = [any(machine.run(word) != other.run(word) for word in words) for other in wrong]
    assert list(map(Words(machine, words).refuse, wrong)) == differing
    assert {True, False} == set(differing)


def test_the_hidden_state_of_a_deepest_machine_is_entered_furthest_from_the_start():
    (alphabet,) = alphabets("gate", CONFIGS[0], injects=False)
    machine, rng = machine_of(alphabet), Random(8)
    depths = [len(word) for word in access_words(machine)]
    for _ in range(MACHINES):
        wrong = with_hidden_states(machine, 1, rng, deepest=True)
        changed = [state for state in range(machine.size) if wrong.rows[state] != machine.rows[state]]
        assert [depths[state] for state in changed] == [max(depths)]


def test_a_measurement_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(detection_rate, "RESULTS", tmp_path / "results.jsonl")
    command = ["--component", "source", "--machines", "3"]
    first = CliRunner().invoke(detection_rate.main, command)
    monkeypatch.delattr(detection_rate, "measured")  # a second measurement would fail
    again = CliRunner().invoke(detection_rate.main, [*command, "--resume"])
    assert (first.exit_code, again.output) == (0, first.output)


def test_a_wrong_machine_has_at_most_the_hidden_states_more_and_differs():
    (alphabet,) = alphabets("gate", CONFIGS[0], injects=False)
    machine, rng = machine_of(alphabet), Random(4)
    for hidden in (1, 2, 3):
        wrong = with_hidden_states(machine, hidden, rng)
        assert machine.size - 3 <= minimal(wrong).size <= machine.size + hidden
        assert difference(machine, wrong) is not None
