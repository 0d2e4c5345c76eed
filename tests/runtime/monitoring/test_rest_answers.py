"""The REST interface uses Flink's names, and our monitor for Flink can read its answers."""

import pytest
from monitored_job import ID, MonitoredJob, plan_of

from conformance.observe.monitor.rest import RestWatch
from impl.core import CheckpointType
from impl.core.coordinator.job import FAILED
from impl.metrics import TaskLoad
from impl.monitoring.checkpoint_statistics import Restored
from impl.monitoring.rest_answers import NotFoundError, RestAnswers


def states(job):
    return job.get()["state"]


def test_before_its_start_there_is_no_job():
    job = MonitoredJob()

    assert job.answers.answer("/jobs") == {"jobs": []}
    assert job.answers.answer("/jobs/overview") == {"jobs": []}
    with pytest.raises(NotFoundError, match=f"Job {ID} not found"):
        job.get()


def test_the_state_of_a_job_is_that_of_its_last_attempt():
    job = MonitoredJob().start()
    assert states(job) == "INITIALIZING"
    job.run()
    assert states(job) == "RUNNING"
    job.fail("in-0 is gone: killed")
    assert states(job) == "RESTARTING"
    job.attempts[-1].running = 1.0
    assert states(job) == "RUNNING"
    job.now = 3.0
    job.monitor.ended(FAILED, "no restart is left")
    assert states(job) == "FAILED"
    assert job.get()["failure"] == "no restart is left"
    assert (job.get()["end-time"], job.get()["duration"]) == (1_003_000, 3_000)


def test_a_finished_subtask_keeps_the_status_finished_when_the_job_fails():
    job = MonitoredJob().run()
    job.metrics.finished("in-0", 100, TaskLoad(100, 2_000, 0, 0))
    job.metrics.finished("count-1", 50, TaskLoad(50, 2_000, 0, 0))
    source, count, sink = job.get()["vertices"]

    assert [one["status"] for one in (source, count, sink)] == ["FINISHED", "RUNNING", "RUNNING"]
    assert count["tasks"] == {"RUNNING": 1, "INITIALIZING": 0, "FINISHED": 1}
    assert [one["status"] for one in job.get("/vertices/count")["subtasks"]] == ["RUNNING", "FINISHED"]

    job.monitor.ended(FAILED, "no restart is left")
    assert [one["status"] for one in job.get("/vertices/count")["subtasks"]] == ["FAILED", "FINISHED"]


def test_no_duration_is_negative_when_the_wall_clock_is_set_back():
    job = MonitoredJob().run()
    job.now = 60.0
    job.trigger(1)
    job.now = -60.0
    job.acknowledge(1)
    parts = [job.get("/checkpoints/details/1/subtasks/count"), job.get("/checkpoints/details/1")]

    assert job.get()["duration"] == 0
    assert job.get("/checkpoints")["history"][0]["end_to_end_duration"] == 0
    assert [one["end_to_end_duration"] for one in (*parts, *parts[0]["subtasks"])] == [0, 0, 0, 0]


def test_the_plan_has_the_graph_with_its_chained_functions():
    job = MonitoredJob().run()
    nodes = job.get("/plan")["plan"]["nodes"]

    assert [(one["id"], one["description"], one["parallelism"], one["operator"]) for one in nodes] == [
        ("in", "in", 1, "source"),
        ("count", "count -> check", 2, "process"),
        ("out", "out", 1, "sink"),
    ]
    assert [one["inputs"] for one in nodes] == [
        [],
        [{"num": 0, "id": "in", "ship_strategy": "HASH"}],
        [{"num": 0, "id": "count", "ship_strategy": "REBALANCE"}],
    ]
    assert job.get()["plan"]["nodes"] == nodes


def test_a_vertex_has_records_rates_and_shares_of_time():
    job = MonitoredJob().run()
    job.monitor.sample()
    job.heartbeat(2_001, 1_000, 500, 1_200)
    job.heartbeat(2_001, 1_000, 500, 300, tasks=["count-1"])
    source, count, _ = job.get()["vertices"]

    assert count["metrics"] == {
        "read-records": 2_000,
        "write-records": 4_000,
        "read-records-per-second": 1_000.0,
        "write-records-per-second": 2_000.0,
        "buffered-bytes": 14,
        "accumulated-backpressured-time": 1_500,
        "accumulated-idle-time": 1_000,
        "accumulated-busy-time": 1_502,
        "max-busyRatio": 0.6,
        "max-idleRatio": 0.25,
        "max-backpressuredRatio": 0.6,
    }
    assert (source["metrics"]["read-records"], source["metrics"]["write-records"]) == (0, 2_000)
    assert [one["backpressuredRatio"] for one in job.get("/vertices/count")["subtasks"]] == [0.6, 0.15]
    pressure = job.get("/vertices/count/backpressure")
    assert pressure["backpressureLevel"] == "high"
    assert [(one["ratio"], one["backpressureLevel"]) for one in pressure["subtasks"]] == [
        (0.6, "high"),
        (0.15, "low"),
    ]


