"""The triangle detects a change in each of its three sides, and names the state, the action and the rule."""

import pytest

from conformance.compare.triangle import INSIDE, OUTSIDE, compare
from conformance.components.registry import ProjectionError, projection_of
from model.coordinator.environment.relative_time import relative
from model.coordinator.events import CoordinatorRestart, DeclineMessage
from model.coordinator.state import Coordinator
from model.dataflow import environment as dataflow_environment
from model.events import Event, Step
from model.gate.aligned import Gate
from model.gate.events import Barrier
from model.sink import two_phase_commit
from model.steps import step_of
from spec.manifest import load_manifest
from spec.stategraph import state_graph

MODELS = load_manifest()


@pytest.fixture(scope="module")
def dumped():
    return state_graph(MODELS["gate_polled_2"])


def eager(gate: Gate, event: Event) -> Step[Gate]:
    """The gate's step, which also takes a barrier of the pending checkpoint for a newer one."""
    if type(event) is Barrier and event.checkpoint == gate.current and gate.pending:
        return step_of("gate")(gate._replace(current=gate.current - 1), event)
    return step_of("gate")(gate, event)


def test_the_three_sides_agree(dumped):
    agreement = compare("gate_polled_2", dumped, projection_of(MODELS["gate_polled_2"]))

    assert agreement.difference is None
    assert agreement.states == MODELS["gate_polled_2"].states
    assert agreement.edges == len(dumped.edges)
    assert agreement.steps > 0


def test_a_changed_guard_in_the_specification_is_named():
    broken = MODELS["broken_gate_newer_or_equal"]
    agreement = compare(broken.name, state_graph(broken), projection_of(broken))

    assert agreement.difference is not None
    assert agreement.difference.sides == OUTSIDE
    assert set(agreement.difference.rules) & {"ALIGN-02", "ALIGN-04", "ALIGN-05"}
    assert "Barrier" in agreement.difference.story


def test_a_changed_guard_in_the_model_is_named(dumped):
    sound = projection_of(MODELS["gate_polled_2"])
    loosened = sound._replace(
        closed_model=sound.closed_model._replace(step=eager),
        cases=lambda: [case._replace(step=eager) for case in sound.cases()],
    )
    difference = compare("gate_polled_2", dumped, loosened).difference

    assert difference is not None
    assert difference.sides == OUTSIDE
    assert "ALIGN-03" in difference.rules  # the loosened model treats the barrier as a newer one
    assert "Barrier" in difference.story


def test_a_changed_guard_in_the_relation_is_named(dumped):
    sound = projection_of(MODELS["gate_polled_2"])
    loosened = sound._replace(cases=lambda: [case._replace(step=eager) for case in sound.cases()])
    difference = compare("gate_polled_2", dumped, loosened).difference

    assert difference is not None
    assert difference.sides == INSIDE
    assert "ALIGN-02" in difference.rules
    assert "pending=True" in difference.story


def forgetful(state: Coordinator, event: Event) -> Step[Coordinator]:
    """The coordinator's step. A restart loses the durable checkpoints that were not yet listed."""
    if type(event) is CoordinatorRestart:
        state = state._replace(unseen=())
    return step_of("coordinator")(state, event)


def test_a_coordinator_that_forgets_what_is_durable_is_named():
    model = MODELS["coordinator_restarts"]
    sound = projection_of(model)
    graph = state_graph(model)
    assert compare(model.name, graph, sound).difference is None

    def step(state: Coordinator, event: Event) -> Step[Coordinator]:
        taken = forgetful(state, event)
        return taken._replace(state=relative(taken.state))

    difference = compare(
        model.name, graph, sound._replace(closed_model=sound.closed_model._replace(step=step))
    ).difference
    assert difference is not None
    assert difference.sides == OUTSIDE
    assert "CoordinatorRestart" in difference.story
    assert "COORD-22" in difference.rules


@pytest.fixture(scope="module")
def unblocked():
    """The state graph in TLA+ of the composed dataflow with a gate that also reads blocked channels."""
    return state_graph(MODELS["broken_dataflow_unblocked"])


def test_a_coordinator_whose_relation_ignores_declines_is_named():
    model = MODELS["coordinator_one_at_a_time"]
    sound = projection_of(model)
    graph = state_graph(model)
    # `barrierspec verify` also compares the relation in z3, which takes seconds
    assert compare(model.name, graph, sound._replace(cases=None)).difference is None

    def ignores_declines(state: Coordinator, event: Event) -> Step[Coordinator]:
        """The coordinator's step, which ignores a decline."""
        if type(event) is DeclineMessage:
            return Step(state, (), ("COORD-09",))
        return sound.closed_model.step(state, event)

    def cases():
        return [case._replace(step=ignores_declines) for case in sound.cases()]

    difference = compare(model.name, graph, sound._replace(cases=cases)).difference
    assert difference is not None
    assert difference.sides == INSIDE
    assert "COORD-09" in difference.rules


def test_a_composed_dataflow_that_reads_blocked_channels_is_named(unblocked):
    model = MODELS["broken_dataflow_unblocked"]
    difference = compare(model.name, unblocked, projection_of(model)).difference

    assert difference is not None
    assert difference.sides == OUTSIDE
    assert "TLC goes with OperatorCounts" in difference.story


def test_a_broken_model_of_the_dataflow_is_named(unblocked, monkeypatch):
    model = MODELS["broken_dataflow_unblocked"]
    monkeypatch.setattr(
        dataflow_environment, "is_readable", lambda tasks, channel: bool(tasks.inputs[channel])
    )
    agreement = compare(model.name, unblocked, projection_of(model))
    assert agreement.difference is None  # both are broken in the same way, so they agree
    assert (agreement.states, agreement.edges) == (len(unblocked.nodes), len(unblocked.edges))

    monkeypatch.setattr(two_phase_commit, "on_notify_complete", lambda sink, checkpoint: Step(sink, (), ()))
    difference = compare(model.name, unblocked, projection_of(model)).difference
    assert difference is not None
    assert difference.sides == OUTSIDE
    assert "TaskReceives" in difference.story
    assert "different in 0.sink.pending" in difference.story


def test_two_states_with_the_same_projection_are_detected(dumped):
    projection = projection_of(MODELS["gate_polled_2"])
    blurred = projection._replace(node=lambda state: (*projection.node(state)[:2], ()))
    difference = compare("gate_polled_2", dumped, blurred).difference

    assert difference is not None
    assert "two states of TLA+ are one of the model; they differ in\n    out: " in difference.story


def test_a_graph_that_lacks_one_edge_is_detected(dumped):
    lost = min(dumped.edges, key=repr)
    agreement = compare(
        "gate_polled_2", dumped._replace(edges=dumped.edges - {lost}), projection_of(MODELS["gate_polled_2"])
    )

    assert agreement.difference is not None
    assert agreement.difference.sides == OUTSIDE


def test_a_model_without_a_twin_is_an_error():
    with pytest.raises(ProjectionError, match="LiveCoordinator"):
        projection_of(MODELS["liveness"])
