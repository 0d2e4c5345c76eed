"""The monitor on logs of whole clusters under faults: restarted job managers, savepoints, lost disks."""

import gzip
import re
from pathlib import Path

import pytest
from monitored import watched

from conformance.observe.flink.validate import validate_flink
from conformance.observe.monitor.shown import verdict_of
from conformance.verdict import Verdict

LOGS = Path(__file__).parents[1] / "logs" / "clusters"

CANCELED = "(2/2)#6 (41fd3a588fa369515dda54a005e861c9_b2661969db4854994bd07b8fac9e10cc_1_6) switched from "


def lines_of(name: str) -> list[str]:
    with gzip.open(LOGS / f"{name}.log.gz", "rt", encoding="utf-8") as log:
        return log.read().splitlines()


@pytest.mark.parametrize(
    ("name", "replayed", "rules"),
    [
        ("flink-2.3.0-two-stored", 940, {"SUB-06", "SUB-09", "ONCE-04"}),
        ("flink-2.0.2-savepoint", 2_600, {"COORD-09", "SUB-06", "ONCE-04"}),
        ("flink-1.13.6-unfinalized", 1_500, {"COORD-09", "ONCE-04"}),
        ("flink-1.13.6-stopped", 300, {"COORD-03", "COORD-09"}),
        ("flink-1.17.2-canceled", 0, {"COORD-01", "ONCE-04"}),
        ("flink-2.3.0-many-attempts", 1_300, {"COORD-01", "ONCE-04", "ALIGN-01"}),
        ("flink-2.3.0-late-trigger", 0, {"COORD-01", "COORD-12"}),
        ("flink-2.3.0-declined", 600, {"COORD-09", "TASK-05", "ONCE-04"}),
        ("flink-2.3.0-from-savepoint", 3_600, {"COORD-08", "COORD-09", "ONCE-04"}),
    ],
)
def test_a_healthy_cluster_raises_no_alarm(name, replayed, rules):
    found = watched(lines_of(name))

    assert [alarm.describe() for alarm in found.alarms] == []
    assert verdict_of(found.monitor) is Verdict.CONFORMS
    assert found.monitor.replayed >= replayed
    assert rules <= found.monitor.rules()


@pytest.mark.parametrize(
    ("name", "without", "rule", "sentence"),
    [
        (  # a checkpoint that no line shows in the store is discarded
            "flink-2.3.0-two-stored", "Trying to retrieve checkpoint 1.", "COORD-07",
            "checkpoint 1 is discarded, but no newer one has completed",
        ),
        (  # the only line in 1.13 that shows that the checkpoint has ended
            "flink-1.13.6-unfinalized", "Could not finalize the pending checkpoint 15.", "COORD-03",
            "checkpoint 23 is triggered while 15 is pending",
        ),
        (  # a worker's first change of state, which another thread has overtaken
            "flink-1.17.2-canceled", CANCELED + "CREATED to DEPLOYING", "",
            "leaves DEPLOYING, but its state is CREATED",
        ),
    ],
)  # fmt: skip
def test_a_line_without_which_the_others_make_no_sense_is_missed(name, without, rule, sentence):
    lines = lines_of(name)
    left = [line for line in lines if without not in line]
    assert len(left) == len(lines) - 1

    found = watched(left)
    assert [alarm.rule for alarm in found.alarms][:1] == [rule]
    assert sentence in found.alarms[0].sentence


TRIGGERED, FAILED = "Triggering checkpoint 16 ", "Failed to trigger or complete checkpoint 16 "
TASK_FAILED = "ExecutionGraph [flink-pekko.actor.default-dispatcher-14] KeyedProcess"


def triggered_late() -> list[str]:
    """The log of a slower trigger thread: a task has failed before the line of the trigger.

    The log `flink-2.3.0-late-trigger` has a real line of this kind, which comes even after the job has left
    RUNNING.
    """
    lines = lines_of("flink-2.3.0-many-attempts")
    trigger = next(line for line in lines if TRIGGERED in line)
    failure = next(line for line in lines if TASK_FAILED in line and " RUNNING to FAILED" in line)
    lines.remove(trigger)
    lines.insert(lines.index(failure) + 1, trigger)
    return lines


def at_info(lines: list[str]) -> list[str]:
    return [line for line in lines if " DEBUG " not in line]


