"""The prepared transactions that a job leaves in PostgreSQL: those of its last checkpoint are committed."""

from itertools import count

import psycopg
import pyarrow as pa
import pytest

from conformance import cli
from conformance.verdict import Exit
from impl.connectors import PostgresOutput, SinkContext, TwoPhaseSink
from impl.state import CheckpointStorage, SupersededError, encode
from impl.state.sections import pack
from impl.transactions import Fate, left, resolve

FRESH = count(1)
SCHEMA = pa.schema({"n": pa.int64()})


class Ended:
    """A job that has ended after checkpoint 1, with transactions of checkpoints 1 and 2 prepared."""

    def __init__(self, postgres, folder):
        self.conninfo = postgres.conninfo
        self.output = PostgresOutput(postgres.conninfo, f"left_{next(FRESH)}", SCHEMA)
        self.output.prepare()
        self.storage = CheckpointStorage(folder)
        self.attempt = self.storage.new_attempt()
        self.storage.record_restored(self.attempt, None)
        sink = TwoPhaseSink(
            self.output.open(SinkContext("job", self.storage.lineage, "sink-0", self.attempt))
        )
        for checkpoint in (1, 2):
            sink.write(pa.record_batch({"n": [checkpoint]}, schema=SCHEMA))
            sink.snapshot(checkpoint)
            if checkpoint == 1:
                content = pack({"sink": encode(sink.state_of(1))})
        sink.close()
        self.handles = [
            self.storage.write(1, "sink-0", self.attempt, content),
            self.storage.write(1, "count-0", self.attempt, pack({"keys": encode({})})),
        ]
        self.storage.publish(1, self.attempt, self.handles)

    def rows(self):
        with psycopg.connect(self.conninfo) as session:
            return [n for (n,) in session.execute(f"SELECT n FROM {self.output.table} ORDER BY n")]


@pytest.fixture
def ended(postgres, tmp_path):
    return Ended(postgres, tmp_path / "checkpoints")


@pytest.mark.rule("SINK-06")
def test_transactions_of_the_last_checkpoint_are_committed_and_others_rolled_back(ended):
    found = left(ended.storage, ended.conninfo)
    assert [one.fate for one in found] == [Fate.COMMIT, Fate.ROLL_BACK]
    assert ended.rows() == []
    assert resolve(ended.storage, ended.conninfo) == found
    assert ended.rows() == [1]
    assert left(ended.storage, ended.conninfo) == ()


def test_a_driver_that_still_runs_completes_nothing_afterwards(ended):
    resolve(ended.storage, ended.conninfo)
    with pytest.raises(SupersededError):
        ended.storage.publish(2, ended.attempt, [])
    assert resolve(ended.storage, ended.conninfo) == ()
    assert ended.storage.latest_completed().completed.checkpoint == 1


def test_another_job_keeps_its_transactions(ended, postgres, tmp_path):
    other = Ended(postgres, tmp_path / "other")
    resolve(ended.storage, ended.conninfo)
    assert len(left(other.storage, other.conninfo)) == 2
    resolve(other.storage, other.conninfo)


def test_the_command_lists_and_resolves_them(ended, capsys):
    words = ["transactions", str(ended.storage.location), ended.conninfo]
    assert cli.run(words) == Exit.CONFORMS
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition("  ")[2] for line in lines[:2]] == ["commit", "roll back"]
    assert lines[2] == "2 prepared transactions of the job"
    assert cli.run([*words, "--resolve"]) == Exit.CONFORMS
    assert "committed\n" in capsys.readouterr().out
    assert ended.rows() == [1]


def test_a_folder_without_a_job_is_refused_and_not_changed(postgres, tmp_path, capsys):
    assert cli.run(["transactions", str(tmp_path), postgres.conninfo]) == Exit.USAGE
    assert "expected the checkpoint folder of a job" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
