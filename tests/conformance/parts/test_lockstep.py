"""Lock-step finds every kind of difference at its step. Equal answers conform."""

from itertools import islice

import pytest

from conformance.adapters.choose import OURS, ours
from conformance.adapters.in_process import InProcess
from conformance.adapters.protocol import Crashed, Errored
from conformance.cases.hypothesis_machines import Source, run_machine
from conformance.cases.walks import walks
from conformance.divergence import Answer
from conformance.drive.bounds.wide_gates import MANY
from conformance.drive.examine import examine, not_offered
from conformance.drive.lockstep import replay
from conformance.drive.loop import Limits, drive
from conformance.drive.oracle import Oracle
from conformance.drive.plan import Plan
from conformance.drive.shrinking.shrink import shrink
from conformance.generators import generate
from conformance.parts import lockstep
from conformance.parts.result import Context
from conformance.rules.coverage import coverage, needs_injections, rules_that_fire
from conformance.rules.index import rules
from conformance.verdict import Verdict
from model.components import COMPONENTS

GATE = {"channels": 2, "mode": "exactly-once", "profile": "flink-1.14", "level": "handler"}
FIRST = {"kind": "barrier", "channel": 0, "checkpoint": 1}
SECOND = {"kind": "barrier", "channel": 1, "checkpoint": 1}
LATE = {"kind": "barrier", "channel": 0, "checkpoint": 0}
STRAY = {"kind": "barrier", "channel": 2, "checkpoint": 1}


class Altered:
    """The model with changed answers: `said` changes the effects, `seen` the state."""

    def __init__(self, config, component="gate", said=lambda event, effects: effects, seen=dict):
        self._component = COMPONENTS[component]
        self._state = self._component.new(config)
        self._said, self._seen = said, seen

    def apply(self, event):
        self._state, effects, _ = self._component.apply(self._state, event)
        return self._said(event, effects)

    def observe(self):
        return self._seen(self._component.observe(self._state))


def altered(component="gate", refused=(ValueError,), **changes):
    return InProcess("altered", {component: lambda config: Altered(config, component, **changes)}, refused)


# the model is compared with itself, so that one case of each rule tests its adapter
PLANS = {"model": Plan(seed=11, examples=1, greatest={"channels": 9}), "impl": Plan(seed=11, examples=8)}
LARGE_GATES = Plan(seed=11, examples=MANY)


@pytest.mark.parametrize("component", generate.COMPONENTS)
@pytest.mark.parametrize("name", OURS)
def test_model_and_implementation_conform_and_every_rule_fires(component, name):
    with_large_gates = (component, name) == ("gate", "impl")
    done = examine(component, ours(name), LARGE_GATES if with_large_gates else PLANS[name])
    assert (done.verdict, done.divergence, done.undetermined) == (Verdict.CONFORMS, None, ())
    assert done.coverage.is_full
    assert done.unseen == ()


@pytest.mark.parametrize("batch", [1, 7, 60])
def test_batches_give_the_same_answers_as_single_events(batch):
    plain = drive(walks("gate", 5), ours("impl"), Limits(cases=40))
    batched = drive(walks("gate", 5), ours("impl"), Limits(batch, cases=40))
    assert (batched.steps, batched.fired, batched.divergence) == (plain.steps, plain.fired, None)


def test_the_same_seed_gives_the_same_events():
    def drawn(seed):
        given, rng = next(generate.cases("coordinator", seed))
        oracle = Oracle("coordinator", given)
        choose, node, events = generate.chooser("coordinator", given, rng), oracle.start, []
        for _ in range(50):
            events.append(choose(node.observed))
            node = oracle.step(node, events[-1]).after
        return events

    assert drawn(1) == drawn(1) != drawn(2)


@pytest.mark.parametrize("batch", [1, 3])
def test_another_effect_is_found_at_its_step(batch):
    forgets = altered(said=lambda event, effects: [one for one in effects if one["kind"] != "trigger"])
    found = replay(Oracle("gate", GATE), forgets, [FIRST, LATE, SECOND], batch).divergence
    assert (found.step, found.event) == (3, SECOND)
    assert found.rules == ("ALIGN-02", "ALIGN-05", "ALIGN-06")
    assert {"kind": "trigger", "checkpoint": 1} in found.expected.effects
    assert {"kind": "trigger", "checkpoint": 1} not in found.got.effects


