"""`barrierspec run` empties only folders that a run has made."""

import click
import pytest

from conformance import cli
from conformance.commands.jobs.run import MARK, emptied
from conformance.verdict import Exit
from impl.config import ConfigError
from impl.jobs import flights
from impl.spark.errors import JobFailedError, TooFewSlotsError
from impl.state import CheckpointStorage, StorageError, SupersededError


def test_a_folder_that_no_run_has_made_is_not_changed(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")

    with pytest.raises(click.UsageError, match="name a new folder"):
        emptied(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_savepoint_of_another_output_is_refused(tmp_path, capsys):
    assert cli.run(["run", "--out", str(tmp_path), "--from-savepoint", str(tmp_path)]) == Exit.USAGE
    assert "is no folder of an earlier run" in capsys.readouterr().err


def test_a_claim_takes_a_savepoint(tmp_path, capsys):
    assert cli.run(["run", "--out", str(tmp_path / "run"), "--claim"]) == Exit.USAGE
    assert "CLAIM needs from_savepoint" in capsys.readouterr().err


def test_a_savepoint_is_requested_from_a_running_job(tmp_path, capsys):
    command = ["savepoint", str(tmp_path), "--seconds", "0.01"]
    assert cli.run(command) == Exit.USAGE
    assert "has no checkpoints; name the folder" in capsys.readouterr().err
    CheckpointStorage(tmp_path / "checkpoints")
    assert cli.run(command) == Exit.USAGE
    assert "no job runs there" in capsys.readouterr().err
    assert cli.run([*command, "--drain"]) == Exit.USAGE
    assert "needs stop, too" in capsys.readouterr().err
    assert list((tmp_path / "requests").iterdir()) == []


def test_a_folder_of_an_earlier_run_is_emptied(tmp_path):
    out = tmp_path / "run"
    emptied(out)
    (out / "old").touch()
    emptied(out)

    assert [path.name for path in out.iterdir()] == [MARK]


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (JobFailedError("no restart is left"), Exit.UNDETERMINED, "the job failed, and its output was not"),
        (StorageError("no space left"), Exit.UNDETERMINED, "no space left"),
        (SupersededError("attempt 2 exists"), Exit.UNDETERMINED, "attempt 2 exists"),
        (TooFewSlotsError("take local[8]"), Exit.USAGE, "take local[8]"),
        (ConfigError("no such task"), Exit.USAGE, "no such task"),
    ],
)
def test_a_job_that_failed_is_no_usage_error(tmp_path, monkeypatch, capsys, failure, code, words):
    def fails(*arguments, **named):
        raise failure

    monkeypatch.setattr(flights, "run", fails)  # raises the failure at once, instead of running a job
    assert cli.run(["run", "--out", str(tmp_path / "run")]) == code
    output = capsys.readouterr()
    assert words in output.out + output.err
