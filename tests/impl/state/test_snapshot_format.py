"""The format of snapshots: torn, truncated or altered bytes are refused, and the error states what to do."""

import pickle

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.state import Sections, SnapshotCorruptError, StateError, decode, encode, pack, sections_of
from impl.state.snapshot import HEADER_SIZE, Codec, checksum, verify

STATE = {"count": {"JFK": 3, "LGA": 4}}


def test_state_is_read_back_unchanged():
    assert decode(encode(STATE), "f") == STATE


def test_a_table_is_read_back_as_arrow():
    table = pa.table({"carrier": ["UA", "AA"], "flights": [1, 2]})
    assert decode(encode(table), "f") == table


@pytest.mark.rule("ONCE-04")
@given(st.data())
def test_a_flipped_bit_is_detected_at_every_position(data):
    snapshot = bytearray(encode(STATE))
    position = data.draw(st.integers(0, len(snapshot) * 8 - 1))
    snapshot[position // 8] ^= 1 << position % 8
    with pytest.raises(SnapshotCorruptError):
        decode(bytes(snapshot), "f")


@pytest.mark.rule("ONCE-04")
def test_every_truncation_is_detected():
    snapshot = encode(STATE)
    for length in range(len(snapshot)):
        with pytest.raises(SnapshotCorruptError):
            decode(snapshot[:length], "f")


def test_appended_bytes_are_detected():
    with pytest.raises(SnapshotCorruptError, match="bytes of payload"):
        decode(encode(STATE) + b"\0", "f")


def test_the_error_names_the_file_what_was_expected_and_what_to_do():
    snapshot = encode(STATE)[:-3]
    expected = len(encode(STATE)) - HEADER_SIZE
    with pytest.raises(SnapshotCorruptError) as caught:
        decode(snapshot, "chk-7/count-0.2.state")
    assert str(caught.value) == (
        f"chk-7/count-0.2.state: expected {expected} bytes of payload, got {expected - 3}; "
        "delete this checkpoint and restore an older one"
    )
    assert pickle.loads(pickle.dumps(caught.value)).file == "chk-7/count-0.2.state"


def test_a_snapshot_of_a_later_version_is_refused():
    prefix, payload = bytearray(encode(STATE)[:16]), encode(STATE)[HEADER_SIZE:]
    prefix[5] = 2
    with pytest.raises(SnapshotCorruptError, match="expected version 1 and a codec"):
        decode(bytes(prefix) + checksum(bytes(prefix), payload) + payload, "f")


SECTIONS = {"keyed/3": encode({"JFK": 3}), "keyed/4": encode({"LGA": 4}), "offset": encode(17)}


def test_sections_are_read_one_by_one():
    packed, asked = pack(SECTIONS), []

    def read_at(at, length):
        asked.append((at, length))
        return packed[at : at + length]

    snapshot = Sections("f", read_at)
    assert snapshot.names == tuple(SECTIONS)
    asked.clear()
    assert snapshot.read("keyed/4") == {"LGA": 4}
    assert [length for _, length in asked] == [len(SECTIONS["keyed/4"])]
    assert verify(packed, "f") is Codec.SECTIONS


@pytest.mark.rule("ONCE-04")
@given(st.data())
def test_a_flipped_bit_is_detected_when_sections_are_read_one_by_one(data):
    snapshot = bytearray(pack(SECTIONS))
    position = data.draw(st.integers(HEADER_SIZE * 8, len(snapshot) * 8 - 1))
    snapshot[position // 8] ^= 1 << position % 8
    with pytest.raises(SnapshotCorruptError):
        [sections_of(bytes(snapshot), "f").read(name) for name in SECTIONS]


def test_data_without_sections_is_refused_and_a_missing_section_is_named():
    with pytest.raises(StateError, match="expected the sections of a task, got a snapshot of codec PICKLE"):
        sections_of(encode(STATE), "f")
    with pytest.raises(StateError, match="expected one state"):
        decode(pack(SECTIONS), "f")
    with pytest.raises(StateError, match="expected a section 'sink', got keyed/3, keyed/4, offset"):
        sections_of(pack(SECTIONS), "f").read("sink")
