"""Keyed state: the content of a snapshot, and the owner of each key after a change of the parallelism."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.state import HeapKeyedStateBackend, KeyedContext, StateError, encode, pack, sections_of
from impl.state.backends.key_groups import groups_of, key_group, stable_hash, subtask_of

KEYS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(allow_nan=False),
    lambda parts: st.tuples(parts, parts) | st.frozensets(parts, max_size=3),
    max_leaves=4,
)


# ---------------------------------------------------------------- key groups


@given(st.integers(1, 60), st.integers(0, 200))
def test_every_key_group_has_one_owner_and_ranges_are_contiguous(parallelism, more):
    every = parallelism + more
    ranges = [groups_of(index, parallelism, every) for index in range(parallelism)]
    assert [group for groups in ranges for group in groups] == list(range(every))
    assert all(
        subtask_of(group, parallelism, every) == index
        for index, groups in enumerate(ranges)
        for group in groups
    )
    assert max(map(len, ranges)) - min(map(len, ranges)) <= 1


@given(KEYS, KEYS)
def test_keys_that_are_equal_have_one_hash(one, other):
    if one == other:
        assert stable_hash(one) == stable_hash(other)
    assert stable_hash((one, 1)) == stable_hash((one, True)) == stable_hash((one, 1.0))


def test_the_hash_does_not_depend_on_the_process():
    keys = "['UA', ('UA', '2013-01-01'), 7, 2.5, None, frozenset(['a', 'b', 'c']), b'x']"
    program = (
        f"from impl.state.backends.key_groups import stable_hash; print([stable_hash(key) for key in {keys}])"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(seen) == 1


def test_keys_are_spread_over_all_groups():
    for keys in (
        range(10_000),
        [f"key-{number}" for number in range(10_000)],
        [("UA", n) for n in range(10_000)],
    ):
        counts = [0] * 128
        for key in keys:
            counts[key_group(key, 128)] += 1
        assert min(counts) > 30, counts
        assert max(counts) < 140, counts


EVERYTHING = KeyedContext()


class Nameless:
    pass


@pytest.mark.parametrize(
    ("key", "why"),
    [(Nameless(), "only one process knows its equality"), (float("nan"), "not equal to itself")],
)
def test_a_key_that_another_process_cannot_recognise_is_refused(key, why):
    with pytest.raises(StateError, match=why):
        key_group(("a", key), 128)


# ---------------------------------------------------------------- the backend in memory


def fill(backend, immutable):
    seen = backend.value_state("seen", immutable=immutable)
    visits = backend.list_state("visits", immutable=immutable)
    carriers = backend.map_state("carriers", immutable=immutable)
    seen.put("JFK", 1)
    visits.add_all("JFK", ["UA1", "UA2"])
    carriers.put("JFK", "UA", 2)
    return seen, visits, carriers


def snapshot_of(backend):
    return sections_of(pack(backend.snapshot(1)()), "count-0")


def restored(*snapshots, context=EVERYTHING):
    backend = HeapKeyedStateBackend(context)
    backend.restore(snapshots)
    return backend


def content(backend):
    states = (backend.value_state("seen"), backend.list_state("visits"), backend.map_state("carriers"))
    return [dict(state.items()) for state in states]


@pytest.mark.rule("ONCE-01")
@pytest.mark.parametrize("immutable", [True, False])
def test_records_processed_after_the_synchronous_part_are_not_in_the_snapshot(immutable):
    backend = HeapKeyedStateBackend()
    seen, visits, carriers = fill(backend, immutable)
    rest = backend.snapshot(1)
    seen.put("JFK", 9)
    seen.put("EWR", 9)
    visits.add("JFK", "UA9")
    visits.add("EWR", "UA9")
    carriers.put("JFK", "UA", 9)
    carriers.put("JFK", "AA", 9)
    assert content(restored(sections_of(pack(rest()), "f"))) == [
        {"JFK": 1},
        {"JFK": ("UA1", "UA2")},
        {"JFK": {"UA": 2}},
    ]
    assert content(restored(snapshot_of(backend))) == [
        {"JFK": 9, "EWR": 9},
        {"JFK": ("UA1", "UA2", "UA9"), "EWR": ("UA9",)},
        {"JFK": {"UA": 9, "AA": 9}},
    ]


@pytest.mark.rule("ONCE-01")
def test_a_value_that_is_changed_in_place_after_the_synchronous_part_is_as_it_was_in_the_snapshot():
    backend = HeapKeyedStateBackend()
    mutable = ["UA1"]
    backend.value_state("seen").put("JFK", mutable)
    rest = backend.snapshot(1)
    mutable.append("UA2")
    assert dict(restored(sections_of(pack(rest()), "f")).value_state("seen").items()) == {"JFK": ["UA1"]}


@pytest.mark.rule("ONCE-01")
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.sampled_from("+x*-s")), max_size=40))
def test_overlapping_snapshots_each_hold_the_state_of_their_own_moment(steps):
    """Lists and maps are copied before their first change after a snapshot."""
    backend = HeapKeyedStateBackend()
    lists, maps = backend.list_state("l", immutable=True), backend.map_state("m", immutable=True)
    expected, pending = [], []
    for key, number, what in steps:
        if what == "+":
            lists.add(key, number)
        elif what == "x":
            lists.remove(key)
        elif what == "*":
            maps.put(key, number, number)
        elif what == "-":
            maps.remove(key, number)
        else:
            expected.append((dict(lists.items()), dict(maps.items())))
            pending.append(backend.snapshot(len(pending) + 1))
    for moment, rest in zip(expected, pending, strict=True):
        there = restored(sections_of(pack(rest()), "f"))
        assert (dict(there.list_state("l").items()), dict(there.map_state("m").items())) == moment


def test_list_and_map_state_answer_copies():
    backend = HeapKeyedStateBackend()
    _, visits, carriers = fill(backend, False)
    carriers.entries("JFK")["UA"] = 7
    assert (visits.get("JFK"), visits.get("LGA")) == (("UA1", "UA2"), ())
    assert (carriers.get("JFK", "UA"), carriers.get("LGA", "UA", 0), carriers.contains("LGA", "UA")) == (
        2,
        0,
        False,
    )
    carriers.remove("JFK", "UA")
    visits.update("JFK", ["UA3"])
    assert (len(carriers), dict(visits.items())) == (0, {"JFK": ("UA3",)})


def test_one_name_has_one_kind_also_after_a_restore():
    backend = HeapKeyedStateBackend()
    fill(backend, False)
    with pytest.raises(StateError, match="'seen' is a value state, requested as a list state"):
        backend.list_state("seen")
    with pytest.raises(StateError, match="'visits' is a list state, requested as a map state"):
        restored(snapshot_of(backend)).map_state("visits")


@pytest.mark.rule("ONCE-01")
@given(st.dictionaries(KEYS, st.integers(), max_size=30), st.integers(1, 8), st.integers(1, 8))
def test_at_another_parallelism_exactly_one_owner_has_each_key(values, before, after):
    snapshots = []
    for index in range(before):
        backend = HeapKeyedStateBackend(KeyedContext.of("count", index, before, 16))
        state = backend.value_state("seen", immutable=True)
        for key, value in values.items():
            if subtask_of(key_group(key, 16), before, 16) == index:
                state.put(key, value)
        snapshots.append(snapshot_of(backend))
    found = {}
    for index in range(after):
        context = KeyedContext.of("count", index, after, 16)
        own = dict(restored(*snapshots, context=context).value_state("seen").items())
        assert all(key_group(key, 16) in context.groups for key in own)
        assert not set(own) & set(found)
        found |= own
    assert found == values


@pytest.mark.rule("ONCE-01")
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=40), st.integers(1, 3))
def test_keys_that_come_and_go_between_snapshots_are_restored_by_their_owners(steps, after):
    """The remembered order of the keys' groups stays right, also for a key that was deleted and came back."""
    backend = HeapKeyedStateBackend(KeyedContext.of("count", 0, 1, 16))
    seen, visits = backend.value_state("seen", immutable=True), backend.list_state("visits")
    for number, (key, stays) in enumerate(steps):
        if stays:
            seen.put(key, number)
            visits.add(key, number)
        else:
            seen.remove(key)
            visits.remove(key)
        there, found = snapshot_of(backend), ({}, {})
        for index in range(after):
            own = restored(there, context=KeyedContext.of("count", index, after, 16))
            keys = {
                key
                for state in (own.value_state("seen"), own.list_state("visits"))
                for key, _ in state.items()
            }
            assert {subtask_of(key_group(key, 16), after, 16) for key in keys} <= {index}
            found[0].update(own.value_state("seen").items())
            found[1].update(own.list_state("visits").items())
        assert found == (dict(seen.items()), dict(visits.items()))