def test_another_order_of_effects_is_a_divergence():
    backwards = altered(said=lambda event, effects: effects[::-1])
    assert replay(Oracle("gate", GATE), backwards, [FIRST, SECOND]).divergence.step == 2


@pytest.mark.parametrize("batch", [1, 3])
def test_another_state_is_found_at_its_step_even_in_a_batch(batch):
    shows_one_less = altered(seen=lambda state: {**state, "blocked": state["blocked"][1:]})
    oracle = Oracle("gate", {**GATE, "channels": 3})
    found = replay(oracle, shows_one_less, [LATE, FIRST, SECOND], batch).divergence
    assert (found.step, found.got.state["blocked"], found.expected.state["blocked"]) == (1, [], [0])


def test_one_and_true_are_not_the_same():
    says_one = altered(seen=lambda state: {**state, "pending": int(state["pending"])})
    assert replay(Oracle("gate", GATE), says_one, [FIRST]).divergence.step == 1


def test_a_field_that_is_left_out_is_not_compared_but_reported():
    blind = altered(seen=lambda state: {"current": state["current"], "of_version_2": 7})
    played = replay(Oracle("gate", GATE), blind, [FIRST, SECOND])
    assert played.divergence is None
    assert played.unseen == {"pending", "blocked", "closed"}


def test_an_event_outside_the_protocol_must_be_refused():
    class Tolerant(Altered):
        def apply(self, event):
            return [] if event["channel"] > 1 else super().apply(event)

    tolerant = InProcess("tolerant", {"gate": Tolerant}, (ValueError,))
    played = replay(Oracle("gate", GATE), tolerant, [FIRST, STRAY, SECOND])
    assert (played.divergence.step, played.divergence.rule) == (2, None)
    assert "expected an int from 0 to 1, got 2" in played.divergence.expected.refused
    assert replay(Oracle("gate", GATE), ours("impl"), [FIRST, STRAY, SECOND]).divergence is None


def test_a_refused_event_must_change_nothing():
    class Sloppy(Altered):
        def apply(self, event):
            if event["channel"] > 1:
                super().apply({**event, "channel": 0})
            return super().apply(event)

    sloppy = InProcess("sloppy", {"gate": Sloppy}, (ValueError,))
    assert replay(Oracle("gate", GATE), sloppy, [LATE, STRAY, SECOND]).divergence.step == 3


def test_an_allowed_event_that_is_refused_or_crashes_is_a_divergence():
    class Picky(Altered):
        def apply(self, event):
            if event["checkpoint"] == 0:
                raise ValueError("no ids below 1")
            return super().apply(event)

    refuses = InProcess("picky", {"gate": Picky}, (ValueError,))
    found = replay(Oracle("gate", GATE), refuses, [FIRST, LATE]).divergence
    assert (found.step, found.got) == (2, Errored("no ids below 1", 0))
    crashes = InProcess("picky", {"gate": Picky}, (KeyError,))
    found = replay(Oracle("gate", GATE), crashes, [FIRST, LATE]).divergence
    assert isinstance(found.got, Crashed)
    assert found.got.how == "ValueError: no ids below 1"


def test_a_crash_at_an_event_outside_the_protocol_is_a_divergence():
    fragile = altered(refused=(KeyError,))
    found = replay(Oracle("gate", GATE), fragile, [FIRST, STRAY]).divergence
    assert found.step == 2
    assert isinstance(found.got, Crashed)


def test_events_of_a_batch_before_a_refused_one_are_compared():
    silent = altered(said=lambda event, effects: [])
    found = replay(Oracle("gate", GATE), silent, [FIRST, STRAY], batch=5).divergence
    assert (found.step, found.event) == (1, FIRST)


def test_a_difference_that_occurs_only_once_is_undetermined():
    answered = []

    def once(event, effects):
        answered.extend([event] if effects else [])
        return [] if len(answered) == 30 else effects

    done = examine("store", altered("store", said=once), Plan(seed=1, examples=3, batch=20))
    assert done.verdict is Verdict.UNDETERMINED
    assert done.divergence.repeats == (0, 20)


def test_the_finding_of_a_hypothesis_state_machine_can_be_shrunk():
    forgets = altered("store", said=lambda event, effects: effects[:1])
    found = run_machine("store", forgets, Source(1, 30, steps=15, pinned={"profile": "2.3"})).divergence
    assert found.rules[-1] == "SUB-09"
    smallest = shrink(found, forgets)
    assert [event["kind"] for event in smallest.events] == ["add", "add"]


