"""Parquet output in an S3 server, also if its answers are lost, late or refused."""

import pickle
import random
from collections import Counter

import pyarrow as pa
import pytest

from conformance.torture.faulty_store import FaultyStore, StoreFault, drawn
from conformance.torture.servers.object_server import BUCKET
from impl.connectors import (
    OutputCorruptError,
    ParquetOutput,
    SinkContext,
    TwoPhaseSink,
    list_committed,
    read_committed,
)
from impl.connectors.output_claims import Ancestor, Claim
from impl.connectors.parquet_progress import newest_whole_checkpoint
from impl.state import StorageError, SupersededError
from impl.state.locations import LocalFiles, ObjectFiles, Retries
from impl.state.locations.object_client import ObstoreClient
from tests.object_clients import Clock

SCHEMA = pa.schema({"n": pa.int64()})
RUN = "a" * 16
URI = f"s3://{BUCKET}"
UPLOADS = ("PUT", "POST")


@pytest.fixture
def files(object_server, monkeypatch, request):
    """Makes a location of this test in the store; if a proxy is given, through it."""

    def make(proxy=None, seconds=60.0):
        for name, value in (object_server.environment | (proxy.environment if proxy else {})).items():
            monkeypatch.setenv(name, value)
        prefix = request.node.name.translate(str.maketrans("[]", "--"))
        clock = Clock()
        return ObjectFiles(URI, ObstoreClient(URI), prefix, Retries(seconds, lambda: clock.now, clock.sleep))

    return make


def begun(location, attempt, starts):
    """An attempt's claim of the output, and the sink of this attempt."""
    output = ParquetOutput(location, SCHEMA)
    output.prepare()
    output.claim(Claim("job", RUN, attempt, starts))
    return output, sink_of(output, attempt)


def sink_of(output, attempt, state=None):
    return TwoPhaseSink.restored(output.open(SinkContext("job", RUN, "sink-0", attempt)), state)[0]


def write(sink, checkpoint, *numbers):
    sink.write(pa.record_batch({"n": pa.array(numbers, pa.int64())}))
    sink.snapshot(checkpoint)
    return pickle.loads(pickle.dumps(sink.state_of(checkpoint)))


def seen(location):
    table = read_committed(location)
    return sorted(table.column("n").to_pylist()) if table.num_columns else []


def uploads(fault, folder):
    """A fault for the first upload of each object in a folder."""
    known = set()

    def choose(method, path):
        path = path.partition("?")[0]
        if method not in UPLOADS or f"/{folder}/" not in path or path in known:
            return None
        known.add(path)
        return fault

    return choose


@pytest.mark.rule("SINK-06")
@pytest.mark.parametrize("folder", ["data", "manifests", "claims", "progress"])
@pytest.mark.parametrize("fault", list(StoreFault))
def test_a_failed_upload_neither_loses_nor_doubles_a_row(object_server, files, fault, folder):
    with FaultyStore(object_server.endpoint, uploads(fault, folder), slow_seconds=0.05) as store:
        location = files(store)
        _, sink = begun(location, 1, {1: None})
        for checkpoint in (1, 2):
            write(sink, checkpoint, checkpoint, 10 * checkpoint)
            sink.notify_complete(checkpoint)
        sink.close()
        assert store.happened[fault] == (1 if folder in ("claims", "progress") else 2)
    location = files()
    assert seen(location) == [1, 2, 10, 20]
    assert [one.checkpoint for one in list_committed(location)] == [1, 2]
    assert newest_whole_checkpoint(location) == 2
    assert ParquetOutput(location, SCHEMA).sweep(RUN, 2) == ()


@pytest.mark.rule("SINK-06")
def test_a_commit_with_a_lost_answer_is_repeated_by_the_next_attempt(object_server, files):
    def lost(method, path):
        return StoreFault.LOST if "/manifests/" in path and method == "PUT" else None

    with FaultyStore(object_server.endpoint, lost) as store:
        location = files(store, seconds=0.0)
        _, sink = begun(location, 1, {1: None})
        state = write(sink, 1, 1)
        with pytest.raises(StorageError, match="restart the job"):
            sink.notify_complete(1)
    location = files()
    assert seen(location) == [1]  # the store has executed the request
    output, _ = begun(location, 2, {1: None, 2: 1})
    assert output.sweep(RUN, 2, state.names) == ()
    sink = sink_of(output, 2, state)
    assert seen(location) == [1]
    write(sink, 2, 2)
    sink.notify_complete(2)
    assert seen(location) == [1, 2]


@pytest.mark.rule("ONCE-06")
def test_an_older_attempt_that_wakes_before_its_commit_is_refused(files):
    location = files()
    _, old = begun(location, 1, {1: None})
    write(old, 1, 1)
    output, new = begun(location, 2, {1: None, 2: None})
    assert len(output.sweep(RUN, 2)) == 1
    write(new, 1, 7)
    new.notify_complete(1)
    with pytest.raises(SupersededError, match="attempt 2 exists"):
        old.notify_complete(1)
    old.write(pa.record_batch({"n": [1]}))
    old.snapshot(2)
    with pytest.raises(SupersededError):
        old.notify_complete(2)
    assert seen(location) == [7]
    assert len(output.sweep(RUN, 2)) == 1  # the data that it has staged since then


