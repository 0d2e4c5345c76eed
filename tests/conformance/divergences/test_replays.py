"""The three replays of a counterexample have the same finding: pytest, a TLA+ module, an ITF trace."""

from dataclasses import replace

import pytest

from conformance import cli
from conformance.adapters.in_process import InProcess
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.drive.replays import by_tlc, write
from conformance.vectors.tla.module import module_of
from conformance.vectors.tla.text import NotInTlaError
from conformance.verdict import Exit, Verdict
from model.components import COMPONENTS, WireError

GATE = {"channels": 2, "mode": "exactly-once", "level": "handler", "profile": "flink-1.14"}


def barrier(channel, checkpoint):
    return {"kind": "barrier", "channel": channel, "checkpoint": checkpoint}


class Wrong:
    """The model with a wrong last answer: other effects, another state or an error."""

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


def gate(mode, profile="flink-1.14", **more):
    return {"channels": 2, "mode": mode, "level": "handler", "profile": profile, **more}


def checkpoint(kind, number, **more):
    return {"kind": kind, "checkpoint": number, **more}


def effect(kind, **fields):
    return {"kind": kind, **fields}


ADDS = [checkpoint("add", number, type="checkpoint") for number in (1, 2)]
FILED = [checkpoint("snapshot", 1, offsets=4), checkpoint("notify_complete", 1)]
END = {"kind": "end_of_partition", "channel": 0}
COMMIT = checkpoint("commit_offsets", 1, offsets=9)
BLOCK = {"kind": "block", "channel": 0}
UNALIGNED = {**barrier(0, 1), "alignment": "unaligned"}
RECORD = {"kind": "record", "channel": 0, "value": "a"}
TASK = {"id": "src-0", "source": True}
RUNS = [effect("job_status", status="RUNNING"), effect("task_status", task="src-0", status="RUNNING")]
POLLED = gate("exactly-once", level="polled")
CASES = {
    "gate": ("ALIGN-03", "gate", GATE, [barrier(0, 1), barrier(0, 2)], [BLOCK], None),
    "crashes": ("AsProtocol", "gate", GATE, [barrier(0, 1)], None, None),
    "is sent what it must not be": ("Allows", "gate", GATE, [END, barrier(0, 1)], [], None),
    "polled": ("AsProtocol", "gate", POLLED, [barrier(0, 1), RECORD, barrier(1, 1)], [BLOCK], None),
    "storing": (
        "ALIGN-23",
        "gate",
        {**POLLED, "profile": "flink-1.9"},
        [barrier(0, 1), RECORD, barrier(1, 1)],
        [],
        None,
    ),
    "at least once": ("TRACK-01", "gate", gate("at-least-once"), [barrier(0, 1)], [BLOCK], None),
    "unaligned": ("UNAL-01", "gate", gate("unaligned"), [UNALIGNED], [checkpoint("trigger", 1)], None),
    "first decides": ("AsProtocol", "gate", gate("alternating", "flink-1.12"), [barrier(0, 1)], [], None),
    "two threads": (
        "UNAL-30",
        "gate",
        gate("unaligned", "flink-1.11"),
        [{**UNALIGNED, "kind": "receive_barrier"}],
        [],
        None,
    ),
    "channel": (
        "UNAL-32",
        "channel",
        {},
        [effect("emit", value=7), checkpoint("send_barrier", 1, alignment="unaligned")],
        [checkpoint("store_output", 1, records=[])],
        None,
    ),
    "subtask": (
        "TASK-01",
        "subtask",
        {},
        [checkpoint("checkpoint", 1)],
        [checkpoint("snapshot", 1), checkpoint("broadcast_barrier", 1)],
        None,
    ),
    "coordinator": (
        "COORD-02",
        "coordinator",
        {"tasks": [TASK]},
        [*RUNS, effect("trigger", type="checkpoint")],
        [],
        None,
    ),
    "store": ("SUB-07", "store", {"retain": 1, "profile": "2.3"}, ADDS, [], {"completed": [1, 2]}),
    "sink": ("SINK-02", "sink", {}, [checkpoint("snapshot", 0)], [effect("begin", transaction=2)], None),
    "offsets": ("OFFSET-03", "offsets", {"remembered": 2}, FILED, [COMMIT], {"committed": [1, 9]}),
    "source": ("TASK-21", "source", {}, [checkpoint("trigger", 1)], [], None),
}


@pytest.mark.parametrize("case", CASES)
def test_tlc_replays_a_divergence_and_names_the_violated_rule(case, tmp_path):
    violated, *given = CASES[case]
    found = divergence(*given)
    _, module = write(found, "abc", "wrong 1", "./wrong", tmp_path)
    verdict, text = by_tlc(module)

    assert verdict is Verdict.DIVERGES
    assert text.startswith(f"DIVERGES  {violated}: ")
    assert ("where the specification says" in text) is (violated != "Allows")
    steps = text.split("\n\n")[1].splitlines()
    assert len([line for line in steps if line[:3].strip()]) == 1 + len(found.events) - (violated == "Allows")


def test_a_right_answer_passes_every_replay(tmp_path):
    found = divergence("gate", GATE, [barrier(0, 1)], [])
    _, module = write(replace(found, got=found.expected), "abc", "right 1", "./right", tmp_path)

    assert by_tlc(module)[0] is Verdict.CONFORMS


BOTHERED = [*RUNS, checkpoint("coordinator_done", 1, name="reader")]
NOT_IN_TLA = {
    "gates of mode alternating stand in TLA": ("gate", gate("alternating", "flink-1.13"), [barrier(0, 1)]),
    "counts whole items of 32768 bytes": (
        "gate", {**POLLED, "profile": "flink-1.9", "alignment_limit_bytes": 9}, [barrier(0, 1)]
    ),
    "no event shutdown": ("store", {"retain": 1}, [effect("shutdown", discard=True)]),
    "the scheduler, which Scheduler.tla describes": (
        "coordinator", {"tasks": [TASK], "interval_ms": 5}, RUNS
    ),
    "operator coordinators, which Trigger.tla describes": (
        "coordinator", {"tasks": [TASK], "operator_coordinators": ["reader"]}, BOTHERED
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", NOT_IN_TLA)
def test_a_divergence_that_no_module_describes_is_reported(why):
    component, config, events = NOT_IN_TLA[why]
    with pytest.raises(NotInTlaError, match=why):
        module_of(divergence(component, config, events, [effect("fail", error="x")]), "Any", "wrong 1")


def test_a_module_that_differs_from_the_model_is_undetermined(tmp_path):
    found = divergence("gate", GATE, [barrier(0, 1)], [])
    _, module = write(found, "abc", "wrong 1", "./wrong", tmp_path)
    text = module.read_text()
    assert text.count('ModelAnswers == <<<<"block", 0>>>>') == 1
    module.write_text(
        text.replace('ModelAnswers == <<<<"block", 0>>>>', 'ModelAnswers == <<<<"block", 1>>>>')
    )

    verdict, told = by_tlc(module)
    assert verdict is Verdict.UNDETERMINED
    assert told.startswith("UNDETERMINED  AsModel: ")


def test_all_three_replays_show_the_divergence_of_conform(little_adapter, tmp_path, capsys):
    adapter = little_adapter("gate_forgets_subsumption")
    assert (
        cli.run(["conform", "--adapter", adapter, "--examples", "2", "--out", str(tmp_path)]) == Exit.DIVERGES
    )
    assert len(list(tmp_path.glob("test_*.py"))) == 1  # test_command.py runs this test
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
