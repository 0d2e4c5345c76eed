"""Savepoints on the driver's side: a desk for requests, no Spark, and a clock that the test moves."""

import json
import os

import pytest
from coordination_bench import TASKS, Bench

from impl.config import ConfigError
from impl.job import settings_of
from impl.savepoints import SavepointRequest, request_savepoint
from impl.spark.errors import AttemptFailedError, SavepointFailedError
from impl.state import (
    CheckpointConflictError,
    CheckpointStorage,
    NoSavepointError,
    SavepointFolder,
    SnapshotCorruptError,
    StateError,
    begin_from,
    encode,
    origin_of,
    savepoints_in,
)


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path)
    made.start()
    return made


@pytest.mark.rule("SUB-05")
@pytest.mark.rule("ONCE-04")
def test_a_savepoint_is_neither_notified_nor_restored_and_outlives_everything(bench, tmp_path):
    bench.pass_ms(1_000)
    bench.acknowledge(1)
    request = bench.requests.add(SavepointRequest())
    assert bench.pass_ms(1) == [("in-0", "trigger", 2)]
    assert bench.acknowledge(2) == []
    taken = request.result(0)
    assert (taken.checkpoint, taken.stopped) == (2, False)
    assert taken.folder == tmp_path / "savepoints" / "savepoint-2-11ea9e"
    bench.it.fail_attempt("a test says so")
    assert bench.start() == 1
    for checkpoint in (3, 4, 5, 6, 7):
        bench.pass_ms(1_000)
        bench.acknowledge(checkpoint)
    bench.it.finish()
    assert bench.storage.completed_ids() == (5, 6, 7)
    assert sorted(SavepointFolder(taken.folder).load().handles) == list(TASKS)


@pytest.mark.rule("SUB-04")
def test_a_savepoint_that_is_pending_is_not_subsumed_by_a_newer_checkpoint(tmp_path):
    bench = Bench(tmp_path, max_concurrent_checkpoints=2)
    bench.start()
    request = bench.requests.add(SavepointRequest())
    bench.pass_ms(1)
    bench.acknowledge(1, "in-0")
    bench.pass_ms(1_000)
    assert bench.acknowledge(2)[-2:] == [("in-0", "complete", 2), ("out-0", "complete", 2)]
    bench.acknowledge(1, "out-0")
    assert request.result(0).checkpoint == 1


@pytest.mark.rule("COORD-11")
def test_in_mode_unaligned_a_savepoint_waits_for_its_turn(tmp_path):
    bench = Bench(tmp_path, unaligned_checkpoints_enabled=True)
    bench.start()
    bench.pass_ms(1_000)
    bench.requests.add(SavepointRequest())
    assert bench.pass_ms(1) == []
    assert bench.acknowledge(1)[-1] == ("in-0", "trigger", 2)


@pytest.mark.rule("COORD-12")
def test_a_stop_ends_what_is_pending_commits_and_is_answered_when_the_job_has_ended(bench):
    bench.pass_ms(1_000)
    request = bench.requests.add(SavepointRequest(stop=True))
    said = bench.pass_ms(1)
    assert said == [("in-0", "abort", 1), ("out-0", "abort", 1), ("in-0", "trigger", 2)]
    assert bench.pass_ms(10_000) == []  # no checkpoint follows
    shown = [one[0] for one in bench.acknowledge(2)]
    assert shown == ["in-0", "out-0"]
    assert not request.done()
    taken, _ = bench.it.finish()
    assert request.result(0) == taken[0]
    assert taken[0].stopped
    with pytest.raises(SavepointFailedError, match="has ended"):
        bench.requests.add(SavepointRequest()).result(0)


def test_a_stop_while_the_last_checkpoint_is_pending_takes_its_place(bench):
    for task in TASKS:
        bench.it.end_of_data(task)
    assert bench.pass_ms(0) == [("in-0", "trigger", 1)]
    bench.requests.add(SavepointRequest(stop=True, drain=True))
    assert bench.pass_ms(1)[-1] == ("in-0", "trigger", 2)
    assert bench.pass_ms(5_000) == []


