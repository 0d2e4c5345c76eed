"""Snapshots of earlier releases: keys with unchanged bytes are read, others are refused."""

import pickle
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import count
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from impl.state import (
    CheckpointStorage,
    HeapKeyedStateBackend,
    KeyedContext,
    KeyEncodingError,
    encode,
    pack,
    sections_of,
)
from impl.state.backends.key_bytes import key_bytes
from impl.state.backends.key_encoding_versions import SECTION
from impl.state.backends.key_groups import key_group, stable_hash
from impl.state.backends.rocksdb import RocksDbKeyedStateBackend

FRESH = count()


class Word(str, Enum):  # noqa: UP042 - what users have
    RED = "red"


class Speaking:
    """Has a `repr` with its values, which encoding 1 accepted as a key."""

    def __repr__(self):
        return "Speaking()"


@dataclass(frozen=True)
class Noted:
    city: str
    note: str = field(default="", compare=False)


EARLIER = [  # keys and their hashes by encoding 1
    (0, 8819422),
    (1, 745532),
    (-1, 6290108),
    (2**61 - 1, 8819422),
    (2**63, 16567881),
    (10**30, 11720392),
    ("", 0),
    ("UA", 7059954),
    ("\u00e9", 7617013),
    ("\ud800", 11705880),
    (b"", 15290475),
    (b"it's", 12580232),
    (b'"', 11643069),
    (b"\x00\xff", 2255098),
    ((), 11586812),
    ((1, "a"), 10359807),
    (("UA", ("x", b"y"), None), 15684085),
    (None, 1010574),
    (True, 745532),
    (1.5, 5202743),
    (float("inf"), 769475),
    (frozenset(["a", 1]), 7307508),
    (Decimal("0.1"), 2530533),
    (Fraction(1, 3), 10518484),
    (date(2013, 1, 1), 15817627),
    (datetime(2013, 1, 1, 5), 282974),
    (datetime(2013, 1, 1, 5, 0, 0, 7, tzinfo=UTC), 477870),
    (timedelta(1, 2, 3), 7985252),
    (time(1, 2), 16745616),
    (UUID(int=7), 8258685),
]
NEW_YORK = datetime(2020, 1, 1, 7, tzinfo=ZoneInfo("America/New_York"))
MOVED = [(NEW_YORK, 110), (Word.RED, 5)]
"""Keys, and the group of 128 that encoding 1 has put them into, where equal keys of other types were not."""


@pytest.mark.parametrize(("key", "hashed"), EARLIER, ids=map(str, range(len(EARLIER))))
def test_keys_of_earlier_releases_stay_in_their_groups(key, hashed):
    assert stable_hash(key) == hashed


def of_earlier_release(sections):
    """The sections of a snapshot in the form in which encoding 1 wrote them."""
    return sections_of(pack({name: part for name, part in sections.items() if name != SECTION}), "chk-1/it")


def heap_of_earlier_release(groups_and_keys):
    table = {key: number for number, (key, _) in enumerate(groups_and_keys)}
    groups = np.array([group for _, group in groups_and_keys], np.uint16)
    part = encode({"seen": ("value", table, groups)})
    return sections_of(pack({"keyed/0-127": part}), "chk-1/count-0.1.state")


def test_memory_continues_from_an_earlier_release_with_unchanged_keys():
    known = {key: key_group(key, 128) for key, _ in EARLIER}
    backend = HeapKeyedStateBackend()
    backend.restore([heap_of_earlier_release([*known.items()])])
    assert [backend.value_state("seen").get(key) for key in known] == [*range(len(known))]


@pytest.mark.parametrize(("key", "group"), [*MOVED, (Speaking(), 7), (Noted("a"), 7)])
def test_memory_refuses_an_earlier_release_with_moved_or_invalid_keys(key, group):
    with pytest.raises(
        KeyEncodingError, match=r"count-0\.1\.state#keyed/0-127 was written by an earlier release"
    ):
        HeapKeyedStateBackend().restore(
            [heap_of_earlier_release([("UA", key_group("UA", 128)), (key, group)])]
        )


@pytest.fixture
def rocksdb(tmp_path):
    storage = CheckpointStorage(tmp_path)
    opened = []

    def open_one():
        folder = storage.working(f"keys-{next(FRESH)}", 1)
        opened.append(RocksDbKeyedStateBackend(KeyedContext(), folder, storage.shared, 1))
        return opened[-1]

    yield open_one
    for backend in opened:
        backend.close()


def test_rocksdb_continues_from_an_earlier_release_with_keys_of_the_usual_types(rocksdb):
    backend = rocksdb()
    values, fields = backend.value_state("v"), backend.map_state("m")
    usual = [key for key, _ in EARLIER if isinstance(key, int | str | bytes | tuple | float | frozenset)]
    for number, key in enumerate(usual):
        values.put(key, number)
        fields.put(key, key, number)
    snapshot = of_earlier_release(backend.snapshot(1)())
    again = rocksdb()
    again.restore([snapshot])
    assert [again.value_state("v").get(key) for key in usual] == [values.get(key) for key in usual]
    assert [again.map_state("m").get(key, key) for key in usual] == [values.get(key) for key in usual]


@pytest.mark.parametrize("place", ["key", "part of a key", "field"])
def test_rocksdb_refuses_an_earlier_release_with_pickled_keys(rocksdb, place):
    packed = pickle.dumps(np.int64(1))
    written = b"p" + len(packed).to_bytes(4, "big") + packed
    tupled = b"t" + len(written).to_bytes(4, "big") + written
    backend = rocksdb()
    key = {"key": written, "part of a key": tupled, "field": key_bytes("UA")}[place]
    prefix = key_group("UA", 128).to_bytes(2, "big") + b"\0\0"
    if place == "field":
        backend.map_state("m")
        backend._table.put(prefix + key + written, pickle.dumps(1))
    else:
        backend.value_state("v")
        backend._table.put(prefix + key, pickle.dumps(1))
    snapshot = of_earlier_release(backend.snapshot(1)())
    with pytest.raises(KeyEncodingError, match="chk-1/it was written by an earlier release, which kept some"):
        rocksdb().restore([snapshot])


@pytest.mark.parametrize("kind", ["memory", "RocksDB"])
def test_a_snapshot_of_a_later_encoding_is_refused(rocksdb, kind):
    make = HeapKeyedStateBackend if kind == "memory" else rocksdb
    sections = {**make().snapshot(1)(), SECTION: encode(3)}
    with pytest.raises(
        KeyEncodingError, match="expected keys of an encoding up to 2, got 3; restore it with"
    ):
        make().restore([sections_of(pack(sections), "chk-1/it")])