@pytest.mark.rule("ONCE-01")
@pytest.mark.parametrize("after", [1, 3, 5])
def test_a_large_state_comes_in_sections_of_key_groups_and_is_restored_from_them(after):
    values = {f"key-{number}": (number, number) for number in range(120_000)}
    backend = HeapKeyedStateBackend(KeyedContext.of("count", 0, 1, 128))
    backend.value_state("seen", immutable=True).put_all([*values], [*values.values()])
    there, found = snapshot_of(backend), {}
    assert there.names == ("keyed/0-42", "keyed/43-85", "keyed/86-127", "key-encoding")
    for index in range(after):
        context = KeyedContext.of("count", index, after, 128)
        own = dict(restored(there, context=context).value_state("seen").items())
        assert all(key_group(key, 128) in context.groups for key in own)
        assert not set(own) & set(found)
        found |= own
    assert found == values


def test_a_section_of_a_single_group_may_be_without_the_groups_of_its_keys():
    """Older versions wrote such snapshots."""
    context = KeyedContext.of("count-1", 1, 2, 128)
    key = next(one for one in "abcdefgh" if key_group(one, 128) in context.groups)
    section = {f"keyed/{key_group(key, 128)}": encode({"seen": ("value", {key: 7})})}
    other = {f"keyed/{context.groups.start - 1}": encode({"seen": ("value", {"not its own": 8})})}
    own = restored(sections_of(pack(section | other), "count-1"), context=context)
    assert dict(own.value_state("seen").items()) == {key: 7}


