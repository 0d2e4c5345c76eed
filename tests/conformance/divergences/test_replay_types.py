"""TLC replays answers of a wrong type as divergences, also where TLA+ writes two values alike."""

import re

import pytest

from conformance.drive.oracle import Oracle
from conformance.drive.replays import by_tlc, write
from conformance.vectors.tla.module import Module, module_of, replay
from conformance.verdict import Verdict
from spec import tlc
from spec.tool_output import TlcError
from tests.conformance.divergences.test_replays import GATE, barrier, checkpoint, divergence, effect, gate

BEGUN = [barrier(0, 1)]
OVERTAKING = gate("unaligned")
UNALIGNED = [{**barrier(0, 1), "alignment": "unaligned"}]
PERSISTS = [*UNALIGNED, {"kind": "record", "channel": 1, "value": "a"}]
POLLED = {**OVERTAKING, "level": "polled"}
ADD = [checkpoint("add", 1, type="checkpoint")]
SNAPSHOT = [checkpoint("snapshot", 1)]

EFFECTS = {
    "a text for an int": {"kind": "block", "channel": "0"},
    "a float for an int": {"kind": "block", "channel": 0.0},
    "a truth value for an int": {"kind": "block", "channel": False},
    "null for an int": {"kind": "block", "channel": None},
    "a list for an int": {"kind": "block", "channel": [0]},
    "an object for an int": {"kind": "block", "channel": {"id": 0}},
    "an int beyond those of TLC": {"kind": "block", "channel": 2**40},
    "a channel that there is not": {"kind": "block", "channel": 99},
    "a field that is missing": {"kind": "block"},
    "a field more": {"kind": "block", "channel": 0, "why": "x"},
    "a field of another name": {"kind": "block", "task": 0},
    "a kind that there is not": {"kind": "stop"},
    "a kind that is no text": {"kind": 7},
}
STATES = {
    "a text for an int": {"current": "1"},
    "null for an int": {"current": None},
    "a float for an int": {"current": 1.0},
    "an int for a truth value": {"pending": 1},
    "a text for a truth value": {"pending": "true"},
    "a text for a list": {"blocked": "0"},
    "texts in a list": {"blocked": ["0"]},
    "a list that repeats": {"blocked": [0, 0]},
    "an object for a list": {"blocked": {"0": True}},
    "an int for a list": {"closed": 0},
}
OTHERS = {
    "an empty store has no id -1": (
        "store", {"retain": 1}, [effect("latest")], [checkpoint("latest", -1)], None
    ),
    "a flag that may be left out is not false": (
        "gate", gate("unaligned", "flink-1.12"), BEGUN,
        [checkpoint("start_persisting", 1), checkpoint("trigger", 1, unaligned=False)], None,
    ),
    "a list is not its text": (
        "gate", POLLED, PERSISTS, [effect("persist", channel=1, value=["a"])], None
    ),
    "a list in the order of adding": ("store", {"retain": 1}, ADD, [], {"completed": ["1"]}),
    "a pair is not its text": ("sink", {}, SNAPSHOT, None, {"pending": "[[1, 1]]"}),
    "a transaction is an int": ("sink", {}, SNAPSHOT, None, {"open": "2"}),
    "no transaction is null": ("sink", {}, [effect("finish"), *SNAPSHOT], None, {"open": False}),
    "ids are ints": ("source", {"external": "reader"}, [checkpoint("trigger", 1)], None, {"told": [True]}),
    "a task has a state": ("subtask", {}, [checkpoint("checkpoint", 1)], None, {"running": "1"}),
    "offsets are a pair": (
        "offsets", {}, [checkpoint("snapshot", 1, offsets=4)], None, {"remembered": {"1": 4}}
    ),
    "a queue is a list": ("channel", {}, [effect("emit", value=7)], None, {"output": "7"}),
    "a record is not its text": (
        "channel", {}, [effect("emit", value=7)], None, {"output": [["record", "7"]]}
    ),
    "a status is no other": (
        "coordinator", {"tasks": [{"id": "a", "source": True}]}, [effect("job_status", status="FAILED")],
        None, {"status": "CANCELED"},
    ),
    "a next id is an int": (
        "coordinator", {"tasks": [{"id": "a", "source": True}]}, [effect("job_status", status="RUNNING")],
        None, {"next_id": "1"},
    ),
}  # fmt: skip
CASES = {
    **{f"effect: {name}": ("gate", GATE, BEGUN, [one], None) for name, one in EFFECTS.items()},
    **{
        f"state: {name}": ("gate", GATE, BEGUN, [{"kind": "block", "channel": 0}], one)
        for name, one in STATES.items()
    },
    **OTHERS,
}


def found(component, config, events, said, seen):
    if said is None:  # the model's effects
        said = list(Oracle(component, config).transcript(events)[-1].effects)
    return divergence(component, config, events, said, seen)


