"""The composed dataflow, explored: ONCE-01 to ONCE-06 hold, and each fails without its mechanism."""

from collections.abc import Callable
from typing import Any

import pytest

from model.checker.explore import Graph, explore
from model.coordinator import state as coordinator_state
from model.coordinator.events import Complete, Restored
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.coordinator.recovery import RecoverySteps
from model.dataflow import actions, messages
from model.dataflow import environment as dataflow_environment
from model.dataflow.actions import Deliver, Fail, Lose, Produce, Receive
from model.dataflow.dataflow import Dataflow, with_element
from model.dataflow.environment import (
    DECLINED,
    EXPIRY,
    OVERTAKING,
    REPLACED,
    REPLAY,
    TWICE,
    ZOMBIES,
    Scope,
    closed_dataflow,
)
from model.events import NONE, SUBSUMED, Step
from model.gate.events import Abort
from model.properties import Property, of_component
from model.sink import two_phase_commit
from model.sink.events import Commit
from model.sink.two_phase_commit import Sink

ONCE = tuple(f"ONCE-0{number}" for number in range(1, 7))
ONE_CHECKPOINT = REPLAY._replace(checkpoints=1)


def only(*rules: str) -> tuple[Property, ...]:
    return tuple(found for found in of_component("dataflow") if found.rule in rules)


def explored(scope: Scope, properties: tuple[Property, ...]) -> Graph:
    return explore(closed_dataflow(scope), properties, keep_transitions=False, limit=200_000)


def test_every_rule_is_stated() -> None:
    assert {found.rule for found in of_component("dataflow")} == set(ONCE)


@pytest.mark.parametrize(
    ("scope", "states", "depth"),
    [
        pytest.param(ONE_CHECKPOINT, 6_251, 24, id="one-checkpoint"),
        pytest.param(TWICE._replace(sources=1), 1_602, 21, id="two-failures"),
        pytest.param(ZOMBIES._replace(in_flight=1), 1_287, 18, id="zombies"),
        pytest.param(EXPIRY._replace(failures=0, sources=1), 1_060, 14, id="expiry"),
        pytest.param(REPLACED._replace(sources=1), 729, 16, id="replaced"),
        pytest.param(DECLINED, 2_640, 22, id="declined"),
    ],
)
def test_exactly_once_holds_in_every_reachable_state(scope: Scope, states: int, depth: int) -> None:
    """The smallest scope of each kind; `barrierspec verify` explores them with two sources."""
    graph = explored(scope, of_component("dataflow"))
    assert graph.violation is None
    assert (len(graph.nodes), graph.depth) == (states, depth)


# ---------------------------------------------------------------- green means something: probes


def completes(before: Any, event: Any, effects: Any, after: Any) -> bool:
    return any(type(effect) is Complete for effect in effects)


def restores_a_checkpoint(before: Any, event: Any, effects: Any, after: Any) -> bool:
    return any(type(effect) is Restored and effect.checkpoint != NONE for effect in effects)


def lost_notification_then_commit_on_restore(before: Any, event: Any, effects: Any, after: Any) -> bool:
    """The sink was not notified of the restored checkpoint, so the restore commits its transaction."""
    missed = max(before.tasks.subtasks[-1].completed, before.restored) < before.completed
    is_sent = any(message.kind == messages.COMPLETE for message in before.messages)
    commits = any(type(effect) is Commit for effect in effects)
    changes = before.committed != after.committed
    return type(event) is Fail and missed and not is_sent and commits and changes


def late_acknowledgement_of_an_old_attempt(before: Any, event: Any, effects: Any, after: Any) -> bool:
    return (
        type(event) is Deliver
        and event.message.kind == messages.ACKNOWLEDGE
        and event.message.attempt < before.attempt
        and bool(before.coordinator.pending)
    )


def late_record_of_an_old_attempt(before: Any, event: Any, effects: Any, after: Any) -> bool:
    return type(event) is Receive and before.tasks.inputs[event.channel][0].attempt < before.attempt


def replay_after_restore(before: Any, event: Any, effects: Any, after: Any) -> bool:
    """A record that the ended attempt had already counted is counted again."""
    return type(event) is Produce and before.attempt == 2 and before.tasks.offsets[event.source] == 1


def subsumed_at_the_gate(before: Any, event: Any, effects: Any, after: Any) -> bool:
    return any(type(effect) is Abort and effect.reason == SUBSUMED for effect in effects)


