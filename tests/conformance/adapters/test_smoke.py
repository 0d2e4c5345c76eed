"""`barrierspec smoke` passes for adapters that follow the protocol, and each of its checks can fail."""

import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.adapters.choose import ours
from conformance.adapters.in_process import ModelAdapter
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Applied, Errored, Made, Offer
from conformance.adapters.validation import NAMES
from conformance.commands.implementations import schema
from conformance.commands.implementations import smoke as command
from conformance.drive.smoke import STRAY, smoke
from conformance.generators.generate import COMPONENTS
from model.components import COMPONENTS as MODELS

ADAPTERS = Path(__file__).parents[2] / "adapters"
STORE = {"store": MODELS["store"]}


def failing(adapter):
    """The failing checks by name, each with its reason."""
    return {check.name: check.wrong for check in smoke(adapter) if check.wrong is not None}


@pytest.mark.parametrize("name", ["model", "impl"])
def test_an_adapter_of_the_protocol_passes_for_every_component(name):
    checks = list(smoke(ours(name)))
    assert [check for check in checks if check.wrong is not None] == []
    assert {check.subject for check in checks} == {"hello", *COMPONENTS}


def test_a_wrong_gate_with_valid_frames_fails_only_the_check_of_behaviour():
    with ProcessAdapter([sys.executable, str(ADAPTERS / "gate_forgets_subsumption.py")]) as adapter:
        wrong = failing(adapter)
    assert list(wrong) == ["answers like the model in 100 random cases"]
    assert "ALIGN-03" in wrong["answers like the model in 100 random cases"]


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("crash", "exit code 3; stderr: the engine has run hot"),
        ("hang", "no answer within 0.5 s; stderr: waiting for a lock"),
        ("wrong-seq", "seq: expected"),
        ("swapped", "seq: expected"),
        ("malformed", "expected one JSON object a line"),
        ("short", "effects: expected a list of 1 lists"),
        ("chatty", "expected one JSON object a line"),
        ("unsupported", "no instance of anything"),
        ("deaf", "no answer within 1 s"),
    ],
)
def test_violations_of_the_frame_format_are_reported(how, says):
    with ProcessAdapter([sys.executable, str(ADAPTERS / "misbehaving.py"), how], 0.5) as adapter:
        wrong = failing(adapter)
    assert any(says in why for why in wrong.values()), wrong


class Remembers(ModelAdapter):
    """Defect: `new` keeps the previous instance."""

    def new(self, component, config):
        kept = self._instance
        made = super().new(component, config)
        if kept is not None and isinstance(made, Made):
            self._instance = kept
        return made


class Merges(ModelAdapter):
    """Defect: all effects of a batch are in the answer to its first event."""

    def apply(self, events):
        answer = super().apply(events)
        if isinstance(answer, Applied) and len(events) > 1:
            everything = [effect for effects in answer.effects for effect in effects]
            answer = answer._replace(effects=[everything, *([] for _ in events[1:])])
        return answer


class Swallows(ModelAdapter):
    """Defect: an unknown event has no effect, instead of an error."""

    def apply(self, events):
        if STRAY in events:
            return Applied([[] for _ in events], {})
        return super().apply(events)


class Loses(ModelAdapter):
    """Defect: an unknown event is refused, but the state before it is lost."""

    def new(self, component, config):
        self.made = (component, config)
        return super().new(component, config)

    def apply(self, events):
        answer = super().apply(events)
        if isinstance(answer, Errored):
            super().new(*self.made)
            return Errored(answer.what, at=0)
        return answer


class Renames(ModelAdapter):
    """Defect: the answers use names that the protocol does not have."""

    def apply(self, events):
        answer = super().apply(events)
        if isinstance(answer, Applied):
            answer = answer._replace(effects=[[{"kind": "throw_away"}] for _ in events])
        return answer


class Offers(ModelAdapter):
    """Defect: the adapter offers a generation that does not exist."""

    def hello(self):
        return super().hello()._replace(components={"store": Offer((), ("0.9",), ())})


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Remembers, "gives the same answers to the same events"),
        (Merges, "answers a batch like its single events"),
        (Swallows, "refuses an unknown event, and continues"),
        (Loses, "refuses an unknown event, and continues"),
        (Loses, "gives the position of a refused event in its batch"),
        (Renames, "answers use the names of the protocol"),
        (Offers, "offers modes, profiles and levels that exist"),
    ],
)
def test_every_check_can_fail(kind, name):
    assert name in failing(kind(STORE))


def test_the_command_prints_the_failure_and_ends_with_1():
    gate = shlex.join([sys.executable, str(ADAPTERS / "gate_forgets_subsumption.py")])
    ran = CliRunner().invoke(command.command, ["--adapter", gate], standalone_mode=False)
    assert ran.return_value == 1
    assert "FAILS  gate         7 of 8 checks" in ran.output
    assert "DIVERGES   1 of 11 checks" in ran.output
    ran = CliRunner().invoke(command.command, ["--adapter", "impl"], standalone_mode=False)
    assert ran.return_value == 0
    assert "next    barrierspec conform --adapter impl" in ran.output


def test_schemas_are_printed_by_name():
    names = CliRunner().invoke(schema.command, [], standalone_mode=False)
    assert names.output.split() == [*NAMES, "findings", "mutants", "sarif", "verification"]
    gate = CliRunner().invoke(schema.command, ["gate"], standalone_mode=False)
    assert '"$defs"' in gate.output
    assert CliRunner().invoke(schema.command, ["door"]).exit_code == 2
