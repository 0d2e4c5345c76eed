"""Operator state: the distribution of lists to subtasks, and the hooks of a function that keeps lists."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.spark.worker.processing import ProcessOperator
from impl.state import HeapKeyedStateBackend, OperatorStateStore, StateError, pack, sections_of
from impl.state.backends.operator_state import Distribution, shared_out

LISTS = st.lists(st.lists(st.integers(), max_size=6), min_size=1, max_size=6)


@pytest.mark.rule("ONCE-01")
@given(LISTS, st.integers(1, 8))
def test_a_list_is_split_evenly_with_each_value_once(before, parallelism):
    shares = [shared_out(before, Distribution.SPLIT, index, parallelism) for index in range(parallelism)]
    assert sorted(value for share in shares for value in share) == sorted(chain(*before))
    if len(before) == parallelism:
        assert shares == before
    else:
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


@given(LISTS, st.integers(1, 8))
def test_every_subtask_gets_the_whole_union_and_one_copy_of_a_broadcast(before, parallelism):
    for index in range(parallelism):
        assert shared_out(before, Distribution.UNION, index, parallelism) == list(chain(*before))
        assert shared_out(before, Distribution.BROADCAST, index, parallelism) in before


class Remembering:
    """Keeps its input in three lists, and adds them to its state at each snapshot."""

    def __init__(self):
        self.called = []

    def initialize_state(self, store):
        self.called.append(("initialize_state", store.restored))
        self.states = (store.list_state("own"), store.union_list_state("all"), store.broadcast_state("same"))
        self.held = [list(state) for state in self.states]

    def open(self, state):
        self.called.append("open")

    def process_element(self, key, row):
        for held in self.held:
            held.append(row[0])
        return [row]

    def snapshot_state(self, checkpoint):
        self.called.append(("snapshot_state", checkpoint))
        for state, held in zip(self.states, self.held, strict=True):
            state.update(held)

    def close(self):
        self.called.append("close")


def started(index=0, parallelism=1, snapshots=(), restored=None):
    store, function = OperatorStateStore(restored), Remembering()
    if snapshots:
        store.restore(index, parallelism, snapshots)
    return function, ProcessOperator(function, {}, HeapKeyedStateBackend(), store)


def snapshot_after(*values):
    _, operator = started()
    operator.inputs[0]([(value,) for value in values])
    rest = operator.snapshot(1)
    operator.inputs[0]([("late",)])
    return sections_of(pack(rest()), "f")


@pytest.mark.rule("ONCE-01")
def test_hooks_are_called_around_the_rows_and_a_snapshot_holds_the_rows_before_it():
    function, operator = started()
    operator.inputs[0]([(1,)])
    operator.snapshot(7)
    operator.close()
    assert function.called == [("initialize_state", None), "open", ("snapshot_state", 7), "close"]
    again, _ = started(0, 1, [snapshot_after(1, 2)], restored=1)
    assert again.held == [[1, 2]] * 3
    assert again.called[0] == ("initialize_state", 1)


@pytest.mark.rule("ONCE-04")
@pytest.mark.parametrize(
    ("parallelism", "own"), [(2, [["a"], ["b"]]), (1, [["a", "b"]]), (3, [["a"], ["b"], []])]
)
def test_lists_are_distributed_at_any_parallelism(parallelism, own):
    snapshots = [snapshot_after("a"), snapshot_after("b")]
    held = [started(index, parallelism, snapshots, 1)[0].held for index in range(parallelism)]
    assert [one[0] for one in held] == own
    assert [one[1] for one in held] == [["a", "b"]] * parallelism
    assert all(one[2] in (["a"], ["b"]) for one in held)


def test_one_name_has_one_distribution():
    store = OperatorStateStore()
    store.list_state("rules")
    with pytest.raises(StateError, match="'rules' is a split list, requested as a union list"):
        store.union_list_state("rules")


def test_without_lists_there_is_no_section():
    assert OperatorStateStore().sections() == {}