def subsumed_at_the_coordinator(before: Any, event: Any, effects: Any, after: Any) -> bool:
    return any(type(effect) is Abort and effect.reason == "CHECKPOINT_SUBSUMED" for effect in effects)


def expires_and_is_cancelled_at_the_gate(before: Any, event: Any, effects: Any, after: Any) -> bool:
    return any(type(effect) is Abort and effect.reason == "ON_CANCELLATION_BARRIER" for effect in effects)


@pytest.mark.parametrize(
    ("situation", "scope"),
    [
        (completes, ONE_CHECKPOINT),
        (restores_a_checkpoint, ONE_CHECKPOINT),
        (lost_notification_then_commit_on_restore, ONE_CHECKPOINT),
        (late_acknowledgement_of_an_old_attempt, TWICE._replace(zombies=True)),
        (late_record_of_an_old_attempt, ZOMBIES),
        (replay_after_restore, ONE_CHECKPOINT),
        (subsumed_at_the_gate, OVERTAKING._replace(records=0)),
        (subsumed_at_the_coordinator, OVERTAKING._replace(records=0)),
        (expires_and_is_cancelled_at_the_gate, EXPIRY),
    ],
)
def test_the_interesting_situations_are_reachable(situation: Callable[..., bool], scope: Scope) -> None:
    never = Property("PROBE", "dataflow", True, lambda *step: not situation(*step))
    witness = explored(scope, (never,)).violation
    assert witness is not None, f"{situation.__name__} is never reached"


# ---------------------------------------------------------------- red: each mechanism taken away


def story(graph: Graph) -> str:
    assert graph.violation is not None
    return " ".join(_shown(event) for event in graph.violation.run)


def _shown(event: Any) -> str:
    if type(event) is Produce:
        return f"produce-{event.source}"
    if type(event) is Receive:
        return f"receive-{event.channel}"
    if type(event) in {Deliver, Lose}:
        return f"{event.kind}-{event.message.kind}-{event.message.task}"
    return str(event.kind)


def run_of(graph: Graph) -> Dataflow:
    """The last state of the counterexample."""
    assert graph.violation is not None
    state: Dataflow = graph.closed.state
    for event in graph.violation.run:
        state = actions.act(state, event).state
    return state