def test_checkpoints_have_the_names_of_flink():
    job = MonitoredJob().run()
    job.complete(1)
    job.tracker.discarded(1)
    job.complete(2, CheckpointType.SAVEPOINT, "run/savepoints/savepoint-2-5eed")
    job.trigger(3)
    job.tracker.failed(3, 600_000.0, "CHECKPOINT_EXPIRED")
    job.complete(4)
    job.trigger(5)
    job.acknowledge(5, "in-0", unaligned=True)
    job.tracker.restored(Restored(4, 1_000_000))
    answer = job.get("/checkpoints")

    assert answer["counts"] == {"restored": 1, "total": 5, "in_progress": 1, "completed": 3, "failed": 1}
    assert [(one["id"], one["status"], one["checkpoint_type"]) for one in answer["history"]] == [
        (5, "IN_PROGRESS", "UNALIGNED_CHECKPOINT"),
        (4, "COMPLETED", "CHECKPOINT"),
        (3, "FAILED", "CHECKPOINT"),
        (2, "COMPLETED", "SAVEPOINT"),
        (1, "COMPLETED", "CHECKPOINT"),
    ]
    assert answer["history"][-1] == {
        "className": "completed",
        "id": 1,
        "status": "COMPLETED",
        "is_savepoint": False,
        "checkpoint_type": "CHECKPOINT",
        "trigger_timestamp": 1_000_000,
        "latest_ack_timestamp": 1_000_020,
        "checkpointed_size": 400,
        "state_size": 600,
        "end_to_end_duration": 25,
        "num_subtasks": 4,
        "num_acknowledged_subtasks": 4,
        "attempt": 1,
        "tasks": {},
        "external_path": "run/checkpoints/chk-1",
        "discarded": True,
    }
    latest = answer["latest"]
    assert latest["completed"]["external_path"] == "run/checkpoints/chk-4"
    assert latest["savepoint"]["external_path"] == "run/savepoints/savepoint-2-5eed"
    assert (latest["failed"]["id"], latest["failed"]["failure_message"]) == (3, "CHECKPOINT_EXPIRED")
    assert latest["restored"]["external_path"] == "run/checkpoints/chk-4"
    assert answer["summary"]["end_to_end_duration"] == {"min": 25, "max": 25, "avg": 25}


def test_the_details_of_a_checkpoint_have_every_subtask():
    job = MonitoredJob().run()
    job.trigger(1)
    job.now = 0.03
    job.acknowledge(1, "count-1")
    tasks = job.get("/checkpoints/details/1")["tasks"]
    subtasks = job.get("/checkpoints/details/1/subtasks/count")["subtasks"]

    names = ("num_acknowledged_subtasks", "num_subtasks")
    counts = {vertex: tuple(one[name] for name in names) for vertex, one in tasks.items()}
    assert counts == {"in": (0, 1), "count": (1, 2), "out": (0, 1)}
    assert subtasks == [
        {"index": 0, "status": "pending_or_failed"},
        {
            "index": 1,
            "status": "completed",
            "ack_timestamp": 1_000_030,
            "end_to_end_duration": 30,
            "checkpointed_size": 100,
            "state_size": 150,
            "checkpoint": {"sync": 1, "async": 4},
            "alignment": {"duration": 12},
            "unaligned_checkpoint": False,
            "aborted": False,
        },
    ]


