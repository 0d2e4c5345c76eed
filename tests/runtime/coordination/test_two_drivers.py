"""Two drivers with one checkpoint folder: the older one pauses at some point, and later detects the newer."""

import pytest
from coordination_bench import TASKS, Bench

from impl.config import NO_EXTERNALIZED_CHECKPOINTS
from impl.core.coordinator.job import CANCELED, FAILED, FINISHED
from impl.eventlog import EventLog
from impl.savepoints import SavepointRequest, SavepointRequests
from impl.state import (
    CheckpointStorage,
    SavepointFolder,
    StorageError,
    SupersededError,
    UncertainPublicationError,
    savepoints_in,
)

pytestmark = pytest.mark.rule("ONCE-06")


@pytest.fixture
def drivers(tmp_path):
    """An older driver that has completed checkpoint 1, and a newer one that has not begun."""
    older = Bench(tmp_path)
    older.start()
    complete(older, 1)
    return older, Bench(tmp_path)


def complete(bench, checkpoint):
    bench.pass_ms(1_000)
    assert bench.acknowledge(checkpoint) == [(task, "complete", checkpoint) for task in TASKS]


def resume(bench):
    restored = bench.begin()
    bench.run()
    return restored


def test_ids_of_two_drivers_differ_also_if_both_chose_their_first_before_the_other_went_on(drivers):
    older, newer = drivers
    for checkpoint in (2, 3):
        complete(older, checkpoint)
    assert resume(newer) == 3
    newer.pass_ms(1_000)
    assert newer.it.pending == 5  # the older driver has reserved 4
    assert newer.acknowledge(5) == [(task, "complete", 5) for task in TASKS]


def test_a_thawed_driver_triggers_nothing(drivers):
    older, newer = drivers
    resume(newer)
    with pytest.raises(SupersededError, match="triggering checkpoint 2: expected attempt 1 to be the newest"):
        older.pass_ms(1_000)
    assert older.commands() == []


def test_a_thawed_driver_completes_nothing_and_notifies_nobody(drivers):
    older, newer = drivers
    older.pass_ms(1_000)
    resume(newer)
    with pytest.raises(SupersededError, match="publishing checkpoint 2"):
        older.acknowledge(2)
    assert older.commands() == []
    assert newer.storage.completed_ids() == (1,)


def test_a_driver_that_goes_on_between_the_draw_and_the_restore_of_the_newer_one_completes_nothing(drivers):
    older, newer = drivers
    older.pass_ms(1_000)
    attempt = newer.storage.new_attempt()
    with pytest.raises(SupersededError):
        older.acknowledge(2)
    assert newer.it.begin_attempt(attempt, lambda task, message: None)[0] == 1


def test_the_ended_driver_discards_nothing_of_the_newer_one(drivers):
    older, newer = drivers
    older.pass_ms(1_000)
    resume(newer)
    for checkpoint in (3, 4):
        newer.pass_ms(1_000)
        newer.acknowledge(newer.it.pending)
        assert newer.storage.completed_ids()[-1] == checkpoint + 1
    older.it.fail_attempt("its workers are silent")
    with pytest.raises(SupersededError, match="ending the job: expected attempt 1 to be the newest"):
        older.it.finish()
    found = CheckpointStorage(newer.storage.location).latest_completed()
    assert found.completed.checkpoint == 5
    assert found.refused == ()


@pytest.mark.rule("FENCE-01")
def test_a_driver_that_thaws_before_its_first_attempt_deletes_nothing_of_a_savepoint(drivers):
    _, newer = drivers
    thawed = Bench(newer.storage.location.directory.parent)
    attempt = thawed.storage.new_attempt()
    resume(newer)
    request = newer.requests.add(SavepointRequest())
    newer.pass_ms(1)
    checkpoint = newer.it.pending
    newer.acknowledge(checkpoint, *TASKS[:-1])
    with pytest.raises(SupersededError, match="starting"):
        thawed.it.begin_attempt(attempt, lambda task, message: None)
    newer.acknowledge(checkpoint, TASKS[-1])
    assert SavepointFolder(request.result(0).folder).load().checkpoint == checkpoint


@pytest.fixture
def ending(tmp_path):
    """The same two drivers, in a job that retains no checkpoint after its end."""
    retention = {"externalized_checkpoint_retention": NO_EXTERNALIZED_CHECKPOINTS}
    older, newer = Bench(tmp_path, **retention), Bench(tmp_path, **retention)
    older.start()
    complete(older, 1)
    return older, newer


