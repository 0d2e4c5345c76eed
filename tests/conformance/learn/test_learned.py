"""A learned machine equals the model's, or a shortest sequence shows each difference. TLC checks rules."""

import orjson
import pytest

from conformance import cli
from conformance.adapters.in_process import InProcess, ModelInstance, model_adapter
from conformance.learn import tla
from conformance.learn.compare import compared
from conformance.learn.formats import dot
from conformance.learn.learn import learn
from conformance.learn.system import NotLearnedError
from conformance.suites.machine import difference
from conformance.suites.play import machine_of
from conformance.suites.registry import alphabets
from conformance.vectors.tla.text import NotInTlaError
from model.components import COMPONENTS, WireError
from tests.conformance.suites.test_played_suites import LosesTrigger

CONFIG = {
    "channels": 2,
    "mode": "exactly-once",
    "level": "handler",
    "checkpoints_after_tasks_finish": True,
    "profile": "flink-1.14",
}


def alphabet_of(config):
    return next(iter(alphabets("gate", config, injects=False)))


def gate_of(instance):
    return InProcess("a gate", {"gate": lambda config: instance(COMPONENTS["gate"], config)}, (WireError,))


class Forgetful(ModelInstance):
    """Defect: does not answer the second of two late barriers in a row."""

    late = 0

    def apply(self, event):
        effects = super().apply(event)
        is_late = event["kind"] == "barrier" and [one["kind"] for one in effects] == ["resume"]
        self.late = self.late + 1 if is_late else 0
        return [] if self.late == 2 else effects


class Counting(ModelInstance):
    """Shows how many events it has taken, so that no finite machine describes it."""

    events = 0

    def apply(self, event):
        self.events += 1
        return super().apply(event)

    def observe(self):
        return {**super().observe(), "events": self.events}


class Unsteady(ModelInstance):
    """Defect: the first instance answers differently from all later ones."""

    made = 0

    def __init__(self, *given):
        super().__init__(*given)
        Unsteady.made += 1
        self.is_first = Unsteady.made == 1

    def observe(self):
        return {**super().observe(), "first": self.is_first}


class FailsOnCancel(ModelInstance):
    """Defect: crashes at a cancellation marker of a newer checkpoint."""

    def apply(self, event):
        if event["kind"] == "cancel" and event["checkpoint"] > self.observe()["current"] > 0:
            raise RuntimeError("no such checkpoint")
        return super().apply(event)


@pytest.fixture(scope="module")
def forgetful():
    """The machine that is learned from a Forgetful gate, which has hidden memory."""
    return learn(gate_of(Forgetful), alphabet_of(CONFIG), extra=1).machine


def test_the_model_is_learned_as_its_own_machine():
    alphabet = alphabet_of({**CONFIG, "level": "polled"})
    learned = learn(model_adapter(), alphabet, extra=1).machine
    assert learned.size == machine_of(alphabet).size
    assert difference(machine_of(alphabet), learned) is None


def test_hidden_memory_is_learned_and_its_differences_have_shortest_sequences(forgetful):
    alphabet = alphabet_of(CONFIG)
    assert forgetful.size > machine_of(alphabet).size
    found = compared(alphabet, machine_of(alphabet), forgetful)
    assert found[0].letters == ("barrier 0 newest-1", "barrier 0 newest-1", "barrier 0 newest-1")
    assert [event["kind"] for event in found[0].events] == ["barrier"] * 3
    assert [len(one.letters) for one in found] == sorted(len(one.letters) for one in found)
    assert orjson.loads(found[0].expected)["effects"] == [{"kind": "resume", "channel": 0}]
    assert orjson.loads(found[0].learned)["effects"] == []


def test_a_crash_ends_a_word_and_is_a_difference():
    alphabet = alphabet_of(CONFIG)
    learned = learn(gate_of(FailsOnCancel), alphabet, extra=1).machine
    found = compared(alphabet, machine_of(alphabet), learned)
    assert found[0].learned == '{"ends":"crashed"}'


def test_an_implementation_with_unbounded_memory_is_no_finite_machine(monkeypatch):
    monkeypatch.setattr("conformance.learn.system.WORDS_AT_MOST", 300)
    with pytest.raises(NotLearnedError, match="after 300 words"):
        learn(gate_of(Counting), alphabet_of(CONFIG), extra=1)


def test_two_answers_to_the_same_events_end_the_learning():
    with pytest.raises(NotLearnedError, match="two different answers"):
        learn(gate_of(Unsteady), alphabet_of(CONFIG), extra=1)


def test_no_machine_is_learned_if_the_budget_ends():
    steps = iter(range(10_000))
    with pytest.raises(NotLearnedError, match="budget"):
        learn(model_adapter(), alphabet_of(CONFIG), extra=1, may_go_on=lambda: next(steps) < 50)


def test_tlc_names_the_rule_that_a_learned_gate_breaks_and_those_that_it_keeps(forgetful):
    checked = tla.checked(tla.module_of(alphabet_of(CONFIG), forgetful, "forgetful"))
    assert checked.broken == ("ALIGN-04",)
    assert {"ALIGN-18", "SUB-01"} <= set(checked.kept)


def test_other_modes_have_no_module():
    alphabet = alphabet_of({**CONFIG, "mode": "at-least-once"})
    with pytest.raises(NotInTlaError, match="exactly-once"):
        tla.module_of(alphabet, machine_of(alphabet), "the model")


def test_a_picture_has_every_state():
    machine = machine_of(alphabet_of(CONFIG))
    text = dot(machine)
    assert all(f" {state} [" in text for state in range(machine.size))


def test_the_command_writes_a_picture_json_and_a_module(tmp_path, capsys):
    arguments = [
        "learn",
        "--adapter",
        "model",
        "--config",
        "level=handler",
        "--no-tlc",
        "--out",
        str(tmp_path),
    ]
    assert cli.run(arguments) == 0
    assert {file.suffix for file in tmp_path.iterdir()} >= {".json", ".dot", ".tla", ".cfg"}
    document = orjson.loads((tmp_path / "gate.json").read_bytes())
    assert (document["states"], document["model_states"], document["differences"]) == (12, 12, [])
    assert "CONFORMS   the learned machine is the model's" in capsys.readouterr().out


def test_the_command_ends_with_1_where_the_machines_differ(tmp_path, capsys, little_adapter):
    command = little_adapter("gate_unblocks_on_late_barrier")
    assert cli.run(["learn", "--adapter", command, "--no-tlc", "--out", str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "barrier 0 newest-1 ; barrier 1 newest-1" in shown
    assert "learned   12 states, 14 letters" in shown


def test_a_component_that_is_not_offered_is_a_usage_error(capsys, little_adapter):
    command = little_adapter("gate_unblocks_on_late_barrier")
    assert cli.run(["learn", "--adapter", command, "--component", "store"]) == 64
    assert "choose one of gate" in capsys.readouterr().err


def test_a_hidden_state_that_the_models_own_suite_does_not_see_is_learned():
    alphabet = alphabet_of(CONFIG)
    learned = learn(gate_of(LosesTrigger), alphabet, extra=1).machine
    assert learned.size == machine_of(alphabet).size + 1
    (found,) = compared(alphabet, machine_of(alphabet), learned)
    assert found.letters == ("barrier 0 newest-1", "barrier 1 newest-1", "end_of_partition 1")