def test_a_task_may_fail_between_the_check_of_the_tasks_and_the_line_of_the_trigger():
    lines = triggered_late()

    assert [alarm.describe() for alarm in watched(at_info(lines)).alarms] == []
    found = watched(lines)
    assert [alarm.describe() for alarm in found.alarms] == []
    assert found.monitor.replayed > 1_300


def test_a_late_trigger_of_a_checkpoint_that_completes_is_an_alarm():
    lines = lines_of("flink-2.3.0-late-trigger")
    lost = FAILED.replace("16", "40")
    at = next(place for place, line in enumerate(lines) if lost in line)
    completed = next(line for line in lines if "Completed checkpoint " in line)
    lines[at] = re.sub(r"Completed checkpoint \d+ ", "Completed checkpoint 40 ", completed)

    assert "COORD-01" in {alarm.rule for alarm in watched(lines).alarms if alarm.checkpoint == 40}


def test_a_checkpoint_that_was_triggered_without_a_task_must_not_complete():
    lines = at_info(triggered_late())
    completed = next(line for line in lines if "Completed checkpoint 15 " in line).replace(" 15 ", " 16 ")
    at = next(place for place, line in enumerate(lines) if FAILED in line)
    lines[at] = completed

    assert [(alarm.rule, alarm.checkpoint) for alarm in watched(lines).alarms][:1] == [("COORD-01", 16)]


def test_only_one_checkpoint_is_under_way_when_a_task_fails():
    lines = at_info(triggered_late())
    at = next(place for place, line in enumerate(lines) if FAILED in line)
    trigger, failure = (
        next(line for line in lines if text in line).replace(" 16 ", " 17 ") for text in (TRIGGERED, FAILED)
    )
    lines[at + 1 : at + 1] = [trigger, failure]

    assert [(alarm.rule, alarm.checkpoint) for alarm in watched(lines).alarms][:1] == [("COORD-01", 17)]


REASONS = {
    "Failure to finalize checkpoint.": True,
    "Could not finalize the pending checkpoint 51. Failure reason: Failure to finalize checkpoint.": True,
    "Checkpoint expired before completing.": False,
    "Checkpoint was declined (tasks not ready)": False,
    "": False,
}


@pytest.mark.parametrize("reason", REASONS)
def test_a_checkpoint_with_every_acknowledgement_fails_for_no_reason_but_its_end(reason):
    """The log with another end of its last checkpoint: it fails although every task has acknowledged it."""
    with gzip.open(LOGS.parent / "flink-2.2.1.log.gz", "rt", encoding="utf-8") as log:
        lines = log.read().splitlines()
    place = next(place for place, line in enumerate(lines) if "Completed checkpoint 51 for job" in line)
    thread, job = re.search(r"\[.*?\]", lines[place])[0], re.search(r"for job (\w+)", lines[place])[1]
    time, logger = lines[place].split()[0], "org.apache.flink.runtime.checkpoint.CheckpointFailureManager"
    failure = [
        f"{time} WARN  {logger} {thread} Failed to trigger or complete checkpoint 51 for job {job}. (0 ...)"
    ]
    if reason:
        failure.append(f"org.apache.flink.runtime.checkpoint.CheckpointException: {reason}")
    before = [line for line in lines[:place] if "discard checkpoint 50." not in line]
    of_the_end = re.compile(r"(checkpoint|COMPLETE) 51\b|SUBSUME 50\b")
    failed = [*before, *failure, *(line for line in lines[place + 1 :] if not of_the_end.search(line))]

    found = validate_flink(failed, required=())
    alarms = watched(failed).alarms
    if REASONS[reason]:
        assert found.rejection is None
        assert alarms == []
    else:
        assert found.rejection is not None
        assert "checkpoint 51 fails, but it has completed" in found.rejection.describe()
        assert [alarm.rule for alarm in alarms] == ["COORD-09"]


def test_a_replay_ends_where_the_job_is_stopped_with_a_savepoint_and_another_job_is_replayed():
    found = watched(lines_of("flink-1.13.6-unfinalized"))

    notes = dict(found.monitor.notes())
    assert len(notes) == 1
    assert "stop-with-savepoint" in next(iter(notes.values()))
    assert sum(replay.replayed > 0 for replay in found.monitor.replays.values()) == 2
