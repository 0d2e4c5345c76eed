"""An answer to messages that arrive at once passes only if the model gives it in some order of them."""

from contextlib import nullcontext
from itertools import permutations
from random import Random
from threading import Lock

import pytest

from conformance.adapters.in_process import ModelAdapter
from conformance.adapters.protocol import Applied, Offer, canonical
from conformance.adapters.python_object import PythonObject
from conformance.concurrent.examine import examine_concurrent
from conformance.concurrent.histories import MESSAGES, drawn, explained
from conformance.drive.lockstep import agrees
from conformance.drive.oracle import Oracle
from conformance.generators import generate
from model.components import COMPONENTS

OFFER = Offer((), (), ("concurrent",))


class InAnyOrder(ModelAdapter):
    """Right: takes the events one after the other, in a random order."""

    def __init__(self, seed=0):
        super().__init__(COMPONENTS)
        self.random = Random(seed)

    def apply_at_once(self, events):
        order = self.random.sample(range(len(events)), len(events))
        answers = {place: self.apply([events[place]]) for place in order}
        return Applied([answers[place].effects[0] for place in range(len(events))], self._instance.observe())


class LosesUpdates(InAnyOrder):
    """Defect: each event starts from the same state, and only the update of the last one stays."""

    def apply_at_once(self, events):
        before, effects = self._instance._state, []
        for event in events:
            self._instance._state = before
            effects += self.apply([event]).effects
        return Applied(effects, self._instance.observe())


class MixesEffects(InAnyOrder):
    """Defect: answers the effects of one event as those of another."""

    def apply_at_once(self, events):
        answer = super().apply_at_once(events)
        return answer._replace(effects=answer.effects[::-1])


@pytest.mark.parametrize("component", MESSAGES)
def test_every_order_is_explained(component):
    found = examine_concurrent(component, InAnyOrder(), OFFER, 8, 1, lambda: True)

    assert (found.wrong, found.undetermined, found.histories) == ("", "", 8)
    assert found.groups > 20


@pytest.mark.parametrize("component", MESSAGES)
@pytest.mark.parametrize("broken", [LosesUpdates, MixesEffects])
def test_an_answer_that_no_order_explains_is_refused_with_a_short_history(component, broken):
    found = examine_concurrent(component, broken(), OFFER, 60, 1, lambda: True)

    lines = found.wrong.splitlines()
    assert lines[0].endswith("no order of the model explains the last answer (seen in 20 of 20 repetitions)")
    assert lines[-2].partition(". ")[2].startswith("at once: ")
    assert len(lines) < 10


def test_a_component_without_the_capability_gets_no_events_at_once():
    assert examine_concurrent("coordinator", InAnyOrder(), Offer((), (), ()), 5, 0, lambda: True) is None
    assert examine_concurrent("gate", InAnyOrder(), OFFER, 5, 0, lambda: True) is None


def in_order(oracle, node, step, order):
    """The effects of each event, and the state after all, if the model takes the events in this order."""
    effects = {}
    for place in order:
        edge = oracle.step(node, step[place])
        effects[place], node = edge.effects, edge.after
    return [effects[place] for place in range(len(step))], node


@pytest.mark.parametrize("component", MESSAGES)
def test_the_search_explains_an_answer_if_an_enumeration_of_all_orders_does(component):
    random, right, wrong = Random(2), 0, 0
    for config in generate.configs(component)[:4]:
        oracle = Oracle(component, config)
        node = oracle.start
        for step in drawn(oracle, random):
            orders = list(permutations(range(len(step))))
            effects, end = in_order(oracle, node, step, random.choice(orders))
            if random.random() < 0.5:
                end = in_order(oracle, node, step[:-1], range(len(step) - 1))[1]
            if random.random() < 0.3:
                effects = effects[::-1]
            answer = Applied(effects, end.observed)
            every = (in_order(oracle, node, step, order) for order in orders)
            explains = {
                oracle.key(after)
                for taken, after in every
                if [*map(canonical, taken)] == [*map(canonical, effects)]
                and agrees(answer.state, after.observed)
            }
            assert {oracle.key(one) for one in explained(oracle, [node], step, answer)} == explains
            right, wrong = right + bool(explains), wrong + (not explains)
            node = in_order(oracle, node, step, orders[0])[1]
    assert min(right, wrong) > 10


class Coordinator:
    """The model behind a lock. Kinds of events in `unlocked` do not take the lock."""

    capabilities = ("concurrent",)
    unlocked = ()

    def __init__(self, config):
        self.lock, self.state = Lock(), COMPONENTS["coordinator"].new(config)

    def apply(self, event):
        with nullcontext() if event["kind"] in self.unlocked else self.lock:
            self.state, effects, _ = COMPONENTS["coordinator"].apply(self.state, event)
        return effects

    def observe(self):
        return COMPONENTS["coordinator"].observe(self.state)


class Unlocked(Coordinator):
    unlocked = ("acknowledge",)


def in_threads(factory):
    adapter = PythonObject("threads", "1", {"coordinator": factory})
    offer = adapter.hello().components["coordinator"]
    return examine_concurrent("coordinator", adapter, offer, 4, 1, lambda: True)


def test_a_python_object_behind_a_lock_is_right_and_its_threads_take_events_in_any_order():
    found = in_threads(Coordinator)

    assert (found.wrong, found.undetermined) == ("", "")
    assert found.reordered > 20


def test_a_lock_that_acknowledgements_do_not_take_is_refused():
    assert "no order of the model explains the last answer" in in_threads(Unlocked).wrong