@pytest.mark.rule("COORD-28")
def test_a_stop_that_a_task_declines_fails_the_attempt_leaves_nothing_and_the_job_goes_on(bench, tmp_path):
    bench.pass_ms(1_000)
    bench.acknowledge(1)
    request = bench.requests.add(SavepointRequest(stop=True))
    bench.pass_ms(1)
    bench.acknowledge(2, "in-0")
    with pytest.raises(
        AttemptFailedError, match="was to stop the job and was aborted with CHECKPOINT_DECLINED"
    ):
        bench.it.decline("out-0", 2, "CHECKPOINT_DECLINED")
    with pytest.raises(SavepointFailedError, match="aborted with CHECKPOINT_DECLINED"):
        request.result(0)
    bench.it.fail_attempt("as said")
    bench.commands()
    assert bench.start() == 1
    assert bench.pass_ms(1_000) == [("in-0", "trigger", 3)]
    assert list((tmp_path / "savepoints").iterdir()) == []


def test_a_stop_whose_job_fails_before_its_end_states_where_the_savepoint_is(bench):
    request = bench.requests.add(SavepointRequest(stop=True))
    bench.pass_ms(1)
    bench.acknowledge(1)
    bench.it.fail_attempt("a sink could not commit")
    with pytest.raises(SavepointFailedError, match=r"savepoint 1 is complete in .*a sink could not commit"):
        request.result(0)
    assert bench.start() is None


def test_requests_of_another_process_are_answered_also_by_the_driver_that_takes_over(tmp_path):
    first = Bench(tmp_path)
    first.start()
    (tmp_path / "requests").mkdir()
    (tmp_path / "requests" / "00aa.json").write_text(
        json.dumps({"directory": None, "stop": False, "drain": False})
    )
    assert first.pass_ms(1) == [("in-0", "trigger", 1)]
    half = first.folder / "savepoint-1-11ea9e"
    first.acknowledge(1, "in-0")  # the driver dies now
    assert half.is_dir()
    second = Bench(tmp_path)
    second.start()
    assert not half.exists()
    second.pass_ms(1)
    checkpoint = second.it.pending
    second.acknowledge(checkpoint)
    answer = json.loads((tmp_path / "requests" / "00aa.answer").read_text())
    assert answer["checkpoint"] == checkpoint > 1
    assert SavepointFolder(answer["folder"]).load().checkpoint == checkpoint
    (tmp_path / "requests" / "00bb.json").write_text('{"stop": 1')
    second.pass_ms(200)
    assert "expected a request" in json.loads((tmp_path / "requests" / "00bb.answer").read_text())["failed"]


def test_a_wrong_request_is_refused_with_the_reason(bench, tmp_path):
    with pytest.raises(SavepointFailedError, match="drain ends the data"):
        SavepointRequest(drain=True)
    with pytest.raises(SavepointFailedError, match="directory takes a Path or a URI, not 'there'"):
        SavepointRequest("there")
    with pytest.raises(SavepointFailedError, match="take bools, not 'yes' and False"):
        SavepointRequest(stop="yes")
    with pytest.raises(ConfigError, match="give only one of them"):
        settings_of({"resume": True, "from_savepoint": tmp_path})
    with pytest.raises(SavepointFailedError, match="no answer in"):
        request_savepoint(tmp_path, SavepointRequest(), 0.01)
    assert list((tmp_path / "requests").iterdir()) == []
    with pytest.raises(SavepointFailedError, match="not the output folder of a job"):
        request_savepoint(tmp_path / "savepoints", SavepointRequest(), 0.01)
    (tmp_path / "file").touch()
    request = bench.requests.add(SavepointRequest(tmp_path / "file"))
    assert bench.pass_ms(1) == []
    with pytest.raises(SavepointFailedError, match=r"creating .* failed"):
        request.result(0)


# ---------------------------------------------------------------- the folder itself


