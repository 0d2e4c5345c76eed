"""The event log is off by default. It then costs no more than one comparison."""

import json

import pytest

from impl.core import COMPONENTS
from impl.core.gate.events import Barrier
from impl.eventlog import EventLog, Recorded
from impl.job import settings_of
from impl.spark.faults.injector import full_disk
from impl.state import StorageError

BARRIER = Barrier(0, 1)


def gate():
    return COMPONENTS["gate"]({"channels": 1, "level": "handler"})


def test_without_a_log_further_fields_are_not_computed(tmp_path):
    def fields(effects):
        raise AssertionError("a run without a log pays for what it would have logged")

    assert Recorded("gate", gate(), None).handle(BARRIER, fields) == gate().handle(BARRIER)
    log = EventLog(tmp_path, "1-count-0", "count-0", 1)
    Recorded("gate", gate(), log).handle(BARRIER, lambda effects: {"records": len(effects)})
    log.close()
    line = json.loads((tmp_path / "1-count-0.jsonl").read_text())
    assert line["event"] == {"kind": "barrier", "channel": 0, "checkpoint": 1}
    assert [effect["kind"] for effect in line["effects"]] == ["block", "trigger", "resume"]
    assert line["records"] == 3


def test_the_event_log_is_off_by_default():
    assert settings_of({}).event_log is False
    assert settings_of({"event_log": True}).event_log


def test_a_line_on_a_full_disk_is_refused_at_once(tmp_path):
    """This also holds if this thread keeps other threads from the log, as a fault injection does."""
    log = EventLog(tmp_path, "1-sink-0", "sink-0", 1)
    log.line({"kind": "deployed"})
    with log.locked(), full_disk(), pytest.raises(StorageError):
        log.line({"kind": "finished"})
    log.line({"kind": "finished"})
    log.close()
    lines = (tmp_path / "1-sink-0.jsonl").read_text().splitlines()
    assert [json.loads(line)["seq"] for line in lines] == [0, 1]