def test_attempts_have_their_times_and_causes_newest_first():
    job = MonitoredJob().run()
    job.now = 2.0
    job.fail("count-1 failed: ValueError: seven", restored=4)
    first = job.get("/attempts")["attempts"][-1]

    assert first == {
        "attempt": 1,
        "start-time": 1_000_000,
        "running-time": 1_000_000,
        "failure-time": 1_002_000,
        "end-time": None,
        "restored": None,
        "source-records": 0,
        "cause": "count-1 failed: ValueError: seven",
    }
    assert job.get("/attempts")["attempts"][0]["restored"] == 4
    assert job.get("/exceptions")["exceptionHistory"]["entries"] == [
        {
            "exceptionName": "ValueError",
            "stacktrace": "count-1 failed: ValueError: seven",
            "timestamp": 1_002_000,
            "taskName": "count-1",
            "attempt": 1,
            "concurrentExceptions": [],
        }
    ]


def test_the_configuration_has_the_names_of_flink():
    job = MonitoredJob(unaligned_checkpoints_enabled=True, aligned_checkpoint_timeout_ms=100).run()
    config = job.get("/checkpoints/config")

    assert config["mode"] == "exactly_once"
    assert (config["interval"], config["timeout"], config["max_concurrent"]) == (500, 600_000, 1)
    assert (config["unaligned_checkpoints"], config["aligned_checkpoint_timeout"]) == (True, 100)
    assert config["externalization"] == {"enabled": True, "delete_on_cancellation": False}
    assert config["checkpoint_storage"] == "run/checkpoints"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/jobs/",
        "/taskmanagers",
        "/jobs/other",
        f"/jobs/{ID}/vertices/none",
        f"/jobs/{ID}/checkpoints/details/9",
        f"/jobs/{ID}/checkpoints/details/x/subtasks/count",
        f"/jobs/{ID}/checkpoints/details/1/subtasks/none",
        f"/jobs/{ID}/../{ID}",
    ],
)
def test_other_paths_do_not_exist(path):
    job = MonitoredJob().run()
    with pytest.raises(NotFoundError):
        job.answers.answer(path)


def watch(job):
    """A monitor for Flink's REST interface that reads our interface."""
    alarms, ended = [], []
    url = "http://localhost:1"
    reading = RestWatch(
        url, alarms.append, ended.append, lambda path: job.answers.answer(path.removeprefix(url))
    )
    return reading, alarms, ended


@pytest.mark.rule("COORD-07")
def test_the_monitor_of_flink_reads_the_answers_and_raises_no_alarm():
    job = MonitoredJob().run()
    reading, alarms, ended = watch(job)
    for checkpoint in range(1, 200):
        job.complete(checkpoint)
        reading.poll()
    job.trigger(200)
    reading.poll()
    job.tracker.failed(200, 5.0, "COORDINATOR_SUSPEND")
    job.fail("in-0 is gone: killed", restored=199)
    job.tracker.restored(Restored(199, int(1_000 * (1_000 + job.now)) + 10))
    reading.poll()

    assert alarms == []
    assert [(one.checkpoint, one.state) for one in ended[-3:]] == [
        (199, "completed"),
        (200, "failed"),
        (199, "restored"),
    ]
    assert reading.judged == {"COORD-02", "COORD-03", "COORD-07", "COORD-09", "ONCE-04"}
    assert reading.unanswered == 0


def test_a_driver_that_replaces_a_dead_one_shows_the_job_when_it_has_restored_it():
    job, next_driver = MonitoredJob().run(), MonitoredJob()
    for checkpoint in (1, 2, 3):
        job.complete(checkpoint)
    reading, alarms, _ = watch(job)
    reading.poll()
    job.answers = next_driver.answers
    first = next_driver.attempts.pop()
    next_driver.now = 5.0
    next_driver.start()
    assert next_driver.answers.answer("/jobs") == {"jobs": []}
    reading.poll()
    next_driver.tracker.restored(Restored(3, 1_005_000))
    next_driver.attempts.append(first)
    reading.poll()
    next_driver.complete(4)
    reading.poll()

    assert alarms == []


@pytest.mark.rule("ONCE-04")
def test_the_monitor_of_flink_reports_the_restore_of_an_older_checkpoint():
    job = MonitoredJob().run()
    reading, alarms, _ = watch(job)
    for checkpoint in (1, 2):
        job.complete(checkpoint)
    reading.poll()
    job.tracker.restored(Restored(1, 2_000_000))
    reading.poll()

    assert [alarm.rule for alarm in alarms] == ["ONCE-04"]


def test_the_name_of_a_job_is_in_the_answer_without_escapes():
    job = MonitoredJob(plan_of(name='<b>"&')).run()

    assert RestAnswers(job.monitor).answer("/jobs/overview")["jobs"][0]["name"] == '<b>"&'