@pytest.mark.rule("FENCE-02")
@pytest.mark.parametrize("status", [FINISHED, FAILED, CANCELED])
def test_a_driver_that_is_paused_before_it_ends_its_job_deletes_nothing_of_the_newer_one(
    ending, monkeypatch, status
):
    older, newer = ending
    require_newest, restored = older.storage.require_newest, []

    def paused(doing, attempt):
        require_newest(doing, attempt)
        if not restored:
            restored.append(resume(newer))

    monkeypatch.setattr(older.storage, "require_newest", paused)
    with pytest.raises(SupersededError):
        older.it.finish() if status == FINISHED else older.it.job_ended(status)
    assert restored == [1]
    assert newer.storage.latest_completed().completed.checkpoint == 1


@pytest.mark.rule("FENCE-05")
def test_a_driver_that_comes_while_the_older_one_deletes_the_checkpoints_restores_none(ending, monkeypatch):
    older, newer = ending
    remove, restored = older.storage.location.remove, []

    def paused(name):
        if name == "chk-1/_metadata":
            restored.append(resume(newer))
        return remove(name)

    monkeypatch.setattr(older.storage.location, "remove", paused)
    with pytest.raises(SupersededError, match="ending the job"):
        older.it.finish()
    assert restored == [None]


@pytest.mark.rule("FENCE-03")
def test_a_checkpoint_whose_publication_is_uncertain_keeps_its_files(drivers, monkeypatch):
    older, newer = drivers
    older.pass_ms(1_000)
    require_newest, calls = older.storage.require_newest, []

    def silent_after_the_publication(doing, attempt):
        calls.append(doing)
        if calls.count("publishing checkpoint 2") == 2:
            raise StorageError("no answer")
        require_newest(doing, attempt)

    monkeypatch.setattr(older.storage, "require_newest", silent_after_the_publication)
    with pytest.raises(UncertainPublicationError, match="let the job restart"):
        older.acknowledge(2)
    assert resume(newer) == 2
    older.it.fail_attempt("the storage failed")
    older.it._publisher.clear([2])
    found = CheckpointStorage(newer.storage.location).latest_completed()
    assert (found.completed.checkpoint, found.refused) == (2, ())


def test_the_next_attempt_of_a_driver_takes_over_what_it_may_have_published(drivers, monkeypatch):
    driver, _ = drivers
    driver.pass_ms(1_000)
    publish = driver.storage._location.publish

    def lost_answer(name, data, owner=""):
        publish(name, data, owner)
        raise StorageError("no answer")

    with monkeypatch.context() as silent:
        silent.setattr(driver.storage._location, "publish", lost_answer)
        with pytest.raises(UncertainPublicationError):
            driver.acknowledge(2)
    driver.it.fail_attempt("the storage failed")
    driver.attempt = driver.storage.new_attempt(driver.attempt)
    restored, _ = driver.it.begin_attempt(driver.attempt, lambda *sent: driver.sent.append(sent))
    assert restored == 2


def test_a_savepoint_of_a_superseded_driver_is_withdrawn(drivers, monkeypatch):
    older, newer = drivers
    future = older.requests.add(SavepointRequest())
    older.pass_ms(1_000)
    require_newest, looked = older.storage.require_newest, []

    def paused(doing, attempt):  # behind the check, before the link
        require_newest(doing, attempt)
        if doing.startswith("publishing") and not looked:
            looked.append(resume(newer))

    monkeypatch.setattr(older.storage, "require_newest", paused)
    with pytest.raises(SupersededError, match="publishing savepoint 2"):
        older.acknowledge(2)
    assert not future.done()
    assert not any(one.is_complete for one in savepoints_in(older.folder))


def test_requests_of_other_processes_are_left_to_the_driver_that_has_taken_over(tmp_path):
    (tmp_path / "1a.json").write_text('{"directory": null, "stop": false, "drain": false}')
    SavepointRequests(tmp_path).close("the job failed", superseded=True)
    assert [path.name for path in tmp_path.iterdir()] == ["1a.json"]
    SavepointRequests(tmp_path).close("the job failed")
    assert (tmp_path / "1a.answer").is_file()


def test_lines_of_a_superseded_driver_are_in_no_log(tmp_path):
    older = EventLog(tmp_path, "coordinator", "coordinator", 1)
    older.line({"kind": "before"})
    newer = EventLog(tmp_path, "coordinator", "coordinator", 2, continued=True)
    older.line({"kind": "too late"})
    newer.line({"kind": "after"})
    older.close()
    newer.close()
    lines = (tmp_path / "coordinator.jsonl").read_text().splitlines()
    assert [("before" in line, "after" in line) for line in lines] == [(True, False), (False, True)]
    assert '"seq":1' in lines[1]
