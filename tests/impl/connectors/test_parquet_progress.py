"""The newest checkpoint of which every sink has committed its output."""

import pyarrow as pa
import pytest

from impl.connectors import OutputCorruptError, ParquetFiles, ParquetOutput, TwoPhaseSink
from impl.connectors.manifests import retract
from impl.connectors.parquet_progress import newest_whole_checkpoint, retracted, schema_of, whole_output

SCHEMA = pa.schema({"n": pa.int64()})


@pytest.fixture
def out(tmp_path):
    output = ParquetOutput(tmp_path / "out", SCHEMA)
    output.prepare()
    return output.directory


def sinks(out, parallelism, attempt=1):
    return [
        TwoPhaseSink(ParquetFiles(out, subtask=f"sink-{one}", attempt=attempt, parallelism=parallelism))
        for one in range(parallelism)
    ]


def write(sink, checkpoint, *numbers):
    sink.write(pa.record_batch({"n": pa.array(numbers, pa.int64())}))
    sink.snapshot(checkpoint)


def ids(out, after=-1):
    return [(one.checkpoint, one.subtask) for one in whole_output(out, after)]


@pytest.mark.rule("ONCE-05")
def test_a_checkpoint_is_complete_in_the_output_when_every_sink_has_committed(out):
    first, second = sinks(out, 2)
    for checkpoint in (1, 2):
        write(first, checkpoint, checkpoint)
        write(second, checkpoint, checkpoint)
    assert newest_whole_checkpoint(out) is None
    first.notify_complete(2)
    assert (newest_whole_checkpoint(out), ids(out)) == (None, [])
    second.notify_complete(1)
    assert ids(out) == [(1, "sink-0"), (1, "sink-1")]
    second.notify_complete(2)
    assert newest_whole_checkpoint(out) == 2
    assert ids(out, after=1) == [(2, "sink-0"), (2, "sink-1")]


@pytest.mark.rule("SINK-07")
def test_a_finished_sink_without_a_manifest_is_not_awaited(out):
    first, second = sinks(out, 2)
    first.finish()
    for checkpoint in (1, 2):
        write(second, checkpoint, checkpoint)
        first.snapshot(checkpoint)
        first.notify_complete(checkpoint)
        second.notify_complete(checkpoint)
    assert ids(out) == [(1, "sink-0"), (1, "sink-1"), (2, "sink-1")]


@pytest.mark.rule("SINK-06")
def test_a_newer_attempt_with_another_parallelism_commits_for_the_earlier_ones(out):
    first, second = sinks(out, 2)
    write(first, 1, 1)
    write(second, 1, 2)
    first.notify_complete(1)
    lost = second.state_of(1)
    participant = ParquetFiles(out, subtask="sink-0", attempt=2, parallelism=1)
    TwoPhaseSink.restored(participant, lost)
    assert newest_whole_checkpoint(out) is None
    participant.committed(1)
    assert ids(out) == [(1, "sink-0"), (1, "sink-1")]


def test_two_sinks_in_one_directory_are_both_awaited(out):
    [mine] = sinks(out, 1)
    other = TwoPhaseSink(ParquetFiles(out, subtask="other-0", attempt=1, parallelism=1))
    write(mine, 1, 1)
    write(other, 1, 2)
    mine.notify_complete(1)
    other.notify_complete(1)
    assert ids(out) == [(1, "other-0"), (1, "sink-0")]


@pytest.mark.rule("ONCE-03")
def test_output_taken_back_counts_up_to_the_position_of_a_reader(out):
    [sink] = sinks(out, 1)
    for checkpoint in (1, 2, 3):
        write(sink, checkpoint, checkpoint)
        sink.notify_complete(checkpoint)
    retract(out, 1)
    assert [retracted(out, checkpoint) for checkpoint in (1, 2, 3)] == [0, 1, 2]
    assert ids(out) == [(1, "sink-0")]


def test_the_schema_is_known_before_the_first_row(out, tmp_path):
    assert schema_of(out) == SCHEMA
    with pytest.raises(OutputCorruptError, match="name the directory that the job's ParquetOutput was given"):
        schema_of(tmp_path)
