"""Comparing the subtask of a release, with the model in place of the release. No JVM."""

import pytest

from conformance.adapters.in_process import InProcess
from conformance.drive.lockstep import replay
from conformance.parts.released import SEARCHES
from conformance.released import comparison as driver
from conformance.released.subtask import SubtaskSearch, is_sent, target
from model.components import COMPONENTS
from model.steps import step_of
from model.subtask.subtask import CheckpointOnBarrier


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
    """The cases of tours and walks, and the divergences that they find."""
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


def test_a_subtask_that_forgets_aborts_is_detected():
    _, found = played(lambda config: Instance(config, lambda state: state._replace(aborted=())))
    assert found


@pytest.mark.rule("TASK-06")
def test_a_subtask_that_forgets_its_restored_checkpoint_is_detected():
    def without(config):
        return Instance({name: value for name, value in config.items() if name != "restored"})

    _, found = played(without)
    assert {one.config["restored"] for one in found} == {2}


class Gated(Instance):
    """The subtask behind a gate. `answered` changes the effects of each event `checkpoint_on_barrier`."""

    def __init__(self, config, answered=lambda effects: effects):
        super().__init__(config)
        self._answered = answered

    def apply(self, event):
        if event["kind"] != "checkpoint_on_barrier":
            return super().apply(event)
        step = step_of("subtask")(self._state, CheckpointOnBarrier(event["checkpoint"], fails=False))
        self._state = step.state
        return self._answered([COMPONENTS["subtask"].words.write_effect(effect) for effect in step.effects])


@pytest.mark.rule("TASK-10")
@pytest.mark.parametrize("profile", ["1.9", "1.10", "1.11", "1.14", "1.15", "2.3"])
@pytest.mark.parametrize("declines", [False, True])
def test_barriers_of_a_gate_are_compared_at_each_state(profile, declines):
    def answered(effects):
        if not declines or [effect["kind"] for effect in effects] != ["broadcast_cancel"]:
            return effects
        (cancelled,) = effects
        return [cancelled, {**cancelled, "kind": "decline", "reason": "TASK_NOT_READY"}]

    one = target("9.9.9", profile)
    adapter = InProcess("subtask", {"subtask": lambda config: Gated(config, answered)}, ())
    search = SubtaskSearch(adapter, one, driver.Conformed(one))
    assert search.at_barriers() is not declines


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "checkpoint", "checkpoint": 0},
        {"kind": "abort_notification", "checkpoint": 1, "completed": 0},
        {"kind": "status", "running": True},
    ],
)
def test_events_that_subtasks_of_releases_do_not_receive_are_left_out(event):
    assert not is_sent({"running_task": False}, event)
