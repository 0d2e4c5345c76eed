"""Keys that are equal in a dict have the same bytes and the same key group. Other values are refused."""

import dataclasses
import operator
from collections import namedtuple
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, IntFlag
from fractions import Fraction
from itertools import count
from typing import ClassVar
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from impl.aggregation.rows import Aggregating
from impl.graph.plan import Partitioning, Route
from impl.jobs.numbers import Totals
from impl.spark.channels.partitioners import partitioner
from impl.spark.worker.processing import ProcessOperator
from impl.state import (
    CheckpointStorage,
    HeapKeyedStateBackend,
    KeyedContext,
    UnsupportedKeyError,
    pack,
    sections_of,
)
from impl.state.backends.key_bytes import key_bytes, key_of
from impl.state.backends.key_groups import stable_hash
from impl.state.backends.rocksdb import RocksDbKeyedStateBackend


class Colour(Enum):
    RED = 1
    BLUE = 2


class Word(str, Enum):  # noqa: UP042 - what users have
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Rights(Flag):
    READ = 1
    WRITE = 2


class Bits(IntFlag):
    READ = 1
    WRITE = 2


class Caseless(str):
    def __eq__(self, other):
        return self.lower() == str(other).lower()

    def __hash__(self):
        return hash(self.lower())


class Nameless:
    pass