@pytest.fixture
def taken(bench):
    request = bench.requests.add(SavepointRequest())
    bench.pass_ms(1)
    bench.acknowledge(1)
    return SavepointFolder(request.result(0).folder)


def test_a_savepoint_is_never_deleted_and_its_folder_never_used_twice(taken):
    with pytest.raises(StateError, match="only its user"):
        taken.discard()
    with pytest.raises(CheckpointConflictError, match="an empty folder"):
        taken.begin()
    assert taken.load().savepoint == {
        "kind": "savepoint",
        "drained": False,
        "job": "job",
        "lineage": "11ea9e00",
    }


def test_an_invalid_or_altered_savepoint_is_refused_by_name(taken, bench, tmp_path):
    bench.pass_ms(1_000)
    bench.acknowledge(2)
    for folder, why in (
        (tmp_path / "nowhere", "got no files"),
        (tmp_path, "a folder without one"),
        (tmp_path / "checkpoints" / "chk-2", "got a checkpoint of a job that owns it"),
    ):
        with pytest.raises(NoSavepointError, match=why):
            SavepointFolder(folder).load()
    file = next(taken.where.glob("out-0.*.state"))
    file.write_bytes(file.read_bytes()[:-1])
    fresh = CheckpointStorage(tmp_path / "fresh")
    with pytest.raises(SnapshotCorruptError, match="bytes"):
        begin_from(fresh, taken)
    assert fresh.completed_ids() == ()


@pytest.mark.rule("ONCE-06")
@pytest.mark.parametrize("place", ["checkpoints", "elsewhere"])
def test_a_folder_that_begins_from_a_savepoint_is_of_its_line_and_leaves_it_alone(
    taken, bench, tmp_path, place
):
    """The job's own folder is such a place too. Its newer checkpoints are dead then."""
    bench.pass_ms(1_000)
    bench.acknowledge(2)
    before = {path: path.read_bytes() for path in taken.where.rglob("*") if path.is_file()}
    moved = tmp_path / "moved"
    os.rename(taken.where, moved)
    storage = CheckpointStorage(tmp_path / place)
    begin_from(storage, SavepointFolder(moved))
    begin_from(storage, SavepointFolder(moved))
    latest = storage.latest_completed()
    assert latest.completed.checkpoint == 1
    assert [one.checkpoint for one in latest.refused] == ([2] if place == "checkpoints" else [])
    assert origin_of(storage) == ("11ea9e00", 1, None)
    assert storage.new_attempt() > bench.attempt
    assert storage.read(latest.completed.handles["in-0"]) == "in-0 at 1"
    storage.discard(1)
    assert {moved / path.relative_to(taken.where): content for path, content in before.items()} == {
        path: path.read_bytes() for path in moved.rglob("*") if path.is_file()
    }


@pytest.mark.rule("SUB-09")
def test_a_savepoint_is_taken_in_an_object_store_and_a_job_begins_from_it(bench, tmp_path):
    request = bench.requests.add(SavepointRequest(f"memory://{tmp_path.name}/kept"))
    assert bench.pass_ms(1) == [("in-0", "trigger", 1)]
    kept = SavepointFolder(f"memory://{tmp_path.name}/kept/savepoint-1-11ea9e")
    for task in TASKS:
        handle = kept.write(1, task, bench.attempt, encode(f"{task} at 1"))
        bench.it.acknowledge(task, handle)
    taken = request.result(0)
    assert taken.folder == f"memory://{tmp_path.name}/kept/savepoint-1-11ea9e"
    assert [one.where for one in savepoints_in(f"memory://{tmp_path.name}/kept")] == [taken.folder]
    fresh = CheckpointStorage(tmp_path / "fresh")
    begin_from(fresh, SavepointFolder(taken.folder))
    assert fresh.read(fresh.load(1).handles["in-0"]) == "in-0 at 1"
    assert settings_of({"checkpoints": "s3://bucket/job/"}).checkpoints == "s3://bucket/job"
    for odd in ("memory://here/job", "s3:///job", 3):
        with pytest.raises(ConfigError, match="checkpoints"):
            settings_of({"checkpoints": odd})