@pytest.mark.parametrize("case", OTHERS)
def test_tlc_replays_it_as_a_divergence(case, tmp_path):
    one = found(*CASES[case])
    _, module = write(one, "abc", "wrong 1", "./wrong", tmp_path)
    verdict, text = by_tlc(module)

    assert verdict is Verdict.DIVERGES, text
    assert text.startswith("DIVERGES  ")


GATES = [case for case in CASES if case not in OTHERS]
DIFFER = r"""---- MODULE Differ ----
EXTENDS AlignedModel
VARIABLES replayed, due, case
{instances}
Each == case \in {cases} /\ Init /\ replayed = 0 /\ due = <<>>
Step == case' = case /\ CASE {steps}
Trace == Each /\ [][Step]_<<vars, replayed, due, case>>
AsAllowed == CASE {allowed}
Agrees(expected) == gate' = expected.gate /\ Tail(out') = expected.out
Differs == [][LET event == <<"barrier", 0, 1>> IN CASE {differs}]_<<vars, replayed, due, case>>
====
"""
"""A module that includes the modules of all gates. The initial state decides which one TLC replays."""


@pytest.fixture(scope="module")
def differ():
    """The result of TLC for the modules of all gates: each event is allowed, and each answer differs."""
    modules = {
        number: module_of(found(*CASES[one]), f"Gate_{number}", "") for number, one in enumerate(GATES)
    }

    def each(text):
        return " [] ".join(f"case = {one} -> {text.replace('C!', f'C{one}!')}" for one in modules)

    text = DIFFER.format(
        instances="\n".join(f"C{one} == INSTANCE {module.name}" for one, module in modules.items()),
        cases=f"{{{', '.join(map(str, modules))}}}",
        steps=each("C!TraceNext"),
        allowed=each(r"C!Allows /\ C!AsModel"),
        differs=each(r"C!Recorded = <<event>> /\ ~Agrees(C!Expected(event))"),
    )
    configurations = {module.cfg.partition("INVARIANTS")[0] for module in modules.values()}
    constants = "".join(configurations).partition("CONSTANTS")[2]
    assert len(configurations) == 1
    cfg = f"SPECIFICATION Trace\nCONSTANTS{constants}INVARIANT AsAllowed\nPROPERTY Differs\n"
    with tlc.specification() as folder:
        for module in (Module("Differ", text, cfg), *modules.values()):
            (folder / f"{module.name}.tla").write_text(module.tla, "utf-8")
        return tlc.run(tlc.Job("Differ", "Differ", cfg), folder)


@pytest.mark.parametrize("case", GATES)
def test_tlc_replays_a_gate_as_a_divergence(case, differ):
    agrees = [GATES[step.state["case"]] for step in differ.trace[-1:]]
    assert differ.violated is None, agrees or case
    assert differ.states == 2 * len(GATES)


def test_each_answer_that_differs_is_another_module():
    said = {}
    for name, one in CASES.items():
        module = module_of(found(*one), "Any", "wrong 1")
        assert said.setdefault(f"{one[:3]} {module.tla}", name) == name


# ---------------------------------------------------------------- rules that cannot be evaluated

RIGHT = ("gate", GATE, BEGUN, [{"kind": "resume", "channel": 0}], None)


def altered(tmp_path, answered, *, rules=None):
    """A replay of an older version, which contains the answer as it came, although its type is wrong."""
    _, file = write(found(*RIGHT), "abc", "wrong 1", "./wrong", tmp_path)
    text = file.read_text()
    changed = re.sub(r"(?m)^Answered == .*$", f"Answered == {answered}", text)
    assert changed != text
    file.write_text(changed)
    if rules is not None:
        file.with_suffix(".cfg").write_text(rules(file.with_suffix(".cfg").read_text()))
    return file


def test_a_rule_that_cannot_be_evaluated_is_named_and_leaves_it_open(tmp_path):
    verdict, text = by_tlc(altered(tmp_path, '<<<<"block", "0">>>>'))

    assert verdict is Verdict.UNDETERMINED
    assert "not checked, because TLC cannot evaluate it on this answer: " in text
    assert "AsProtocol" in text
    assert "CONFORMS" not in text


def test_another_divergence_stays_and_the_rule_is_named(tmp_path):
    def more(rules):
        return rules.replace("PROPERTIES\n", "PROPERTIES\n    Unreadable\n")

    file = altered(tmp_path, '<<<<"block", 1>>>>', rules=more)
    text = file.read_text()
    unreadable = 'Unreadable == [][out\'[2][2] = "0"]_<<vars, replayed>>\n'
    head, end = text.rstrip().rsplit("\n", 1)
    file.write_text(f"{head}\n{unreadable}{end}\n")
    verdict, told = by_tlc(file)

    assert verdict is Verdict.DIVERGES
    assert "not checked, because TLC cannot evaluate it on this answer: Unreadable" in told


@pytest.mark.parametrize("name", ["-h", "AlignedModel", "Gate", "a b", "..", "1"])
def test_a_module_with_an_unsafe_name_is_not_passed_to_tlc(name):
    with pytest.raises(TlcError, match="module"):
        replay(Module(name, "", ""))