class Speaking:
    """Has a `repr` with its values, and an equality that no backend can evaluate."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Speaking) and self.value % 10 == other.value % 10

    def __hash__(self):
        return self.value % 10

    def __repr__(self):
        return f"Speaking({self.value})"


Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass(frozen=True)
class Place:
    city: object
    number: object = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Site:
    city: object
    number: object = 0


@dataclasses.dataclass(frozen=True)
class Noted:
    city: str
    note: str = dataclasses.field(default="", compare=False)


@dataclasses.dataclass(frozen=True)
class Counted:
    city: object
    number: object = 0
    known: ClassVar[int] = 3


@dataclasses.dataclass(frozen=True)
class Doubled:
    city: object
    number: int

    def __post_init__(self):
        object.__setattr__(self, "number", self.number * 2)


@dataclasses.dataclass(frozen=True)
class Made:
    city: str
    of: dataclasses.InitVar[int] = 2


@dataclasses.dataclass(unsafe_hash=True)
class Changing:
    city: str


@dataclasses.dataclass(frozen=True)
class Own:
    city: str

    def __eq__(self, other):
        return isinstance(other, Own)

    def __hash__(self):
        return 0


ZONES = st.sampled_from(
    [
        None,
        UTC,
        ZoneInfo("UTC"),
        ZoneInfo("America/New_York"),
        ZoneInfo("Europe/Berlin"),
        timezone(timedelta(hours=2)),
        timezone(timedelta(hours=-5, seconds=1)),
    ]
)
SMALL = st.integers(-3, 3)
NUMBERS = (
    SMALL
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from([0.0, -0.0, 0.5, 0.1, 1e22, 10**22, 2.0**53, 2**53 + 1, float("inf"), -float("inf")])
    | st.decimals(allow_nan=False)
    | st.sampled_from([Decimal("1.0"), Decimal("0.50"), Decimal("0.1"), Decimal("-0"), Decimal("1E+22")])
    | st.fractions()
    | st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(1), Fraction(10**400, 3)])
    | st.sampled_from([*Level, *Bits, Bits(3), 2**13_999, -(2**13_999), 2**14_000])
    | SMALL.map(np.int64)
    | SMALL.map(np.int8)
    | st.integers(0, 3).map(np.uint64)
    | st.floats(allow_nan=False).map(np.float64)
    | st.booleans().map(np.bool_)
)
CLOCKS = (
    st.datetimes(timezones=ZONES)
    | st.datetimes(datetime(2020, 1, 1), datetime(2020, 1, 1, 3), timezones=ZONES, allow_imaginary=False)
    | st.builds(
        lambda hours, zone, fold: datetime(2020, 1, 1, hours, tzinfo=zone, fold=fold),
        st.integers(0, 5),
        ZONES,
        st.integers(0, 1),
    )
    | st.sampled_from([pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01", tz="UTC"), pd.Timestamp(1)])
    | st.sampled_from([pd.Timestamp(1, tz="America/New_York"), pd.Timestamp(1, tz="UTC")])
    | st.sampled_from([pd.Timedelta(1), pd.Timedelta(1000), timedelta(microseconds=1)])
    | st.dates()
    | st.dates(date(2020, 1, 1), date(2020, 1, 2))
    | st.times()
    | st.sampled_from([time(1), time(1, fold=1), timedelta(hours=1), timedelta(minutes=60)])
    | st.timedeltas()
)
TEXT = st.text(st.characters(codec=None, categories=None), max_size=3) | st.sampled_from(
    ["red", *Word, "\ud800", "a\0"]
)
BINARY = st.binary(max_size=3)
LEAVES = (
    st.none()
    | NUMBERS
    | TEXT
    | BINARY
    | CLOCKS
    | st.sampled_from([*Colour, *Rights, Rights(3), Rights(0)])
    | st.uuids()
    | st.just(UUID(int=7))
)
KEYS = st.recursive(
    LEAVES,
    lambda parts: (
        st.tuples(parts, parts)
        | st.builds(Pair, parts, parts)
        | st.builds(Place, parts, parts)
        | st.builds(Site, parts)
        | st.frozensets(parts, max_size=3)
    ),
    max_leaves=4,
)
FRESH = count()


def of_number(number):
    return [number, float(number), Decimal(number), Fraction(number), np.int64(number), np.float64(number)]


@st.composite
def pairs(draw):
    """Two keys, often equal keys of different types."""
    one = draw(KEYS)
    again = st.just(one)
    if isinstance(one, datetime) and one.tzinfo is not None:
        zone = draw(ZONES.filter(None.__ne__))
        with suppress(OverflowError):
            again = st.just(one.astimezone(zone))
    elif type(one) in (int, bool) and abs(one) < 2**53:
        again = st.sampled_from(of_number(one))
    elif type(one) is float and abs(one) < 1e300:
        again = st.sampled_from([Decimal(one), Fraction(one), np.float64(one)])
    elif type(one) is tuple and len(one) == 2:
        again = st.just(Pair(*one))
    return one, draw(again | KEYS)


def bytes_or_none(key):
    try:
        return key_bytes(key)
    except UnsupportedKeyError:
        with pytest.raises(UnsupportedKeyError):
            stable_hash(key)
        return None


@given(pairs())
@settings(max_examples=300)
@example((1, True))
@example((1, Decimal("1.0")))
@example((Fraction(1, 10), Decimal("0.1")))
@example((0.1, Decimal("0.1")))
@example((0.0, -0.0))
@example((datetime(2020, 1, 1, 12, tzinfo=UTC), datetime(2020, 1, 1, 7, tzinfo=ZoneInfo("America/New_York"))))
@example((Word.RED, "red"))
@example((Level.LOW, np.int64(1)))
@example((Pair(1, 2.0), (True, 2)))
@example((Place(1, 2.0), Place(True, Decimal(2))))
@example((datetime(2020, 1, 1), date(2020, 1, 1)))
@example((pd.Timestamp("2020-01-01"), datetime(2020, 1, 1)))
def test_keys_are_equal_in_a_dict_if_and_only_if_they_have_the_same_bytes(keys):
    one, other = keys
    first, second = map(bytes_or_none, keys)
    assume(first is not None and second is not None)

    equal = len({one, other}) == 1

    assert (first == second) == equal
    if "np." not in repr(keys):  # NumPy rounds when it compares: equal values have different hashes
        assert equal == (one == other)
    if equal:
        assert stable_hash(one) == stable_hash(other)
        assert stable_hash((one, 1)) == stable_hash((other, True)) == stable_hash((one, 1.0))
    assert not second.startswith(first) or equal
    back, rest = key_of(first + b"rest")
    assert (back, rest, key_bytes(back)) == (one, b"rest", first)
    assert hash(back) == hash(one)


@given(st.lists(pairs(), max_size=6))
@settings(max_examples=50)
def test_both_backends_unite_and_separate_the_same_keys(tmp_path_factory, several):
    keys = [key for both in several for key in both if bytes_or_none(key) is not None]
    assume(not ("Decimal" in repr(keys) and ("np.int" in repr(keys) or "np.uint" in repr(keys))))
    storage = CheckpointStorage(tmp_path_factory.getbasetemp() / "checkpoints")
    folder = storage.working(f"keys-{next(FRESH)}", 1)
    rocksdb = RocksDbKeyedStateBackend(KeyedContext(), folder, storage.shared, 1)
    heap = HeapKeyedStateBackend()
    try:
        for backend in (rocksdb, heap):
            values, maps = backend.value_state("v"), backend.map_state("m")
            for number, key in enumerate(keys):
                values.put(key, (values.get(key, (0, 0))[0] + 1, number))
                maps.put("one", key, number)
        assert dict(rocksdb.value_state("v").items()) == dict(heap.value_state("v").items())
        assert rocksdb.map_state("m").entries("one") == heap.map_state("m").entries("one")
        restored = HeapKeyedStateBackend()
        restored.restore([sections_of(pack(heap.snapshot(1)()), "count-0")])
        assert dict(restored.value_state("v").items()) == dict(heap.value_state("v").items())
    finally:
        rocksdb.close()


def test_python_does_not_compare_a_decimal_with_an_integer_of_numpy():
    """`docs` names this limit. If this test fails, Python no longer has it."""
    with pytest.raises(TypeError, match="argument must be an integer"):
        {Decimal(0): 1}.get(np.int64(0))


@pytest.mark.parametrize("key", [Counted("a", 1), Doubled("a", 1), (Doubled(Counted("a"), 3), 1)])
def test_a_dataclass_is_read_back_equal_with_any_extra_of_its_class(key):
    back, rest = key_of(key_bytes(key))
    assert (back, rest) == (key, b"")
    assert key_bytes(back) == key_bytes(key)


REFUSED = [
    (float("nan"), "it is not equal to itself"),
    (Decimal("NaN"), "it is not equal to itself"),
    (Decimal("sNaN"), "it is not equal to itself"),
    (np.float64("nan"), "it is not equal to itself"),
    (Decimal("1E+20000"), "its exponent is beyond 10000; use its text"),
    (1j, "only one process knows its equality; select a string, a number or a tuple"),
    (np.float32(0.1), "depends on rounding or padding; use key.item"),
    (np.str_("a"), "depends on rounding or padding; use key.item"),
    (np.datetime64("2020-01-01"), "depends on rounding or padding; use key.item"),
    (Nameless(), "only one process knows its equality"),
    (Speaking(1), "only one process knows its equality"),
    (Caseless("a"), "it is a str with an equality of its own"),
    (Noted("a", "b"), "it has fields that do not count for its equality"),
    (Made("a"), "it has fields that do not count for its equality, or that it is not made of"),
    (Changing("a"), "it is a dataclass that can be changed; declare it with frozen=True"),
    (Own("a"), "it is a dataclass with an equality of its own"),
    (Place("a", float("nan")), "it is not equal to itself"),
    (datetime(2020, 11, 1, 1, 30, tzinfo=ZoneInfo("America/New_York")), "its clock is set back or forward"),
    (datetime(2020, 3, 8, 2, 30, tzinfo=ZoneInfo("America/New_York")), "its clock is set back or forward"),
    (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))), "in UTC it is outside the years 1 to 9999"),
    (time(1, tzinfo=UTC), "a time of day in a time zone is a different time on other dates"),
    (Enum("Local", "A B").A, "other processes cannot import its class; define the class"),
    ([1], "it can be changed, so it has no hash; select a tuple of its values"),
    ({"a": 1}, "it can be changed, so it has no hash; select a tuple of its values"),
    (memoryview(b"x"), "only one process knows its equality"),
]


@pytest.mark.parametrize(("key", "why"), REFUSED, ids=lambda one: type(one).__name__)
def test_an_invalid_key_is_refused_everywhere_with_what_to_do(key, why):
    for refused in (stable_hash, key_bytes):
        for one in (key, ("a", key)):
            with pytest.raises(UnsupportedKeyError, match=why):
                refused(one)
    for channels in (
        [0],
        [0, 1],
    ):  # a single subtask sends keys nowhere, and must refuse them as well
        with pytest.raises(UnsupportedKeyError, match=why):
            through(channels, [(key, 1)])


def through(channels, rows):
    """Rows on their way to a keyed aggregate."""
    names = tuple(f"x-{one}" for one in channels)
    route = Route(names, Partitioning.HASH, operator.itemgetter(0))
    subtasks = [
        ProcessOperator(Aggregating(Totals()), {0: operator.itemgetter(0)}, HeapKeyedStateBackend())
        for _ in channels
    ]
    out = []
    partition = partitioner(
        route, channels, 128, lambda channel, part: out.extend(subtasks[channel].inputs[0](part))
    )
    partition(rows)
    return out
