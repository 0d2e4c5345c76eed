"""A job on Spark is suspended from another process, and another driver continues it; nothing is lost."""

import pytest
from click.testing import CliRunner

from conformance.commands.jobs.suspend import command
from conformance.observe.validate import validate
from conformance.verdict import Verdict
from impl.config import NO_EXTERNALIZED_CHECKPOINTS, CheckpointConfig, ExecutionConfig
from impl.connectors import read_committed
from impl.jobs.numbers import KEYS, numbers_job
from impl.spark.errors import JobSuspendedError
from impl.state import CheckpointStorage
from tests.waiting import until

ROWS = 4_000
EXECUTION = ExecutionConfig(startup_timeout_ms=300_000, heartbeat_timeout_ms=60_000)
CONFIG = CheckpointConfig(
    checkpointing_interval_ms=100, externalized_checkpoint_retention=NO_EXTERNALIZED_CHECKPOINTS
)


@pytest.mark.rule("COORD-25")
@pytest.mark.rule("ONCE-03")
def test_a_suspended_job_is_continued_by_another_driver_whatever_the_retention(spark, tmp_path):
    job = numbers_job(ROWS, tmp_path / "committed", 1_000.0).with_checkpoints(CONFIG)
    job, run = job.with_execution(EXECUTION), tmp_path / "run"
    running = job.start("local[8]", run, spark=spark, event_log=True)
    until(lambda: running.has_ended or running.checkpoint(seconds=300) > 3)
    ended = CliRunner().invoke(command, [str(run), "--seconds", "300"], standalone_mode=False)
    assert (ended.return_value, ended.output) == (0, f"suspended the job in {run}\n")
    with pytest.raises(JobSuspendedError, match="resume it to continue"):
        running.result(300)
    kept = CheckpointStorage(run / "checkpoints").completed_ids()
    assert kept

    result = job.execute("local[8]", run, spark=spark, event_log=True, resume=True)
    assert [one.restored for one in result.attempts] == [kept[-1]]
    assert result.attempts[0].records < ROWS
    committed = read_committed(tmp_path / "committed")
    columns = (committed.column(name).to_pylist() for name in ("key", "number", "count"))
    exact = sorted((number % KEYS, number, number // KEYS + 1) for number in range(ROWS))
    assert sorted(zip(*columns, strict=True)) == exact
    assert (
        CheckpointStorage(run / "checkpoints").completed_ids() == ()
    )  # it has finished: nothing is retained
    trace = validate(run / "events", required=())
    assert trace.verdict is Verdict.CONFORMS, trace.describe()
