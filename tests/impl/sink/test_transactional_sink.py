"""The transactional sink: its transactions at snapshots, completions, restores and the end of input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.core import COMPONENTS, PreCommitted, ProtocolError, SinkSnapshot, TransactionalSink
from impl.core.sink.events import AbortTransaction, Begin, Commit, PreCommit


@pytest.fixture
def sink():
    return COMPONENTS["sink"]({})


def state(open_, pending=(), committed=(), running=True):
    return {
        "open": open_,
        "pending": [list(one) for one in pending],
        "committed": list(committed),
        "running": running,
    }


@pytest.mark.rule("SINK-01")
@pytest.mark.rule("SINK-02")
def test_a_snapshot_files_the_open_transaction_and_opens_the_next(sink, check):
    check(
        sink,
        """
write value=a
  write transaction=1 value=a
snapshot checkpoint=4
  pre_commit transaction=1
  begin transaction=2
write value=b
  write transaction=2 value=b
snapshot checkpoint=4
  refused
snapshot checkpoint=3
  refused
""",
    )
    assert sink.observe() == state(2, pending=[(4, 1)])


@pytest.mark.rule("SINK-03")
@pytest.mark.rule("SINK-04")
@pytest.mark.rule("SINK-05")
def test_a_completion_commits_all_that_is_filed_up_to_it(sink, check):
    check(
        sink,
        """
snapshot checkpoint=1
  pre_commit transaction=1
  begin transaction=2
snapshot checkpoint=2
  pre_commit transaction=2
  begin transaction=3
snapshot checkpoint=3
  pre_commit transaction=3
  begin transaction=4
notify_abort checkpoint=1
notify_complete checkpoint=2
  commit transaction=1
  commit transaction=2
notify_complete checkpoint=2
notify_complete checkpoint=1
""",
    )
    assert sink.observe() == state(4, pending=[(3, 3)], committed=[1, 2])


@pytest.mark.rule("SINK-06")
def test_a_restore_commits_again_and_aborts_what_was_open(sink, check):
    check(
        sink,
        """
snapshot checkpoint=1
  pre_commit transaction=1
  begin transaction=2
notify_complete checkpoint=1
  commit transaction=1
snapshot checkpoint=2
  pre_commit transaction=2
  begin transaction=3
restore checkpoint=1
  refused
crash
write value=a
  refused
crash
  refused
restore checkpoint=9
  refused
""",
    )
    assert sink.observe() == state(None, committed=[1], running=False)
    check(
        sink,
        """
restore checkpoint=2
  commit transaction=2
  abort_transaction transaction=3
  begin transaction=4
""",
    )
    assert sink.observe() == state(4, committed=[1, 2])


@pytest.mark.rule("SINK-06")
def test_a_restore_forgets_the_snapshots_of_greater_ids(sink, check):
    check(
        sink,
        """
snapshot checkpoint=1
  pre_commit transaction=1
  begin transaction=2
snapshot checkpoint=2
  pre_commit transaction=2
  begin transaction=3
crash
restore checkpoint=1
  commit transaction=1
  abort_transaction transaction=2
  begin transaction=4
snapshot checkpoint=1
  refused
crash
restore checkpoint=2
  refused
restore checkpoint=1
  commit transaction=1
  abort_transaction transaction=2
  begin transaction=5
""",
    )
    assert sink.observe() == state(5, committed=[1])


@pytest.mark.rule("SINK-06")
@pytest.mark.rule("SINK-08")
def test_from_the_beginning_only_a_new_transaction_begins(sink, check):
    check(
        sink,
        """
snapshot checkpoint=1
  pre_commit transaction=1
  begin transaction=2
crash
restore checkpoint=null
  begin transaction=3
crash
restore checkpoint=1
  refused
""",
    )
    assert sink.observe() == state(None, running=False)


@pytest.mark.rule("SINK-07")
def test_a_finished_sink_opens_nothing_until_it_is_restored(sink, check):
    check(
        sink,
        """
finish
write value=a
  refused
snapshot checkpoint=1
  pre_commit transaction=1
snapshot checkpoint=2
notify_complete checkpoint=2
  commit transaction=1
