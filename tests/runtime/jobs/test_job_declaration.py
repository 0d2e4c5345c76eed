"""A job with an invalid declaration is refused, with the name of its fault, before Spark starts."""

import pytest

from impl.config import CheckpointConfig, ConfigError, ExecutionConfig, RestartConfig
from impl.faults import GATE_POINTS, SINK_POINTS, FaultLedger, FaultPlan, Point, Schedule
from impl.graph.plan import Role
from impl.jobs.flights import flights_csv, flights_job, settle
from impl.spark.errors import JavaNotFoundError
from impl.spark.session import spark_session


@pytest.mark.parametrize(
    ("config", "option"),
    [
        (lambda: CheckpointConfig(checkpointing_mode="AT_MOST_ONCE"), "checkpointing_mode"),
        (lambda: CheckpointConfig(unaligned_checkpoints_enabled="yes"), "takes a bool"),
        (
            lambda: CheckpointConfig(checkpointing_mode="AT_LEAST_ONCE", unaligned_checkpoints_enabled=True),
            "EXACTLY_ONCE",
        ),
        (
            lambda: CheckpointConfig(max_concurrent_checkpoints=2, unaligned_checkpoints_enabled=True),
            "max_concurrent_checkpoints 1",
        ),
        (lambda: CheckpointConfig(aligned_checkpoint_timeout_ms=10), "unaligned_checkpoints_enabled True"),
        (lambda: CheckpointConfig(data_inline_threshold_bytes=1 << 21), "at most 1048576, not 2097152"),
        (lambda: CheckpointConfig(checkpointing_interval_ms=0), "checkpointing_interval_ms"),
        (
            lambda: CheckpointConfig(checkpointing_interval_ms=None, checkpointing_start_delay_ms=0),
            "needs checkpointing_interval_ms",
        ),
        (lambda: CheckpointConfig(max_concurrent_checkpoints=0), "max_concurrent_checkpoints"),
        (lambda: CheckpointConfig(num_retained_checkpoints=True), "num_retained_checkpoints"),
        (lambda: RestartConfig(-1), "restart attempts"),
        (lambda: ExecutionConfig(heartbeat_timeout_ms=100), "heartbeat_timeout_ms"),
        (lambda: FaultPlan("sometime"), "alignment-in-progress"),
        (lambda: FaultPlan(Point.ALIGNMENT_IN_PROGRESS, action="explode"), "sigkill"),
        (lambda: FaultPlan(Point.ALIGNMENT_IN_PROGRESS, occurrence=0), "occurrence takes a number"),
        (lambda: FaultPlan(Point.ALIGNMENT_IN_PROGRESS, action="full-disk"), "full-disk cannot happen at"),
    ],
)
def test_a_setting_that_cannot_work_is_named(config, option):
    with pytest.raises(ConfigError, match=option):
        config()


def test_the_plan_of_the_flights(tmp_path):
    plan = flights_job(flights_csv(), tmp_path).plan()
    count_1 = plan.subtasks()[3]
    assert plan.ids() == (
        *("flights-0", "flights-1"),
        *("count-0", "count-1", "count-2", "count-3"),
        *("sink-0", "sink-1"),
    )
    assert count_1.id == "count-1"
    assert plan.upstream(count_1) == ("flights-0", "flights-1")
    assert plan.downstream(count_1) == ("sink-0", "sink-1")
    assert plan.of_role(Role.SINK) == ("sink-0", "sink-1")
    assert len(plan.edges()) == 2 * 4 + 4 * 2


def test_a_fault_for_a_task_that_does_not_exist_is_refused(tmp_path):
    job = flights_job(flights_csv(), tmp_path)
    with pytest.raises(ConfigError, match="count-7"):
        job.execute("local[8]", tmp_path, faults=[FaultPlan(Point.ALIGNMENT_IN_PROGRESS, "count-7")])


def test_a_fault_is_due_at_its_occurrence_only_and_claimed_once():
    plan = FaultPlan(Point.ALIGNMENT_IN_PROGRESS, "count", occurrence=2)
    schedule, ledger = Schedule([(0, plan)]), FaultLedger([plan])
    assert [schedule.reach(Point.ALIGNMENT_IN_PROGRESS) for _ in range(3)] == [None, (0, plan), None]
    assert [ledger.claim(0), ledger.claim(0)] == [True, False]
    assert [plan.concerns(task) for task in ("count-0", "count-3", "counter-0", "sink-0")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_seed_always_draws_the_same_task():
    plan = FaultPlan(Point.ALIGNMENT_IN_PROGRESS)
    drawn = [settle(plan, seed).task for seed in range(20)]
    assert drawn == [settle(plan, seed).task for seed in range(20)]
    assert len(set(drawn)) > 1
    assert settle(FaultPlan(Point.COMPLETION_STORED), 1).task is None


@pytest.mark.parametrize(
    ("points", "stages"),
    [
        (SINK_POINTS, {"sink"}),
        (GATE_POINTS, {"count", "sink"}),
        ((Point.BARRIER_DUE, Point.RESTORED), {"flights", "count", "sink"}),
    ],
)
def test_a_drawn_task_reaches_the_fault_point(points, stages):
    for point in points:
        drawn = {settle(FaultPlan(point), seed).task for seed in range(40)}

        assert {task.rpartition("-")[0] for task in drawn} == stages


def test_without_java_the_error_states_what_to_install(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaNotFoundError, match="Java 17"), spark_session("local[2]", tmp_path / "log"):
        pass
