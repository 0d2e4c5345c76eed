"""The store of the completed checkpoints of a job."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.core import COMPONENTS, CheckpointType, CompletedCheckpointStore


def store(retain: int):
    return COMPONENTS["store"]({"retain": retain})


@pytest.mark.rule("SUB-06")
def test_the_latest_is_the_last_one_added_not_the_highest(check):
    it = store(3)
    check(
        it,
        """
latest
  latest checkpoint=null
add checkpoint=7 type=checkpoint
add checkpoint=5 type=checkpoint
latest
  latest checkpoint=5
""",
    )
    assert it.observe() == {"completed": [7, 5]}


@pytest.mark.rule("SUB-07")
@pytest.mark.rule("SUB-09")
def test_the_oldest_checkpoint_is_dropped_first_and_reported(check):
    it = store(2)
    check(
        it,
        """
add checkpoint=1 type=checkpoint
add checkpoint=2 type=checkpoint
add checkpoint=3 type=checkpoint
  discard checkpoint=1
  subsumed checkpoint=1
""",
    )
    assert it.observe() == {"completed": [2, 3]}


@pytest.mark.rule("SUB-08")
def test_a_savepoint_never_evicts_the_last_checkpoint(check):
    it = store(1)
    check(
        it,
        """
add checkpoint=1 type=checkpoint
add checkpoint=2 type=savepoint
add checkpoint=3 type=savepoint
""",
    )
    assert it.observe() == {"completed": [1, 3]}


@pytest.mark.rule("SUB-09")
def test_a_dropped_savepoint_is_neither_discarded_nor_reported(check):
    it = store(1)
    check(
        it,
        """
add checkpoint=1 type=savepoint
add checkpoint=2 type=checkpoint
""",
    )
    assert it.observe() == {"completed": [2]}


@pytest.mark.rule("SUB-08")
def test_a_stop_with_savepoint_drops_everything_else(check):
    it = store(1)
    check(
        it,
        """
add checkpoint=1 type=checkpoint
add checkpoint=2 type=stop
  discard checkpoint=1
  subsumed checkpoint=1
""",
    )
    assert it.observe() == {"completed": [2]}


@pytest.mark.rule("SUB-09")
def test_several_dropped_at_once_go_in_the_order_of_the_list_and_the_highest_is_reported(check):
    it = store(1)
    check(
        it,
        """
add checkpoint=5 type=checkpoint
add checkpoint=6 type=savepoint
add checkpoint=3 type=checkpoint
  discard checkpoint=5
  subsumed checkpoint=5
""",
    )
    assert it.observe() == {"completed": [3]}


def test_a_shut_down_store_discards_checkpoints_and_accepts_no_more(check):
    it = store(3)
    check(
        it,
        """
add checkpoint=1 type=checkpoint
add checkpoint=2 type=savepoint
add checkpoint=1 type=checkpoint
  refused
add checkpoint=3 type=backup
  refused
shutdown discard=true
  discard checkpoint=1
latest
  refused
add checkpoint=4 type=checkpoint
  refused
shutdown discard=false
  refused
""",
    )
    assert it.observe() == {"completed": []}


def test_a_shut_down_store_may_leave_its_checkpoints_for_a_later_job(check):
    it = store(1)
    check(it, "add checkpoint=1 type=checkpoint\nshutdown discard=false")
    assert it.observe() == {"completed": []}


@pytest.mark.rule("SUB-06")
@pytest.mark.rule("SUB-07")
@pytest.mark.rule("SUB-08")
@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(1, 50), st.sampled_from(CheckpointType)), unique_by=lambda one: one[0]),
)
def test_the_store_keeps_what_the_rules_protect(retain, additions):
    it = CompletedCheckpointStore(retain)
    types = dict(additions)
    for checkpoint, added in additions:
        held = [*it.completed, checkpoint]
        it.add(checkpoint, added)
        kept = list(it.completed)
        assert kept[-1] == checkpoint
        assert kept == [one for one in held if one in kept]
        assert kept == held or len(held) > retain
        checkpoints = [one for one in held if types[one] is CheckpointType.CHECKPOINT]
        if added is CheckpointType.STOP:
            assert len(kept) <= retain
        else:
            assert set(checkpoints[-1:]) <= set(kept)
            assert len(kept) <= retain + 1
