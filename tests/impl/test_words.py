"""Events and effects on the wire: they survive writing and reading, and other input is refused."""

import inspect
import json
from importlib import import_module
from typing import get_type_hints

import pytest

from impl.core import COMPONENTS, effects, events
from impl.core.component import Component
from impl.core.coordinator.events import Acknowledge, FailTasks
from impl.core.errors import ProtocolError
from impl.core.gate import unaligned_events
from impl.core.gate.events import Barrier
from impl.core.gate.polled_gate import Polled
from impl.core.sink.events import RestoreSink
from impl.core.store.events import AddCheckpoint
from impl.core.subtask.events import SendAcknowledge
from impl.core.wire import Word

SAMPLES = {
    int: 7,
    bool: True,
    str: "seven",
    object: ["any", "thing"],
    int | None: None,
    tuple[str, ...]: ("a", "b"),
}


def sample(declared):
    """A value of the declared type; for an enumeration its last member, which is no default."""
    return SAMPLES[declared] if declared in SAMPLES else list(declared)[-1]


def words(*modules) -> list[type[Word]]:
    found = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
    declared = [one for one in found if issubclass(one, Word) and "kind" in vars(one)]
    return sorted(declared, key=lambda word: (word.__module__, word.__name__))


MODULES = (
    effects, events, unaligned_events, *(import_module(f"impl.core.{name}.events") for name in COMPONENTS),
)  # fmt: skip


@pytest.mark.parametrize("word", words(*MODULES), ids=lambda word: f"{word.__module__}.{word.__name__}")
def test_every_word_survives_the_wire(word):
    it = word(*(sample(declared) for declared in word._declared.values()))
    wire = json.loads(json.dumps(it.wire()))
    assert wire["kind"] == word.kind
    assert word(*word.parse(wire)) == it
    with pytest.raises(Exception, match="unknown fields"):
        word.parse(wire | {"colour": "red"})


def test_a_field_with_a_default_is_left_out():
    assert Acknowledge("a", 3).wire() == {"kind": "acknowledge", "task": "a", "checkpoint": 3}
    assert Acknowledge("a", 3, "s").wire()["state"] == "s"
    assert Acknowledge.parse({"kind": "acknowledge", "task": "a", "checkpoint": 3})[2] is None


@pytest.mark.parametrize(
    ("word", "wire", "says"),
    [
        (Barrier, {"channel": 0}, "has no field checkpoint"),
        (Barrier, {"channel": 0, "checkpoint": "5"}, "checkpoint must be int, got '5'"),
        (Barrier, {"channel": True, "checkpoint": 5}, "channel must be int, got True"),
        (RestoreSink, {"checkpoint": "x"}, "checkpoint must be NoneType or int, got 'x'"),
        (FailTasks, {"tasks": [1]}, "tasks must be a list of strings"),
        (AddCheckpoint, {"checkpoint": 1, "type": "backup"}, "type must be one of"),
        (AddCheckpoint, {"checkpoint": 1, "type": ["stop"]}, "type must be one of"),
    ],
)
def test_input_that_does_not_fit_is_refused_with_the_reason(word, wire, says):
    with pytest.raises(Exception, match=says):
        word.parse({"kind": word.kind, **wire})


def components(owner: type[Component]) -> list[type[Component]]:
    """Every component below `owner` that declares its events. Polled gates only forward events."""
    below = [one for kind in owner.__subclasses__() for one in (kind, *components(kind))]
    return [one for one in below if hasattr(one, "_events") and not issubclass(one, Polled)]


@pytest.mark.parametrize("component", components(Component), ids=lambda one: one.__name__)
def test_each_event_is_a_method_that_takes_its_fields(component):
    for kind, event in component._events.items():
        method = getattr(component, kind)
        _, *taken = inspect.signature(method).parameters.values()
        hints = get_type_hints(method)
        declared = [get_type_hints(event)[name] for name in event._names]
        if taken and taken[-1].kind is inspect.Parameter.VAR_POSITIONAL:
            declared = declared[: len(taken) - 1]
            taken = taken[:-1]
        assert [hints[one.name] for one in taken] == declared, f"{component.__name__}.{kind}"


@pytest.mark.parametrize(
    ("component", "event"),
    [("subtask", Barrier(0, 5)), ("coordinator", RestoreSink(3)), ("channel", RestoreSink(3)),
     ("sink", SendAcknowledge(1))],
    ids=["unknown kind", "same kind", "same kind, other fields", "effect"],
)  # fmt: skip
def test_an_event_of_another_component_is_refused_and_changes_nothing(component, event):
    config = {"tasks": [{"id": "a", "source": True}]} if component == "coordinator" else {}
    one = COMPONENTS[component](config)
    before = one.observe()
    with pytest.raises(ProtocolError, match=f"takes the events .* got {type(event).__name__}"):
        one.handle(event)
    assert one.observe() == before


def test_a_word_cannot_be_changed():
    with pytest.raises(AttributeError):
        Barrier(0, 5).checkpoint = 6