@pytest.fixture
def unblocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate whose blocked channels are read nevertheless, as in mode at-least-once."""
    monkeypatch.setattr(
        dataflow_environment, "is_readable", lambda tasks, channel: bool(tasks.inputs[channel])
    )


@pytest.mark.rule("ONCE-01")
@pytest.mark.usefixtures("unblocked")
def test_without_blocking_a_checkpoint_is_no_consistent_cut() -> None:
    graph = explored(ONE_CHECKPOINT, only("ONCE-01"))
    # record 0 of source 0 comes after the barrier there, but the operator's snapshot contains it
    assert story(graph) == (
        "start_checkpoint deliver-trigger-0 deliver-acknowledge-0 produce-0 receive-0 receive-0 "
        "deliver-trigger-1 receive-1"
    )


@pytest.mark.rule("ONCE-02")
@pytest.mark.usefixtures("unblocked")
def test_without_blocking_a_record_is_counted_twice() -> None:
    graph = explored(ONE_CHECKPOINT, only("ONCE-02"))
    assert story(graph) == (
        "start_checkpoint deliver-trigger-0 deliver-acknowledge-0 produce-0 receive-0 receive-0 "
        "receive_at_sink deliver-trigger-1 receive-1 deliver-acknowledge-1 receive_at_sink "
        "deliver-acknowledge-2 deliver-acknowledge-3 fail"
    )
    # the restored count contains record 0, and the source reads it again from the restored offset
    restored = run_of(graph)
    assert restored.tasks.offsets == (0, 0)
    assert restored.tasks.counted[0][0] == 1
    again = actions.on_receive(actions.on_produce(restored, 0).state, 0).state
    assert again.tasks.counted[0][0] == 2


@pytest.mark.rule("ONCE-01")
def test_if_state_is_discarded_in_doubt_a_new_coordinator_finds_a_checkpoint_without_state() -> None:
    older = REPLACED._replace(profile=COORDINATOR_PROFILES["1.11"])
    graph = explored(older, only("ONCE-01"))
    assert story(graph).startswith("start_checkpoint")
    assert "store_will_fail" in story(graph)
    assert story(graph).endswith("fail")
    found = run_of(graph)
    assert found.completed == 1  # durable, although its addition failed and its state was discarded
    assert not found.cuts


@pytest.mark.rule("ONCE-05")
def test_commit_at_the_snapshot_is_output_before_completion(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = two_phase_commit.on_snapshot

    def hasty(sink: Sink, checkpoint: int) -> Step[Sink]:
        taken = honest(sink, checkpoint)
        committed = two_phase_commit.on_notify_complete(taken.state, checkpoint)
        return Step(committed.state, (*taken.effects, *committed.effects), taken.rules)

    monkeypatch.setattr(two_phase_commit, "on_snapshot", hasty)
    graph = explored(ONE_CHECKPOINT, of_component("dataflow"))
    assert graph.violation is not None
    assert graph.violation.rules[0] == "ONCE-05"
    assert story(graph) == (
        "start_checkpoint deliver-trigger-0 deliver-acknowledge-0 receive-0 deliver-trigger-1 receive-1 "
        "deliver-acknowledge-1 receive_at_sink"
    )


@pytest.mark.rule("ONCE-04")
def test_a_restore_of_a_checkpoint_that_never_completed_violates_once_04(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def newest_started(
        _: RecoverySteps, state: coordinator_state.Coordinator
    ) -> Step[coordinator_state.Coordinator]:
        return Step(state, (Restored(state.next_id - 1 if state.next_id > 1 else NONE),), ())

    monkeypatch.setattr(RecoverySteps, "on_restore", newest_started)
    graph = explored(ONE_CHECKPOINT, of_component("dataflow"))
    assert graph.violation is not None
    assert graph.violation.rules[0] == "ONCE-04"
    assert story(graph) == "start_checkpoint fail"


@pytest.mark.rule("ONCE-03")
def test_a_restore_that_commits_nothing_leaves_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = two_phase_commit.on_restore

    def forgetful(sink: Sink, checkpoint: int) -> Step[Sink]:
        restored = honest(sink, checkpoint)
        effects = tuple(effect for effect in restored.effects if type(effect) is not Commit)
        return Step(restored.state._replace(committed=sink.committed), effects, restored.rules)

    monkeypatch.setattr(two_phase_commit, "on_restore", forgetful)
    graph = explored(ONE_CHECKPOINT, of_component("dataflow"))
    assert graph.violation is not None
    assert graph.violation.rules[0] == "ONCE-03"
    assert story(graph) == (
        "produce-0 receive-0 receive_at_sink start_checkpoint deliver-trigger-0 deliver-acknowledge-0 "
        "receive-0 deliver-trigger-1 receive-1 deliver-acknowledge-1 receive_at_sink "
        "deliver-acknowledge-2 deliver-acknowledge-3 fail"
    )


@pytest.mark.rule("ONCE-06")
def test_messages_without_their_attempt_reach_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = actions.on_deliver

    def careless(dataflow: Any, message: Any) -> Step[Any]:
        if message.attempt == dataflow.attempt:
            return honest(dataflow, message)
        renewed = message._replace(attempt=dataflow.attempt)
        others = messages.arrived(dataflow.messages, message)
        return honest(dataflow._replace(messages=messages.sent(others, renewed)), renewed)

    monkeypatch.setitem(actions.ACTIONS, Deliver, careless)
    graph = explored(ZOMBIES, of_component("dataflow"))
    assert graph.violation is not None
    assert graph.violation.rules[0] == "ONCE-06"
    assert story(graph) == "start_checkpoint fail deliver-trigger-0"


@pytest.mark.rule("ONCE-06")
def test_a_record_without_its_attempt_is_counted_in_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = actions.on_receive

    def careless(dataflow: Any, channel: int) -> Step[Any]:
        inputs = dataflow.tasks.inputs
        renewed = inputs[channel][0]._replace(attempt=dataflow.attempt)
        there = with_element(inputs, channel, (renewed, *inputs[channel][1:]))
        return honest(dataflow._replace(tasks=dataflow.tasks._replace(inputs=there)), channel)

    monkeypatch.setitem(actions.ACTIONS, Receive, careless)
    graph = explored(ZOMBIES, of_component("dataflow"))
    assert graph.violation is not None
    assert "ONCE-06" in graph.violation.rules
    assert story(graph) == "produce-0 fail receive-0"
