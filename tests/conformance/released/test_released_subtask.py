"""How the subtask of a release is conformed. No JVM: the model stands for the release."""

import pytest

from conformance.adapters.in_process import InProcess
from conformance.drive.lockstep import replay
from conformance.parts.released import SEARCHES
from conformance.released import sequences as driver
from conformance.released.subtask import SubtaskSearch, is_sent, target
from model.components import COMPONENTS


class Instance:
    """The model's subtask as an implementation; `mended` changes its state after each event."""

    def __init__(self, config, mended=lambda state: state):
        self._state, self._mended = COMPONENTS["subtask"].new(config), mended

    def apply(self, event):
        state, effects, _ = COMPONENTS["subtask"].apply(self._state, event)
        self._state = self._mended(state)
        return effects

    def observe(self):
        return COMPONENTS["subtask"].observe(self._state)


def played(factory):
    """The cases of tours and walks, and what differs when they are played."""
    one = target("9.9.9", "2.3")
    adapter = InProcess("subtask", {"subtask": factory}, ())
    search = SubtaskSearch(adapter, one, driver.Conformed(one))
    cases = [*search.tours(20), *search.random(30, 1)]
    runs = [replay(case.oracle, adapter, case.events) for case in cases]
    assert all(run.stopped is None for run in runs)
    return cases, [run.divergence for run in runs if run.divergence is not None]


def test_every_kind_of_event_is_sent_and_the_model_conforms():
    cases, found = played(Instance)
    assert {event["kind"] for case in cases for event in case.events} == {
        "checkpoint", "abort_on_barrier", "abort_notification", "complete_notification",
        "subsumed_notification", "async_done", "async_failed", "status", "close",
    }  # fmt: skip
    assert found == []
    assert SEARCHES["subtask"] is SubtaskSearch


def test_a_subtask_that_forgets_aborts_is_seen():
    _, found = played(lambda config: Instance(config, lambda state: state._replace(aborted=())))
    assert found


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "checkpoint", "checkpoint": 0},
        {"kind": "abort_notification", "checkpoint": 1, "completed": 0},
        {"kind": "status", "running": True},
    ],
)
def test_what_no_release_receives_is_left_out(event):
    assert not is_sent({"running_task": False}, event)
