"""The start of a run into existing folders: it never loses data of an earlier run."""

import pyarrow as pa
import pytest

from impl.config import ConfigError
from impl.connectors import ParquetFiles, TwoPhaseSink
from impl.driver import supervise
from impl.graph.plan import Edge, Plan, Role, Stage
from impl.job import Job, ParquetOutput, settings_of
from impl.spark.coordination.job_start import require_a_start, start_from_savepoint
from impl.spark.run_settings import RunSettings, Start
from impl.state import CheckpointStorage, NoSavepointError, encode, pack

ROWS = pa.record_batch({"v": [1]})


@pytest.fixture
def begin(tmp_path):
    """Whether a run may begin in the folders of the test."""
    output = ParquetOutput(tmp_path / "committed", ROWS.schema)
    plan = Plan(
        "job", (Stage("in", Role.SOURCE, None, 1), Stage("out", Role.SINK, output, 1)), (Edge("in", "out"),)
    )
    folder = tmp_path / "checkpoints"

    def start_problem(*, resume=False):
        require_a_start(CheckpointStorage(folder), folder, plan, resume=resume)

    return start_problem


def commit(tmp_path):
    sink = TwoPhaseSink(ParquetFiles(tmp_path / "committed", subtask="out-0", attempt=1))
    sink.write(ROWS)
    sink.snapshot(1)
    sink.notify_complete(1)


def complete(tmp_path):
    storage = CheckpointStorage(tmp_path / "checkpoints")
    attempt = storage.new_attempt()
    handle = storage.write(1, "in-0", attempt, pack({"splits": encode((1, {0: "state"}))}))
    storage.publish(1, attempt, [handle])


def test_a_run_may_begin_in_empty_folders(begin):
    begin()


def test_checkpoints_of_an_earlier_run_are_resumed_or_left_alone(begin, tmp_path):
    complete(tmp_path)
    commit(tmp_path)
    begin(resume=True)
    with pytest.raises(ConfigError, match="resume that job, or choose another folder"):
        begin()


def test_committed_output_without_its_checkpoint_is_not_taken_back(begin, tmp_path):
    commit(tmp_path)
    with pytest.raises(ConfigError, match=r"holds committed output, and .* has no checkpoint"):
        begin()


def test_without_any_checkpoint_there_is_nothing_to_resume(begin):
    with pytest.raises(ConfigError, match="no checkpoint from which the job can resume; restore one"):
        begin(resume=True)


def test_an_unreadable_checkpoint_refuses_the_start_with_a_reason(begin, tmp_path):
    complete(tmp_path)
    (metadata,) = (tmp_path / "checkpoints").glob("*/_metadata")
    metadata.write_bytes(b"torn")
    with pytest.raises(ConfigError, match="no checkpoint from which the job can resume; checkpoint 1: "):
        begin(resume=True)


@pytest.mark.parametrize("option", ["fault", "start", "owner", "requests", "drivers"])
def test_an_option_that_a_run_does_not_have_is_refused(option):
    with pytest.raises(ConfigError, match=rf"the options of a run are faults, .*; got also \['{option}'\]"):
        settings_of({option: None})


@pytest.mark.parametrize("option", ["spark", "on_progress"])
def test_a_supervised_run_refuses_what_another_process_cannot_have(option, tmp_path):
    with pytest.raises(ConfigError, match=f"{option}: cannot be sent to another process"):
        supervise(Job("numbers"), "local[2]", tmp_path / "run", **{option: print})
    assert not (tmp_path / "run").exists()


def test_a_driver_that_takes_over_needs_no_savepoint_if_the_dead_one_has_begun(tmp_path):
    """The job may have claimed and deleted the savepoint, or its user may have deleted it."""
    plan = Plan("job", (Stage("in", Role.SOURCE, None, 1),), ())
    storage = CheckpointStorage(tmp_path / "checkpoints")
    earlier = storage.new_attempt()
    storage.record_restored(earlier, None)
    settings = RunSettings(Start.TAKEN_OVER, tmp_path / "deleted", follows=earlier)
    with pytest.raises(NoSavepointError):
        start_from_savepoint(storage, plan, settings)
    storage.record_restored(storage.new_attempt(), 7)
    start_from_savepoint(storage, plan, settings)
