"""One counterexample, three replays: a test, a module for TLC and an ITF trace, with the same finding."""

from dataclasses import replace

import pytest

from conformance import cli
from conformance.adapters.in_process import InProcess
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.report.replays import by_tlc, write
from conformance.vectors.tla import NotInTlaError, module_of
from conformance.verdict import Exit, Verdict
from model.components import COMPONENTS, WireError

GATE = {"channels": 2, "mode": "exactly-once", "level": "handler", "profile": "flink-1.14"}


def barrier(channel, checkpoint):
    return {"kind": "barrier", "channel": channel, "checkpoint": checkpoint}


class Wrong:
    """The model, but for the last of its answers: effects, a state or an error in their place."""

    def __init__(self, component, config, answers, said, seen):
        self._model = COMPONENTS[component]
        self._state = self._model.new(config)
        self._left, self._said, self._seen = answers, said, seen

    def apply(self, event):
        self._left -= 1
        if self._left == 0 and self._said is None:
            raise ValueError("no")
        try:
            self._state, effects, _ = self._model.apply(self._state, event)
        except WireError:
            effects = []
        return effects if self._left or self._said is None else self._said

    def observe(self):
        seen = self._model.observe(self._state)
        return seen if self._left or self._seen is None else {**seen, **self._seen}


def divergence(component, config, events, said, seen=None):
    def make(given):
        return Wrong(component, given, len(events), said, seen)

    adapter = InProcess("wrong", {component: make}, (ValueError,))
    found = replay(Oracle(component, config), adapter, events).divergence
    assert found.step == len(events)
    return found


ADDS = [{"kind": "add", "checkpoint": number, "type": "checkpoint"} for number in (1, 2)]
FILED = [{"kind": "snapshot", "checkpoint": 1, "offsets": 4}, {"kind": "notify_complete", "checkpoint": 1}]
END = {"kind": "end_of_partition", "channel": 0}
COMMIT = {"kind": "commit_offsets", "checkpoint": 1, "offsets": 9}
BLOCK = {"kind": "block", "channel": 0}
CASES = {
    "ALIGN-03": ("gate", GATE, [barrier(0, 1), barrier(0, 2)], [BLOCK], None),
    "AsProtocol": ("gate", GATE, [barrier(0, 1)], None, None),
    "Allows": ("gate", GATE, [END, barrier(0, 1)], [], None),
    "SUB-07": ("store", {"retain": 1, "profile": "2.3"}, ADDS, [], {"completed": [1, 2]}),
    "OFFSET-03": ("offsets", {"remembered": 2}, FILED, [COMMIT], {"committed": [1, 9]}),
}


@pytest.mark.rule("ALIGN-03")
@pytest.mark.rule("SUB-07")
@pytest.mark.rule("OFFSET-03")
@pytest.mark.parametrize("violated", CASES)
def test_tlc_replays_it_and_names_what_is_violated(violated, tmp_path):
    found = divergence(*CASES[violated])
    _, module = write(found, "abc", "wrong 1", "./wrong", tmp_path)
    verdict, told = by_tlc(module)

    assert verdict is Verdict.DIVERGES
    assert told.startswith(f"DIVERGES  {violated}: ")
    refused = violated == "Allows"
    assert len(told.splitlines()) == 3 + len(found.events) - refused  # the initial state, then one a step


def test_what_is_right_passes(tmp_path):
    found = divergence("gate", GATE, [barrier(0, 1)], [])
    _, module = write(replace(found, got=found.expected), "abc", "right 1", "./right", tmp_path)

    assert by_tlc(module)[0] is Verdict.CONFORMS


def test_a_component_without_a_module_is_told():
    found = divergence("sink", {}, [{"kind": "write", "value": 1}], [])
    with pytest.raises(NotInTlaError, match="no module for a sink; there are those of gate, store, offsets"):
        module_of(found, "Any", "wrong 1")
    latest = divergence("store", {}, [{"kind": "latest"}], [])
    with pytest.raises(NotInTlaError, match="StoreModel has no event latest; it has add"):
        module_of(latest, "Any", "wrong 1")


def test_all_three_replay_what_conform_has_found(little_adapter, tmp_path, capsys):
    adapter = little_adapter("gate_forgets_subsumption")
    assert (
        cli.run(["conform", "--adapter", adapter, "--examples", "2", "--out", str(tmp_path)]) == Exit.DIVERGES
    )
    assert len(list(tmp_path.glob("test_*.py"))) == 1  # test_command runs it
    (trace,) = tmp_path.glob("*/*.itf.json")
    (module,) = tmp_path.glob("*/*.tla")
    capsys.readouterr()
    for file in (trace, module):
        assert cli.run(["conform", "--replay", str(file)]) == Exit.DIVERGES
        assert capsys.readouterr().out.startswith("DIVERGES  ALIGN-03")
    assert cli.run(["conform", "--replay", str(trace), "--adapter", "impl"]) == Exit.CONFORMS


def test_a_file_that_cannot_be_replayed_is_wrong_usage(tmp_path, capsys):
    module = tmp_path / "Alone.tla"
    module.write_text("")
    assert cli.run(["conform", "--replay", str(module)]) == Exit.USAGE
    assert "give a module with its .cfg" in capsys.readouterr().err
    trace = tmp_path / "x.itf.json"
    trace.write_text('{"#meta": {"component": "gate"}}')
    assert cli.run(["conform", "--replay", str(trace)]) == Exit.USAGE
    assert "expected a trace as" in capsys.readouterr().err
