"""Offsets that a source commits when a checkpoint completes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.core import COMPONENTS, ConfigError, OffsetCommitter


@pytest.mark.rule("OFFSET-01")
@pytest.mark.rule("OFFSET-03")
@pytest.mark.rule("OFFSET-04")
def test_a_completion_commits_its_own_offsets_and_forgets_the_older(check):
    it = COMPONENTS["offsets"]({})
    check(
        it,
        """
snapshot checkpoint=3 offsets=10
snapshot checkpoint=5 offsets=12
snapshot checkpoint=5 offsets=13
  refused
snapshot checkpoint=6 offsets=-1
  refused
snapshot checkpoint=8 offsets=20
notify_complete checkpoint=4
  ignored checkpoint=4
notify_complete checkpoint=5
  commit_offsets checkpoint=5 offsets=12
notify_complete checkpoint=3
  ignored checkpoint=3
notify_complete checkpoint=5
  ignored checkpoint=5
""",
    )
    assert it.observe() == {"remembered": [[8, 20]], "committed": [5, 12], "running": True}


@pytest.mark.rule("OFFSET-02")
def test_a_hundred_snapshots_are_remembered_and_no_more():
    it = COMPONENTS["offsets"]({})
    for checkpoint in range(1, 102):
        it.apply({"kind": "snapshot", "checkpoint": checkpoint, "offsets": checkpoint})
    assert [one for one, _ in it.observe()["remembered"]] == list(range(2, 102))


@pytest.mark.rule("OFFSET-05")
@pytest.mark.rule("OFFSET-06")
def test_an_abort_changes_nothing_and_a_restore_goes_to_its_checkpoint(check):
    it = COMPONENTS["offsets"]({"remembered": 1})
    check(
        it,
        """
snapshot checkpoint=1 offsets=7
notify_abort checkpoint=1
notify_complete checkpoint=1
  commit_offsets checkpoint=1 offsets=7
restore offsets=2
  refused
snapshot checkpoint=2 offsets=9
crash
crash
  refused
notify_abort checkpoint=2
  refused
restore offsets=-2
  refused
restore offsets=2
  seek offsets=2
notify_complete checkpoint=2
  ignored checkpoint=2
""",
    )
    assert it.observe() == {"remembered": [], "committed": [1, 7], "running": True}


@pytest.mark.parametrize("remembered", [0, -1, True, "many"])
def test_a_bound_is_an_int_from_1_on(remembered):
    with pytest.raises(ConfigError, match="remembered must be an int from 1 on"):
        COMPONENTS["offsets"]({"remembered": remembered})


@pytest.mark.rule("OFFSET-07")
@given(st.integers(1, 4), st.lists(st.tuples(st.booleans(), st.integers(0, 30))))
def test_commits_go_forward(bound, steps):
    it = OffsetCommitter(bound)
    committed = []
    for is_snapshot, number in steps:
        remembered = it.observe()["remembered"]
        newest = max([checkpoint for checkpoint, _ in remembered] + committed, default=0)
        if is_snapshot:
            it.snapshot(newest + 1 + number % 3, number)
        else:
            committed += [
                answers.checkpoint
                for answers in it.notify_complete(number)
                if answers.kind == "commit_offsets"
            ]
    assert committed == sorted(set(committed))
