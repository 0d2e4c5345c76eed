"""Lines about offsets in an event log are rejected if they contradict the model or the task."""

import pytest

from conformance.observe.lines.line import Line
from conformance.observe.replay import Rejected
from conformance.observe.run_state import Run
from conformance.observe.sources.offsets import OffsetsReplay


def line(kind, effects=(), **event):
    fields = {"component": "offsets", "event": {"kind": kind, **event}, "effects": list(effects)}
    return Line(1, 1, "offsets", fields["event"], fields["effects"], fields)


COMMIT = {"kind": "commit_offsets", "checkpoint": 1, "offsets": 7}


@pytest.fixture
def source():
    """A source that has filed 7 under checkpoint 1; its subtask requires the completion of 1."""
    replay = OffsetsReplay(Run())
    replay.require("snapshot", 1)
    replay.replay(line("snapshot", checkpoint=1, offsets=7))
    replay.require("notify_complete", 1)
    return replay


def rules_of_rejection(replay, wrong):
    with pytest.raises(Rejected) as rejected:
        replay.replay(wrong)
    return rejected.value.rules


def test_the_commit_of_a_completed_checkpoint_is_accepted(source):
    source.replay(line("notify_complete", [COMMIT], checkpoint=1))


@pytest.mark.rule("OFFSET-03")
def test_a_commit_of_other_offsets_and_a_missing_one_are_rejected(source):
    other = line("notify_complete", [{**COMMIT, "offsets": 8}], checkpoint=1)
    assert rules_of_rejection(source, other)[0] == "OFFSET-03"
    source.require("notify_complete", 1)
    assert rules_of_rejection(source, line("notify_complete", checkpoint=1))[0] == "OFFSET-03"


@pytest.mark.rule("OFFSET-03")
def test_a_completion_that_the_subtask_did_not_get_is_rejected(source):
    source.replay(line("notify_complete", [COMMIT], checkpoint=1))
    assert rules_of_rejection(source, line("notify_complete", [COMMIT], checkpoint=1)) == ("OFFSET-03",)


@pytest.mark.rule("OFFSET-06")
def test_offsets_restored_from_another_checkpoint_than_the_task_are_rejected():
    replay = OffsetsReplay(Run())
    replay.replay(line("crash"))
    replay.replay(line("restore", [{"kind": "seek", "offsets": 7}], offsets=7))
    replay.restored(7)
    with pytest.raises(Rejected, match="restores offset 8, but its source continues at 7"):
        replay.restored(8)
