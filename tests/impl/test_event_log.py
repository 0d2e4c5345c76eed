"""The event log is off unless somebody asks for it, and then costs nothing but a comparison."""

import inspect

from impl.core import COMPONENTS
from impl.eventlog import EventLog, Recorded
from impl.job import Job

BARRIER = {"kind": "barrier", "channel": 0, "checkpoint": 1}


def gate():
    return COMPONENTS["gate"]({"channels": 1, "level": "handler"})


def test_without_a_log_nobody_is_asked_what_else_there_is_to_tell(tmp_path):
    def asked(effects):
        raise AssertionError("a run without a log pays for what it would have told")

    assert Recorded("gate", gate(), None).apply(BARRIER, asked) == gate().apply(BARRIER)
    log = EventLog(tmp_path, "1-count-0", "count-0", 1)
    Recorded("gate", gate(), log).apply(BARRIER, lambda effects: {"records": 7})
    log.close()
    assert '"records":7' in (tmp_path / "1-count-0.jsonl").read_text()


def test_it_is_off_unless_asked_for():
    for run in (Job.execute, Job.start):
        assert inspect.signature(run).parameters["event_log"].default is False