@pytest.mark.rule("ONCE-06")
def test_a_commit_that_is_under_way_while_a_newer_attempt_claims_is_in_no_list(object_server, files):
    direct = files()

    def claimed_meanwhile(method, path):
        if method == "PUT" and "/manifests/" in path and len(direct.sizes("claims")) == 1:
            ParquetOutput(direct, SCHEMA).claim(Claim("job", RUN, 2, {1: None, 2: None}))

    with FaultyStore(object_server.endpoint, claimed_meanwhile) as store:
        _, old = begun(files(store), 1, {1: None})
        write(old, 1, 1)
        with pytest.raises(SupersededError, match="attempt 2 exists"):
            old.notify_complete(1)
    [late] = direct.sizes("manifests")
    assert list_committed(direct) == ()
    assert ParquetOutput(direct, SCHEMA).retract(RUN, None) == (late,)
    assert [*direct.sizes("retracted")] == [late]
    assert not direct.sizes("manifests")


@pytest.mark.rule("ONCE-06")
def test_a_driver_that_was_paused_within_its_retraction_takes_nothing_of_a_newer_run(tmp_path):
    newer = "b" * len(RUN)

    class Paused(LocalFiles):
        """Before its first look at the manifests, another run begins from checkpoint 5 and commits."""

        def sizes(self, folder=""):
            if folder == "manifests" and len(super().sizes("claims")) == 1:
                output = ParquetOutput(tmp_path, SCHEMA)
                output.claim(Claim("job", newer, 6, {6: 5}, (Ancestor(RUN, 5),)))
                sink = TwoPhaseSink.restored(output.open(SinkContext("job", newer, "sink-0", 6)), None)[0]
                write(sink, 6, 60)
                sink.notify_complete(6)
            return super().sizes(folder)

    _, sink = begun(LocalFiles(tmp_path), 3, {3: 4})
    write(sink, 5, 50)
    sink.notify_complete(5)
    old = ParquetOutput(Paused(tmp_path), SCHEMA)
    assert old.retract(RUN, 5, Claim("job", RUN, 3, {3: 4})) == ()
    assert seen(LocalFiles(tmp_path)) == [50, 60]


@pytest.mark.rule("SINK-06")
@pytest.mark.parametrize("seed", range(3))
def test_a_store_that_fails_at_random_changes_no_output(object_server, files, seed):
    with FaultyStore(object_server.endpoint, drawn(f"{seed}", 0.3), slow_seconds=0.02) as store:
        location = files(store)
        state, starts = None, {}
        for attempt in (1, 2, 3):
            restored = None if attempt == 1 else 2 * (attempt - 1)
            starts[attempt] = restored
            output, _ = begun(location, attempt, dict(starts))
            output.sweep(RUN, attempt, state.names if state else ())
            output.retract(RUN, restored)
            sink = sink_of(output, attempt, state)
            first = 2 * attempt - 1
            write(sink, first, first)
            sink.notify_complete(first)
            state = write(sink, first + 1, first + 1)  # complete, and the attempt dies before its commit
            write(sink, first + 2, 100)
            sink.close()
        sink.notify_complete(6)
        assert set(store.happened) == set(StoreFault)
    location = files()
    assert seen(location) == [1, 2, 3, 4, 5, 6]


def test_a_location_without_output_is_reported(files):
    with pytest.raises(OutputCorruptError, match="expected the output of a Parquet sink"):
        read_committed(files())


def test_a_killed_worker_leaves_rows_on_its_host_until_the_next_one_begins(files):
    location = files()
    _, dead = begun(location, 1, {1: None})
    dead.write(pa.record_batch({"n": pa.array(range(70_000), pa.int64())}))
    assert len([*location.working().glob("data/.*")]) == 1
    begun(location, 2, {1: None, 2: None})
    assert not [*location.working().glob("data/.*")]
    assert not location.sizes("data")


@pytest.mark.rule("SINK-06")
@pytest.mark.parametrize("fault", [StoreFault.CUT, StoreFault.LOST, StoreFault.FAILED])
def test_an_upload_in_parts_that_goes_wrong_begins_again_and_never_shows_a_part(object_server, files, fault):
    parts, draw = [], random.Random(1)
    numbers = sorted(draw.getrandbits(62) for _ in range(1_500_000))  # random bytes, which hardly compress

    def second_part(method, path):
        if method == "PUT" and "partNumber" in path:
            parts.append(path)
        return fault if len(parts) == 2 and path == parts[1] else None

    with FaultyStore(object_server.endpoint, second_part) as store:
        location = files(store)
        _, sink = begun(location, 1, {1: None})
        state = write(sink, 1, *numbers)
        assert store.happened[fault] == 1
        sink.notify_complete(1)
        assert len(parts) > 3
        assert [*location.working().glob("data/*")] == []
    location = files()
    assert {f"data/{name}" for name in location.sizes("data")} == state.names
    assert seen(location) == numbers


def test_requests_of_a_commit_are_few(object_server, files):
    requested = Counter()

    def count(method, path):
        requested.update([method])

    with FaultyStore(object_server.endpoint, count) as store:
        _, sink = begun(files(store), 1, {1: None})
        requested.clear()
        write(sink, 1, 1)
        assert requested == {"PUT": 1}
        sink.notify_complete(1)
        assert requested == {"PUT": 3, "HEAD": 1, "GET": 4}
