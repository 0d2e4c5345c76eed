"""Messages that arrive at once: any order of the model explains an answer, and only such an answer passes."""

from random import Random
from threading import Lock, current_thread, main_thread

import pytest

from conformance.adapters.in_process import ModelAdapter
from conformance.adapters.protocol import Applied, Offer
from conformance.adapters.python_object import PythonObject
from conformance.concurrent.examine import examine_concurrent
from conformance.concurrent.histories import MESSAGES
from model.components import COMPONENTS

OFFER = Offer((), (), ("concurrent",))


class InAnyOrder(ModelAdapter):
    """One event after the other, in an order that a seed draws."""

    def __init__(self, seed=0):
        super().__init__(COMPONENTS)
        self.random = Random(seed)

    def apply_at_once(self, events):
        order = self.random.sample(range(len(events)), len(events))
        answers = {place: self.apply([events[place]]) for place in order}
        return Applied([answers[place].effects[0] for place in range(len(events))], self._instance.observe())


class LosesUpdates(InAnyOrder):
    """Each event begins with the state before all of them, and the last one wins."""

    def apply_at_once(self, events):
        before, effects = self._instance._state, []
        for event in events:
            self._instance._state = before
            effects += self.apply([event]).effects
        return Applied(effects, self._instance.observe())


class MixesEffects(InAnyOrder):
    """The effects of one event are answered as those of another."""

    def apply_at_once(self, events):
        answer = super().apply_at_once(events)
        return answer._replace(effects=answer.effects[::-1])


@pytest.mark.parametrize("component", MESSAGES)
def test_every_order_is_explained(component):
    found = examine_concurrent(component, InAnyOrder(), OFFER, 30, 1, lambda: True)

    assert (found.wrong, found.doubt, found.histories) == ("", "", 30)
    assert found.groups > 20


@pytest.mark.parametrize("component", MESSAGES)
@pytest.mark.parametrize("broken", [LosesUpdates, MixesEffects])
def test_what_no_order_explains_is_refused_with_a_short_history(component, broken):
    found = examine_concurrent(component, broken(), OFFER, 60, 1, lambda: True)

    lines = found.wrong.splitlines()
    assert lines[0].endswith("no order of the model explains the last answer (seen in 5 of 5 repetitions)")
    assert lines[-2].partition(". ")[2].startswith("at once: ")
    assert len(lines) < 10


def test_a_component_without_the_capability_gets_no_events_at_once():
    assert examine_concurrent("coordinator", InAnyOrder(), Offer((), (), ()), 5, 0, lambda: True) is None
    assert examine_concurrent("gate", InAnyOrder(), OFFER, 5, 0, lambda: True) is None


def test_a_python_object_gets_each_event_in_a_thread():
    threads = set()

    class Coordinator:
        capabilities = ("concurrent",)

        def __init__(self, config):
            self.lock, self.state = Lock(), COMPONENTS["coordinator"].new(config)

        def apply(self, event):
            threads.add(current_thread() is main_thread())
            with self.lock:
                self.state, effects, _ = COMPONENTS["coordinator"].apply(self.state, event)
            return effects

        def observe(self):
            return COMPONENTS["coordinator"].observe(self.state)

    adapter = PythonObject("threads", "1", {"coordinator": Coordinator})
    offer = adapter.hello().components["coordinator"]
    found = examine_concurrent("coordinator", adapter, offer, 15, 1, lambda: True)

    assert (found.wrong, found.doubt) == ("", "")
    assert found.groups > 10
    assert threads == {True, False}
