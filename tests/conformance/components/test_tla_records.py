"""A binding writes each state of a component as a TLA+ record, and reads the same state from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.components.channel import CHANNEL
from conformance.components.coordinator.projection import FAULTS, coordinator_record
from conformance.components.gate.aligned import GATE
from conformance.components.gate.unaligned import DECIDING, UNALIGNED
from conformance.components.offsets import READER
from conformance.components.registry import COMPONENTS
from conformance.components.sink import SINK
from conformance.components.source import SOURCE
from conformance.components.store import ENTRIES
from conformance.components.subtask import SUBTASK
from conformance.components.tla_records import FLAGS, IDS, OR_ZERO, Record, fields, words
from model.checker.explore import explore
from model.closed_models import closed_models
from spec.values import format_value, parse_value
from spec.vocabulary import vocabulary

RECORDS = {
    "gate": GATE,
    "unaligned": UNALIGNED,
    "channel": CHANNEL,
    "subtask": SUBTASK,
    "source": SOURCE,
    "sink": SINK,
    "offsets": READER,
}


def states(component):
    """Up to 1,500 states of each of the first two toured closed models of a component."""
    chosen = [closed for closed in closed_models() if closed.component == component and closed.toured][:2]
    return [(closed.state, state) for closed in chosen for state, _ in explore(closed).nodes[:1500]]


@pytest.mark.parametrize("component", RECORDS)
def test_a_state_survives_tla_and_back(component):
    record = RECORDS[component]
    names = [model for _, model, _ in record.fields]
    for start, state in states(component):
        there = record.write(state)
        again = record.read(parse_value(format_value(there)), start)
        assert [getattr(again, name) for name in names] == [getattr(state, name) for name in names]
        assert record.write(again) == there


def test_the_states_of_a_store_survive_tla_and_back():
    for _, state in states("store"):
        assert ENTRIES.read(parse_value(format_value(ENTRIES.write(state.entries))), ()) == state.entries


def test_pending_checkpoints_survive_tla_and_back():
    for start, state in states("coordinator"):
        record = coordinator_record(start, with_states=False)
        there = record.write(state._replace(fault=0))
        assert record.write(record.read(parse_value(format_value(there)), start)) == there


def test_a_gate_whose_first_barrier_decides_is_begun_where_it_is_pending():
    start, _ = states("unaligned")[0]
    assert DECIDING.read(DECIDING.write(start._replace(pending=True)), start).begun


@given(st.lists(st.booleans(), min_size=1, max_size=5), st.sets(st.integers(0, 9)), st.integers(-1, 5))
def test_every_spelling_is_read_as_it_was_written(flags, ids, number):
    for spelling, value in (
        (FLAGS, tuple(flags)),
        (IDS, tuple(sorted(ids))),
        (OR_ZERO, number or -1),
        (words(FAULTS), number % 4),
    ):
        assert spelling.read(spelling.write(value), value) == value


def test_a_field_that_tla_does_not_have_is_an_error():
    start, state = states("gate")[0]
    with pytest.raises(KeyError, match="nowhere"):
        Record(*fields(nowhere="current")).read(GATE.write(state), start)


def test_every_component_of_the_vocabulary_has_an_entry():
    assert list(COMPONENTS) == list(vocabulary())