""",
    )
    assert sink.observe() == state(None, committed=[1])
    check(
        sink,
        "crash\nrestore checkpoint=1\n  commit transaction=1\n  begin transaction=2\nwrite value=a\n"
        "  write transaction=2 value=a",
    )
    assert sink.observe() == state(2, committed=[1])


@pytest.mark.rule("SINK-06")
def test_a_new_process_continues_from_the_durable_snapshot():
    snapshot = SinkSnapshot(open=6, pending=(PreCommitted(3, 4), PreCommitted(4, 5)))
    it, effects = TransactionalSink.continuing(snapshot, next_transaction=7)
    assert effects == (Commit(4), Commit(5), AbortTransaction(6), Begin(7))
    assert it.observe() == state(7, committed=[4, 5])
    with pytest.raises(ProtocolError, match="next_transaction must be above 6, got 6"):
        TransactionalSink.continuing(snapshot, next_transaction=6)


def test_a_long_lived_owner_keeps_only_the_snapshots_it_may_still_need():
    it = TransactionalSink()
    for checkpoint in range(1, 6):
        it.snapshot(checkpoint)
        it.notify_complete(checkpoint - 1)
        it.forget_below(checkpoint - 1)
    assert it.snapshot_of(4) == SinkSnapshot(open=5, pending=(PreCommitted(3, 3), PreCommitted(4, 4)))
    with pytest.raises(ProtocolError, match=r"snapshots exist for \[4, 5\], got 3"):
        it.snapshot_of(3)
    assert it.observe() == state(6, pending=[(5, 5)])


steps = st.lists(st.sampled_from(["snapshot", "complete", "abort", "crash"]), max_size=30)


@pytest.mark.rule("SINK-08")
@pytest.mark.rule("SINK-03")
@given(steps, st.data())
def test_a_commit_is_permanent_after_any_crash(story, data):
    it = TransactionalSink()
    next_checkpoint, completed, taken = 1, 0, set()
    begun, pre_committed, aborted = {1}, set(), set()
    for step in story:
        if step == "snapshot":
            effects = it.snapshot(next_checkpoint)
            taken.add(next_checkpoint)
            next_checkpoint += 1
        elif step == "complete" and taken:
            completed = max(completed, data.draw(st.sampled_from(sorted(taken))))
            effects = it.notify_complete(completed)
        elif step == "crash":
            it.crash()
            effects = it.restore(completed or None)
            taken = {one for one in taken if one <= completed}
        else:
            effects = it.notify_abort(next_checkpoint)
        for effect in effects:
            if isinstance(effect, Begin):
                assert effect.transaction not in begun
                begun.add(effect.transaction)
            elif isinstance(effect, PreCommit):
                pre_committed.add(effect.transaction)
            elif isinstance(effect, AbortTransaction):
                aborted.add(effect.transaction)
            elif isinstance(effect, Commit):
                assert effect.transaction in pre_committed
        assert not aborted & set(it.observe()["committed"])


@pytest.mark.rule("SINK-09")
def test_a_closing_sink_aborts_only_its_open_transaction(sink, check):
    check(
        sink,
        """
snapshot checkpoint=1
  pre_commit transaction=1
  begin transaction=2
close
  abort_transaction transaction=2
close
  refused
restore checkpoint=1
  commit transaction=1
  abort_transaction transaction=2
  begin transaction=3
finish
snapshot checkpoint=2
  pre_commit transaction=3
close
""",
    )
    assert sink.observe() == state(None, committed=[1], running=False)


@pytest.mark.rule("SINK-10")
def test_a_failing_commit_fails_the_task_after_the_others(sink, check):
    check(
        sink,
        """
snapshot checkpoint=1
  pre_commit transaction=1
  begin transaction=2
snapshot checkpoint=2
  pre_commit transaction=2
  begin transaction=3
snapshot checkpoint=3
  pre_commit transaction=3
  begin transaction=4
notify_complete checkpoint=1 fails=2
  commit transaction=1
notify_complete checkpoint=3 fails=2
  commit_failed transaction=2
  commit transaction=3
  abort_transaction transaction=4
restore checkpoint=3 fails=2
  commit transaction=1
  commit_failed transaction=2
restore checkpoint=3
  commit transaction=1
  commit transaction=2
  commit transaction=3
  abort_transaction transaction=4
  begin transaction=5
""",
    )
    assert sink.observe() == state(5, committed=[1, 2, 3])


@pytest.mark.rule("SINK-09")
def test_up_to_1_13_the_end_of_the_input_closes_the_sink(check):
    it = COMPONENTS["sink"]({"profile": "1.9"})
    check(it, "finish\n  abort_transaction transaction=1\nsnapshot checkpoint=1\n  refused")
    assert it.observe() == state(None, running=False)


def test_a_commit_of_no_transaction_fails_nowhere(sink):
    """Transactions are numbered from 1 on. The refused event changes nothing."""
    sink.snapshot(1)
    before = sink.observe()
    with pytest.raises(ProtocolError, match="counted from 1"):
        sink.notify_complete(1, fails=0)
    assert sink.observe() == before
    sink.crash()
    with pytest.raises(ProtocolError, match="counted from 1"):
        sink.restore(None, fails=-2)
