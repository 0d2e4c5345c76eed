"""The frame of an event states which fields may change, and which effects may follow in which order."""

from typing import NamedTuple

import pytest

from model.event_frames import Frame
from model.events import Effects
from model.gate.aligned import Gate, new_gate
from model.gate.events import Block, Resume, Trigger
from model.properties import PROPERTIES
from model.registry import FRAME_OF
from model.steps import HANDLERS

GATE = new_gate(2, True)


class Inbox(NamedTuple):
    gate: Gate
    waiting: tuple[int, ...] = ()


@pytest.mark.parametrize(
    ("effects", "permitted"),
    [((), False), ((Block(0),), True), ((Block(0), Trigger(1), Resume(0), Resume(1)), True),
     ((Trigger(1), Block(0)), False), ((Block(0), Resume(0)), False)],
)  # fmt: skip
def test_effects_come_in_the_order_of_the_frame(effects: Effects, permitted: bool):
    assert Frame("ALIGN-01", "", "block (trigger resume*)?").holds(GATE, effects, GATE) is permitted


@pytest.mark.parametrize(
    ("changes", "permitted"),
    [("", False), ("gate", True), ("gate.current", True), ("gate.pending", False), ("waiting", False)],
)
def test_only_the_fields_of_the_frame_change(changes: str, permitted: bool):
    before = Inbox(GATE)
    after = Inbox(GATE._replace(current=3))

    assert Frame("ALIGN-01", changes).holds(before, (), after) is permitted


def test_a_component_with_frames_has_one_for_each_event():
    framed: dict[str, set[str]] = {}
    for known in PROPERTIES:
        if known.is_frame:
            framed.setdefault(known.component, set()).add(known.name.removeprefix(FRAME_OF))

    assert framed
    for component, names in framed.items():
        if component in HANDLERS:
            assert names == {event.__name__ for event in HANDLERS[component]}
