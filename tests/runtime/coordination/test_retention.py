"""The retention of a job decides whether its end deletes the completed checkpoints (COORD-25)."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from coordination_bench import Bench

from impl.config import (
    DELETE_ON_CANCELLATION,
    NO_EXTERNALIZED_CHECKPOINTS,
    RETAIN_ON_CANCELLATION,
    CheckpointConfig,
    ConfigError,
)
from impl.core.coordinator.job import CANCELED, FAILED, FINISHED, SUSPENDED
from impl.faults import Action
from impl.running_job import RunningJob
from impl.savepoints import CANCEL, SUSPEND, SavepointRequest, SavepointRequests, request_end
from impl.spark.errors import (
    JobCancelledError,
    JobSuspendedError,
    SavepointAbortedError,
    SavepointFailedError,
)
from impl.spark.faults import clock_jumps
from tests.waiting import until

KEPT = {
    None: {FINISHED, CANCELED, FAILED},
    RETAIN_ON_CANCELLATION: {CANCELED, FAILED},
    DELETE_ON_CANCELLATION: {FAILED},
    NO_EXTERNALIZED_CHECKPOINTS: set(),
}


@pytest.mark.rule("COORD-25")
@pytest.mark.parametrize("retention", KEPT)
@pytest.mark.parametrize("status", [FINISHED, CANCELED, FAILED])
def test_the_checkpoints_of_an_ended_job_stay_if_they_are_retained(tmp_path, retention, status):
    bench = Bench(tmp_path, num_retained_checkpoints=2, externalized_checkpoint_retention=retention)
    bench.start()
    for checkpoint in (1, 2, 3):
        bench.pass_ms(1_000)
        bench.acknowledge(checkpoint)
    bench.pass_ms(1_000)
    bench.acknowledge(4, "in-0")
    assert (bench.it.finish() if status == FINISHED else bench.it.job_ended(status)) in (None, ((), None))
    kept = status in KEPT[retention]
    assert bench.storage.completed_ids() == ((2, 3) if kept else ())
    folders = set(bench.storage.location.folders())
    assert {"chk-1", "chk-2", "chk-3"} & folders == ({"chk-2", "chk-3"} if kept else set())
    assert kept or folders == {"attempts"}


@pytest.mark.rule("COORD-02")
@pytest.mark.parametrize("status", [CANCELED, SUSPENDED])
def test_a_driver_that_continues_a_job_uses_no_aborted_id_again(tmp_path, status):
    bench = Bench(tmp_path, externalized_checkpoint_retention=RETAIN_ON_CANCELLATION)
    bench.start()
    bench.pass_ms(1_000)
    bench.acknowledge(1)
    bench.pass_ms(1_000)  # checkpoint 2 is pending
    assert bench.it.job_ended(status) is None
    assert bench.storage.completed_ids() == (1,)
    assert bench.storage.next_checkpoint_id() >= 3


def test_a_retention_has_one_of_flinks_names():
    with pytest.raises(ConfigError, match="takes None, RETAIN_ON_CANCELLATION, DELETE_ON_CANCELLATION"):
        CheckpointConfig(externalized_checkpoint_retention="RETAIN")


def until_cancelled(bench):
    """Acts as the runtime: fails the job through its coordination, and answers every request."""
    try:
        while True:
            bench.pass_ms()  # a request comes in real time: no checkpoint may expire before it
    except (JobCancelledError, JobSuspendedError) as ended:
        bench.it._savepoints.failed(ended)
        raise


def test_a_job_is_cancelled_by_its_handle_also_while_no_task_runs(tmp_path):
    bench = Bench(tmp_path)
    bench.begin()
    savepoint = bench.requests.add(SavepointRequest())
    running = RunningJob("job", tmp_path, lambda: until_cancelled(bench), bench.requests)
    assert running.cancel(seconds=60) is True
    with pytest.raises(SavepointFailedError, match="a user has cancelled the job"):
        savepoint.result(0)
    finished = RunningJob("job", tmp_path, lambda: None, bench.requests)
    assert finished.cancel(seconds=60) is False


def test_a_job_is_cancelled_from_another_process_which_gets_an_answer(tmp_path):
    bench = Bench(tmp_path)
    bench.start()
    with ThreadPoolExecutor(1) as other:
        request = other.submit(request_end, tmp_path, CANCEL, 60.0)
        until(lambda: [*tmp_path.glob("requests/*.json")])  # the test clock does not wait for the process
        with pytest.raises(JobCancelledError, match="resume it if its checkpoints are retained"):
            until_cancelled(bench)
        assert request.result(60) is None
    assert list((tmp_path / "requests").iterdir()) == []


def test_a_cancellation_that_was_left_behind_ends_no_later_job_whatever_the_time_of_day(tmp_path):
    now = 0.0
    requests = SavepointRequests(tmp_path / "requests", lambda: now)
    left = tmp_path / "requests" / "left.json"
    left.parent.mkdir()
    left.write_text('{"cancel": 7}')
    requests.poll()
    clock_jumps.jump(Action.CLOCK_FORWARD)
    requests.poll()
    clock_jumps.settle()
    now = 10.0
    requests.poll()
    assert left.exists()
    now = 10.1
    requests.poll()
    assert not left.exists()
    assert not requests.cancelled.is_set()


@pytest.mark.parametrize("action", [Action.DRIVER_CLOCK_FORWARD, Action.DRIVER_CLOCK_BACK])
def test_a_sender_that_waits_cancels_the_job_whatever_the_time_of_day(tmp_path, action):
    bench = Bench(tmp_path)
    bench.start()
    with ThreadPoolExecutor(1) as other:
        request = other.submit(request_end, tmp_path, CANCEL, 60.0)
        until(lambda: [*tmp_path.glob("requests/*.json")])
        clock_jumps.jump(action)
        try:
            with pytest.raises(JobCancelledError):
                until_cancelled(bench)
        finally:
            clock_jumps.settle()
        assert request.result(60) is None


def test_a_cancellation_of_a_job_that_fails_meanwhile_is_answered_with_the_failure(tmp_path):
    bench = Bench(tmp_path)
    bench.start()
    with ThreadPoolExecutor(1) as other:
        request = other.submit(request_end, tmp_path, CANCEL, 60.0)
        while not bench.requests.cancelled.is_set():
            bench.requests.poll()
        bench.it._savepoints.failed(ValueError("a fault"))
        with pytest.raises(SavepointAbortedError, match="a fault"):
            request.result(60)


@pytest.mark.rule("COORD-25")
@pytest.mark.rule("COORD-12")
@pytest.mark.parametrize("retention", KEPT)
def test_a_suspended_job_keeps_every_checkpoint_and_ends_the_pending_one(tmp_path, retention):
    bench = Bench(tmp_path, externalized_checkpoint_retention=retention)
    bench.start()
    for checkpoint in (1, 2):
        bench.pass_ms(1_000)
        bench.acknowledge(checkpoint)
    bench.pass_ms(1_000)
    bench.acknowledge(3, "in-0")
    bench.requests.suspended.set()
    with pytest.raises(JobSuspendedError, match="resume it to continue"):
        until_cancelled(bench)
    assert bench.it.job_ended(SUSPENDED) is None
    assert bench.storage.completed_ids() == (1, 2)
    assert not bench.storage.location.sizes("chk-3")  # the empty folder reserves the id
    assert (3, "COORDINATOR_SUSPEND") in bench.it.aborted
    assert Bench(tmp_path).begin() == 2


def test_a_job_is_suspended_by_its_handle_and_from_another_process(tmp_path):
    bench = Bench(tmp_path)
    bench.start()
    running = RunningJob("job", tmp_path, lambda: until_cancelled(bench), bench.requests)
    assert running.suspend(seconds=60) is True
    assert RunningJob("job", tmp_path, lambda: None, bench.requests).suspend(seconds=60) is False

    again = Bench(tmp_path)
    again.start()
    with ThreadPoolExecutor(2) as other:
        request = other.submit(request_end, tmp_path, SUSPEND, 60.0)
        until(lambda: [*tmp_path.glob("requests/*.json")])
        cancelled = other.submit(request_end, tmp_path, CANCEL, 60.0)
        until(lambda: len([*tmp_path.glob("requests/*.json")]) == 2)
        with pytest.raises((JobSuspendedError, JobCancelledError)) as ended:
            until_cancelled(again)
        suspended = ended.type is JobSuspendedError
        (succeeds, fails) = (request, cancelled) if suspended else (cancelled, request)
        assert succeeds.result(60) is None
        with pytest.raises(SavepointAbortedError, match=r"a user has (suspended|cancelled) the job"):
            fails.result(60)


def test_a_job_in_memory_is_not_suspended(tmp_path):
    requests = SavepointRequests(tmp_path / "requests", may_suspend=False)
    (tmp_path / "checkpoints" / "attempts").mkdir(parents=True)
    never = threading.Event()
    running = RunningJob("job", tmp_path, never.wait, requests)
    with pytest.raises(SavepointFailedError, match="cannot be suspended; stop it with a savepoint"):
        running.suspend(seconds=60)
    with ThreadPoolExecutor(1) as other:
        request = other.submit(request_end, tmp_path, SUSPEND, 60.0)
        while not request.done():
            requests.poll()
        with pytest.raises(SavepointAbortedError, match="cannot be suspended"):
            request.result(60)
    assert not requests.suspended.is_set()
    never.set()
