"""The in-flight records of an unaligned checkpoint add up, or the cut is inconsistent (UNAL-37)."""

from pathlib import Path

import pytest

from conformance.observe.eventlog import LogFile
from conformance.observe.inflight import InFlight
from conformance.observe.run_state import Run

SENT = {"sent": {"count-0": 10}}


def torn(*, read: int = 6, stored: int = 3, overtaken: int = 2, restored: int = 1):
    """The rejection of a cut, or None. 10 records are sent after `restored` restored ones."""
    run = Run()
    sender, receiver = (InFlight(run, LogFile(Path(), task, 1)) for task in ("src-0", "count-0"))
    receiver.deployed({"recovered": {"input": {"src-0": restored}}})
    sender.snapshot(7, SENT)
    sender.gathered({"checkpoint": 7, "overtaken": {"count-0": overtaken}, "stored": {}})
    receiver.snapshot(7, {"received": {"src-0": read}})
    receiver.gathered({"checkpoint": 7, "overtaken": {}, "stored": {"src-0": stored}})
    run.completed.add(7)
    return receiver.end_rejection(["src-0"])


@pytest.mark.rule("UNAL-37")
def test_records_that_add_up_are_whole():
    assert torn() is None


@pytest.mark.rule("UNAL-37")
@pytest.mark.parametrize("part", [{"read": 5}, {"stored": 4}, {"overtaken": 0}, {"restored": 0}])
def test_a_record_too_few_or_too_many_tears_the_cut(part):
    found = torn(**part)
    assert found is not None
    assert found[0] == ("UNAL-37", "ONCE-01")


@pytest.mark.rule("UNAL-37")
def test_a_task_that_has_stored_nothing_tears_the_cut():
    run = Run()
    receiver = InFlight(run, LogFile(Path(), "count-0", 1))
    receiver.snapshot(7, {"received": {"src-0": 6}})
    run.completed.add(7)
    assert receiver.end_rejection(["src-0"]) == (
        ("UNAL-37",),
        "checkpoint 7 is complete, but count-0 has stored no part of it",
    )
