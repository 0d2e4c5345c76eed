"""Snapshots: what is torn, truncated or altered is refused, and the error says what to do."""

import pickle

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.state import KeyedStateBackend, SnapshotCorruptError, StateError, decode, encode
from impl.state.snapshot import HEADER_SIZE, checksum

STATE = {"count": {"JFK": 3, "LGA": 4}}


def test_state_comes_back_as_it_was():
    assert decode(encode(STATE), "f") == STATE


def test_a_table_comes_back_as_arrow():
    table = pa.table({"carrier": ["UA", "AA"], "flights": [1, 2]})
    assert decode(encode(table), "f") == table


@pytest.mark.rule("ONCE-04")
@given(st.data())
def test_a_single_flipped_bit_is_noticed_wherever_it_is(data):
    snapshot = bytearray(encode(STATE))
    position = data.draw(st.integers(0, len(snapshot) * 8 - 1))
    snapshot[position // 8] ^= 1 << position % 8
    with pytest.raises(SnapshotCorruptError):
        decode(bytes(snapshot), "f")


@pytest.mark.rule("ONCE-04")
def test_every_truncation_is_noticed():
    snapshot = encode(STATE)
    for length in range(len(snapshot)):
        with pytest.raises(SnapshotCorruptError):
            decode(snapshot[:length], "f")


def test_what_was_appended_is_noticed():
    with pytest.raises(SnapshotCorruptError, match="bytes of payload"):
        decode(encode(STATE) + b"\0", "f")


def test_the_error_names_the_file_what_was_expected_and_what_to_do():
    snapshot = encode(STATE)[:-3]
    expected = len(encode(STATE)) - HEADER_SIZE
    with pytest.raises(SnapshotCorruptError) as caught:
        decode(snapshot, "chk-7/count-0.2.state")
    assert str(caught.value) == (
        f"chk-7/count-0.2.state: expected {expected} bytes of payload, came {expected - 3}; "
        "delete this checkpoint and restore an older one"
    )
    assert pickle.loads(pickle.dumps(caught.value)).file == "chk-7/count-0.2.state"


def test_a_snapshot_of_a_later_version_is_refused():
    prefix, payload = bytearray(encode(STATE)[:16]), encode(STATE)[HEADER_SIZE:]
    prefix[5] = 2
    with pytest.raises(SnapshotCorruptError, match="expected version 1 and a codec"):
        decode(bytes(prefix) + checksum(bytes(prefix), payload) + payload, "f")


@pytest.mark.rule("ONCE-01")
def test_what_is_processed_after_the_snapshot_is_not_in_it():
    backend = KeyedStateBackend()
    seen = backend.value_state("seen")
    seen.put("JFK", ["UA1"])
    snapshot = backend.snapshot()
    seen.get("JFK", []).append("UA2")
    seen.put("LGA", ["UA3"])
    other = KeyedStateBackend()
    kept = other.value_state("seen")
    kept.put("EWR", ["UA0"])
    other.restore(snapshot, "f")
    assert dict(kept.items()) == {"JFK": ["UA1"]}
    assert len(seen) == 2
    seen.remove("LGA")
    seen.remove("LGA")
    assert dict(seen.items()) == {"JFK": ["UA1", "UA2"]}


def test_keyed_state_is_restored_only_from_keyed_state():
    with pytest.raises(StateError, match="expected keyed state, a dict of dicts, came list"):
        KeyedStateBackend().restore(encode([1, 2]), "f")