def test_state_under_the_key_of_another_subtask_is_refused():
    backend = HeapKeyedStateBackend(KeyedContext.of("count-0", 0, 2, 128))
    stranger = next(key for key in range(100) if key_group(key, 128) >= 64)
    backend.value_state("seen").put(stranger, 1)
    with pytest.raises(
        StateError, match=f"count-0: state 'seen' has the key {stranger}, which belongs to another"
    ):
        backend.snapshot(1)


def test_a_refused_key_is_refused_again_also_after_a_deletion():
    backend = HeapKeyedStateBackend(KeyedContext.of("count-0", 0, 2, 128))
    seen = backend.value_state("seen", immutable=True)
    own = [key for key in range(100) if key_group(key, 128) < 64]
    stranger = next(key for key in range(100) if key_group(key, 128) >= 64)
    for key in own:
        seen.put(key, key)
    backend.snapshot(1)()
    seen.remove(own[0])
    seen.put(stranger, 1)
    for checkpoint in (2, 3):
        with pytest.raises(StateError, match=f"has the key {stranger}"):
            backend.snapshot(checkpoint)()
    seen.remove(stranger)
    assert dict(restored(snapshot_of(backend)).value_state("seen").items()) == {key: key for key in own[1:]}


def test_a_snapshot_of_another_backend_is_refused_and_not_ignored():
    there = sections_of(pack({"keyed/rocksdb": encode({})}), "chk-3/count-0.1.state")
    with pytest.raises(StateError, match=r"count-0\.1\.state: .* a section keyed/rocksdb; use the"):
        restored(there)