def test_a_run_that_exceeds_its_budget_is_undetermined():
    done = examine("gate", ours("impl"), Plan(seed=1, examples=5, may_go_on=lambda: False))
    assert (done.verdict, done.steps) == (Verdict.UNDETERMINED, 0)
    assert done.undetermined[0].startswith("the budget ended")


def test_rules_that_did_not_fire_are_undetermined():
    done = examine("gate", ours("impl"), Plan(seed=1, examples=5, pinned={"channels": 1}))
    assert done.verdict is Verdict.UNDETERMINED
    assert "ALIGN-03" in done.coverage.missing
    assert done.undetermined[-1].startswith("under-covered: ")


def test_a_component_that_is_not_offered_is_undetermined():
    assert not_offered("sink").verdict is Verdict.UNDETERMINED


def test_only_configurations_with_the_selected_options_are_played():
    pinned = {"level": "polled", "mode": "exactly-once"}
    plan = Plan(seed=1, examples=20, pinned=pinned, greatest={"channels": 9}, checkpoints=0)
    done = examine("gate", ours("impl"), plan)
    assert done.verdict is Verdict.CONFORMS
    assert "ALIGN-16" not in done.coverage.fired + done.coverage.missing
    nowhere = examine("gate", ours("impl"), Plan(seed=1, examples=1, pinned={"channels": 32_769}))
    assert nowhere.verdict is Verdict.UNDETERMINED


@pytest.mark.parametrize("component", generate.COMPONENTS)
def test_every_rule_that_can_fire_is_in_the_index(component):
    assert rules_that_fire(component)
    assert set(rules_that_fire(component)) <= set(rules())
    sent = tuple(rule for rule in rules_that_fire(component) if not needs_injections(rule))
    assert coverage(component, ()).missing == sent


@pytest.mark.parametrize("profile", ["1.11", "1.15", "1.17"])
def test_model_and_implementation_agree_after_130_aborts(profile):
    given = {"profile": profile, "max_concurrent": 2}
    aborts = [{"kind": "abort_notification", "checkpoint": shown, "completed": -1} for shown in range(1, 131)]
    triggers = [{"kind": "checkpoint", "checkpoint": shown} for shown in range(1, 131)]
    assert replay(Oracle("subtask", given), ours("impl"), [*aborts, *triggers]).divergence is None


def test_the_oracle_answers_as_the_model_does_even_when_it_forgets(monkeypatch):
    monkeypatch.setattr("conformance.drive.oracle.NODES_KEPT", 20)
    component = COMPONENTS["gate"]
    for given, rng in islice(generate.cases("gate", 9), 16):
        oracle = Oracle("gate", given)
        choose = generate.chooser("gate", given, rng)
        node, state = oracle.start, component.new(given)
        for _ in range(60):
            event = choose(node.observed)
            if event is None:
                break
            edge = oracle.step(node, event)
            if edge.refused is None:
                state, effects, rules_fired = component.apply(state, event)
                assert (edge.effects, edge.rules) == (effects, rules_fired)
            node = edge.after
            assert Answer(edge.effects, node.observed).state == component.observe(state)


@pytest.mark.rule("ALIGN-03")
def test_shrinking_removes_channels_and_numbers_the_others_from_0():
    def forgets(event, effects):
        return [effect for effect in effects if effect["kind"] != "abort"]

    adapter = altered(said=forgets)
    config = {**GATE, "channels": 4}
    events = [{"kind": "barrier", "channel": channel, "checkpoint": channel} for channel in (1, 3)]
    found = shrink(replay(Oracle("gate", config), adapter, events).divergence, adapter)

    assert (found.rule, found.config["channels"]) == ("ALIGN-03", 2)
    assert [event["channel"] for event in found.events] == [0, 1]


def test_the_bound_names_configurations_that_were_compared_with_no_released_jar(tmp_path, monkeypatch):
    monkeypatch.setattr(generate, "COMPONENTS", ("offsets",))
    done = lockstep.run(Context(11, tmp_path, quick=True))

    assert done.verdict is Verdict.CONFORMS
    assert done.bound.endswith("; no released jar was compared with offsets")
