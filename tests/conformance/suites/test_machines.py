"""Finite machines: their minimal form, separating words, and the machine of the model over an alphabet."""

from random import Random

import pytest

from conformance.drive.oracle import Oracle
from conformance.suites.alphabet import START, Frame, relative
from conformance.suites.h_method import base_size, suite
from conformance.suites.machine import END, Machine, Transition, access_words, difference, minimal
from conformance.suites.model_machine import TooLargeError, answer_of, explored, model_machine
from conformance.suites.registry import alphabets
from conformance.suites.separation import Separation

TOGGLE = Machine(
    ("press", "look"),
    (
        (Transition("-", 1), Transition("off", 0)),
        (Transition("-", 2), Transition("on", 1)),
        (Transition("-", 1), Transition("off", 2)),  # equivalent to the first state
    ),
)
CONFIG = {"channels": 2, "mode": "exactly-once", "level": "handler", "checkpoints_after_tasks_finish": True}


def alphabet_of(config):
    return next(iter(alphabets("gate", config, injects=False)))


def test_equivalent_states_are_one_state():
    assert minimal(TOGGLE).size == 2
    assert difference(TOGGLE, minimal(TOGGLE)) is None


def test_the_shortest_difference_is_found():
    broken = TOGGLE._replace(rows=(*TOGGLE.rows[:2], (Transition("-", 1), Transition("on", 2))))
    assert difference(TOGGLE, broken) == (0, 0, 1)


def test_every_state_has_a_shortest_access_word_and_its_prefixes():
    words = access_words(model_machine(alphabet_of(CONFIG)))
    assert all(word[:-1] in words for word in words if word)


def test_every_pair_of_states_of_a_minimal_gate_is_separated():
    machine = model_machine(alphabet_of(CONFIG))
    separation = Separation(machine)
    for s in range(machine.size):
        for t in range(s):
            word = separation.word(s, t)
            assert word is not None
            assert machine.run(word, s) != machine.run(word, t)


def test_a_suite_has_every_access_word_followed_by_every_two_letters():
    machine = model_machine(alphabet_of(CONFIG))
    words = set(suite(machine, 1).words())
    prefixes = {word[:length] for word in words for length in range(len(word) + 1)}
    for access in access_words(machine):
        for first, step in machine.defined(machine.after(access)):
            assert (*access, first) in prefixes
            for second, _ in machine.defined(step.target) if step.target != END else ():
                assert (*access, first, second) in prefixes
    assert len(words) <= base_size(machine, 1)


def test_a_sequence_that_is_the_beginning_of_another_is_not_played():
    words = list(suite(model_machine(alphabet_of(CONFIG)), 1).words())
    beginnings = {word[:length] for word in words for length in range(len(word))}
    assert not beginnings.intersection(words)


@pytest.mark.parametrize("level", ["handler", "polled"])
def test_the_machine_answers_as_the_model_does_wherever_its_ids_are(level):
    alphabet = alphabet_of({**CONFIG, "level": level})
    machine, oracle = explored(alphabet), Oracle("gate", alphabet.config)
    for seed in range(200):
        rng, node, state = Random(seed), alphabet.start(oracle), 0
        while state != END:
            letter, step = rng.choice(list(machine.defined(state)))
            taken = alphabet.take(oracle, node, letter)
            assert answer_of(taken.edge) == step.output
            node, state = taken.edge.after, step.target
            if rng.random() < 0.02:
                break


def test_ids_are_relative_to_the_newest_one():
    low, high = ((START + 3, True, 2), (START + 1, 5)), ((START + 13, True, 2), (START + 11, 5))
    assert relative(low, Frame(START + 3)) == relative(high, Frame(START + 13))
    assert relative(low, Frame(START + 3)) != relative(high, Frame(START + 12))


def test_an_alphabet_without_a_bound_has_no_machine():
    unbounded = alphabet_of({**CONFIG, "level": "polled"})._replace(allows=lambda state, event: True)
    with pytest.raises(TooLargeError, match="bound the letters more tightly"):
        model_machine(unbounded, states_at_most=500)
