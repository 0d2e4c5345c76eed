"""Logs of many jobs, validated on Spark as in process; the corrupted one is named."""

import json
from pathlib import Path

import pytest

from conformance.parts.result import verdict_of
from conformance.parts.trace import judged
from conformance.parts.traces import judged_on_spark, logs_under
from conformance.verdict import Verdict
from tests.observe.simulated_run import SimulatedRun

JOBS = 12


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """The logs of some jobs, each in its own folder, two levels deep."""
    for seed in range(JOBS):
        folder = tmp_path / f"rack-{seed % 2}" / f"job-{seed:02}"
        SimulatedRun(folder, seed=seed, fail_at=(200,), checkpoint_every=15).execute()
    return tmp_path


def corrupt(log: Path) -> None:
    """Removes an acknowledgement of a sink's task."""
    file = log / "1-sink-0.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    place = next(n for n, line in enumerate(lines) if line.get("event", {}).get("kind") == "async_done")
    lines[place]["effects"] = []
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def cut_off(log: Path) -> None:
    """The last line of the coordinator's file is incomplete."""
    file = log / "coordinator.jsonl"
    file.write_bytes(file.read_bytes()[:-10])


def test_the_result_is_that_of_one_process(jobs: Path, spark) -> None:
    answers: list[str] = []
    logs = logs_under([jobs])
    assert judged_on_spark(logs, spark, answers.append) == judged(logs, lambda _: None)
    assert answers == ["12 logs in 2 tasks"]
    assert [log.name for log in logs if log.parent.name == "rack-1"] == [
        f"job-{seed:02}" for seed in range(1, JOBS, 2)
    ]


def test_the_first_refused_event_of_each_corrupted_job_is_named(jobs: Path, spark) -> None:
    corrupt(jobs / "rack-1" / "job-05")
    cut_off(jobs / "rack-0" / "job-08")
    logs = logs_under([jobs])
    watched = judged_on_spark(logs, spark, lambda _: None)
    assert watched.runs == JOBS
    assert verdict_of(watched.findings) is Verdict.DIVERGES
    unreadable, refused = watched.findings
    assert "coordinator.jsonl" in unreadable.line
    assert "cut off" in unreadable.line
    assert refused.rule == "TASK-07"
    assert refused.line.startswith("job-05: 1-sink-0.jsonl:")
    assert refused.file == str(jobs / "rack-1" / "job-05" / "1-sink-0.jsonl")
    alone = judged(logs, lambda _: None)
    assert set(watched.findings) == set(alone.findings)
    assert (watched.events, watched.rules) == (alone.events, alone.rules)


def test_a_folder_without_a_log_is_reported(tmp_path: Path, spark) -> None:
    watched = judged_on_spark(logs_under([tmp_path]), spark, lambda _: None)
    assert verdict_of(watched.findings) is Verdict.UNDETERMINED
    assert "expected coordinator.jsonl in it" in watched.findings[0].line
