"""Checkpoints in an object store: failing requests, lost answers, and names that exist already."""

import os
import random
import tempfile

import pytest

from conformance.torture.faulty_store import FaultyStore, StoreFault
from impl.state import (
    CheckpointStorage,
    NoFileError,
    SavepointFolder,
    StateError,
    StorageError,
    SupersededError,
    begin_from,
    encode,
    origin_of,
)
from impl.state.locations import (
    LocalFiles,
    ObjectFiles,
    Retries,
    beside,
    is_uri,
    location_of,
    path_or_uri,
    record_checkpoint_folder,
    recorded_checkpoint_folder,
)
from impl.state.locations.object_client import ObstoreClient
from tests.object_clients import FAILED, LOST, REFUSED, Clock, FaultyClient


@pytest.fixture
def store(object_server, monkeypatch):
    """An S3 server; `files` makes a location in it, through a proxy if one is given."""

    def files(proxy, prefix):
        for name, value in (object_server.environment | (proxy.environment if proxy else {})).items():
            monkeypatch.setenv(name, value)
        clock = Clock()
        uri = object_server.uri("").rstrip("/")
        return ObjectFiles(uri, ObstoreClient(uri), prefix, Retries(60.0, lambda: clock.now, clock.sleep))

    object_server.files = files
    return object_server


@pytest.mark.parametrize("faults", [[], [FAILED] * 5, [LOST], [LOST, FAILED, LOST], [FAILED, LOST, FAILED]])
def test_a_publication_succeeds_once_with_any_failure_of_its_requests(faults):
    client = FaultyClient(*faults)
    assert client.files().publish("attempts/1", b"") is True
    assert client.files().publish("attempts/1", b"") is False
    assert list(client.objects) == ["job/attempts/1"]


@pytest.mark.parametrize("faults", [[], [LOST], [FAILED, LOST, LOST]])
def test_an_equal_object_of_another_writer_does_not_count_as_the_own_one(faults):
    objects = {}
    FaultyClient(objects=objects).files().publish("attempts/1", b"")
    assert FaultyClient(*faults, objects=objects).files().publish("attempts/1", b"") is False


@pytest.mark.rule("ONCE-06")
def test_of_two_drivers_whose_answers_are_lost_each_gets_an_attempt_of_its_own():
    objects = {}
    one = CheckpointStorage(FaultyClient(None, LOST, objects=objects).files())
    other = CheckpointStorage(FaultyClient(None, LOST, objects=objects).files())
    assert (one.new_attempt(), other.new_attempt()) == (1, 2)
    with pytest.raises(SupersededError):
        one.require_newest("going on", 1)


def test_a_name_that_is_removed_while_it_is_published_is_tried_again():
    client = FaultyClient()
    client.files().publish("chk-1/.reserved", b"")
    client.before["writer_of"] = lambda: client.objects.clear()
    assert client.files().publish("chk-1/.reserved", b"") is True
    assert [kind for kind, _ in client.requests] == ["create", "create", "writer_of", "create"]


@pytest.mark.parametrize("fault", [FAILED, LOST])
def test_a_store_that_never_answers_is_an_error_within_the_bound(fault):
    client = FaultyClient(*[fault] * 1_000)
    files = client.files(seconds=60.0)
    client.objects["job/a"] = (b"", "")
    with pytest.raises(StorageError, match=r"reading s3://bucket/job/a failed \d+ times in 60 s, .* restart"):
        files.read("a")
    assert 12 < len(client.requests) < 60
    assert files._retries.now() <= 60.0


def test_a_refused_request_is_not_repeated():
    client = FaultyClient(REFUSED)
    with pytest.raises(StorageError, match="refuses these credentials"):
        client.files().publish("attempts/1", b"")
    assert len(client.requests) == 1


@pytest.mark.rule("ONCE-04")
def test_a_checkpoint_is_complete_or_not_there_whichever_request_of_its_publication_fails_for_good():
    def run(*faults):
        client = FaultyClient()
        storage = CheckpointStorage(client.files())
        attempt = storage.new_attempt()
        handle = storage.write(1, "a-0", attempt, encode("state"))
        client.requests.clear()
        client.faults = list(faults)
        try:
            storage.publish(1, attempt, [handle])
        except StorageError:
            assert faults
        client.faults = []
        requests, restored = len(client.requests), storage.latest_completed()
        assert restored.refused == ()
        assert restored.completed is None or storage.read(restored.completed.handles["a-0"]) == "state"
        return requests, restored.completed is not None

    requests, complete = run()
    assert complete
    assert [run(*[None] * at, REFUSED)[1] for at in range(requests)] == [False] * 3 + [True] * (requests - 3)


def test_a_download_that_is_cut_begins_again(tmp_path):
    client = FaultyClient()
    source = tmp_path / "table.sst"
    source.write_bytes(bytes(range(100)))
    storage = CheckpointStorage(client.files())
    client.faults = [FAILED, LOST]
    shared = storage.shared.add(source, "count-0", 1)
    client.faults = [None, None, "cut"]
    storage.shared.fetch(shared, tmp_path / "restored.sst")
    assert (tmp_path / "restored.sst").read_bytes() == source.read_bytes()
    storage.shared.verify(shared)
    client.objects[f"job/{shared.file}"] = (b"x" * 100, "")
    with pytest.raises(StateError, match="expected checksum"):
        storage.shared.fetch(shared, tmp_path / "again.sst")


@pytest.mark.rule("COORD-02")
def test_an_id_belongs_to_one_driver_and_stays_reserved_when_its_files_are_swept():
    client = FaultyClient()
    one, other = CheckpointStorage(client.files()), CheckpointStorage(client.files())
    attempt = one.new_attempt()
    assert (one.reserve(1), other.reserve(1)) == (True, False)
    one.write(2, "a-0", attempt, encode(1))
    assert other.reserve(2) is False
    newer = other.new_attempt()
    assert other.sweep(newer) == ("chk-2/a-0.1.state",)
    assert other.next_checkpoint_id() == 3
    other.publish(3, newer, [])
    other.sweep(newer)
    assert client.files().folders() == ("attempts", "chk-3")


def test_a_savepoint_moves_between_a_folder_and_an_object_store(tmp_path):
    client = FaultyClient()
    source = tmp_path / "table.sst"
    source.write_bytes(b"table")
    places = [LocalFiles(tmp_path / "one"), client.files(), client.files().below("other")]
    places.append(LocalFiles(tmp_path / "last"))
    kept = SavepointFolder(places[0].below("savepoint-7-a"))
    kept.begin()
    shared = (kept.shared.add(source, "a-0", 3),)
    handle = kept.write(7, "a-0", 3, encode("state"), shared=shared)
    kept.publish(7, 3, [handle], 128, {"lineage": "run", "kind": "savepoint"})
    for number, place in enumerate(places[1:]):
        storage = CheckpointStorage(place)
        completed = begin_from(storage, kept)
        assert storage.load(7) == completed
        assert storage.read(completed.handles["a-0"]) == "state"
        assert origin_of(storage).checkpoint == 7
        copied = SavepointFolder(place.below(f"savepoint-7-{number}"))
        copied.begin()
        for name in ("a-0.3.state", shared[0].file, "_metadata"):
            copied.location.copy(name, kept.location, name)
        kept = copied
        assert kept.load().checkpoint == 7
    source.unlink()
    assert kept.load().checkpoint == 7


@pytest.mark.parametrize("kind", ["folder", "objects"])
def test_every_kind_of_location_gives_the_same_answers(tmp_path, kind):
    files = location_of(tmp_path / "job" if kind == "folder" else f"memory://{tmp_path.name}/job")
    files.make_folder("a")
    assert files.publish("a/1", b"first", "1-") is True
    assert files.publish("a/1", b"second", "1-") is False
    assert files.read("a/1") == b"first"
    files.replace("a/1", b"third")
    files.write_unsettled("a/2", b"")
    files.settle("a")
    assert (files.read("a/1"), files.sizes("a"), files.folders()) == (b"third", {"1": 5, "2": 0}, ("a",))
    assert [files.read_range("a/1", at, 3) for at in (0, 3, 9)] == [b"thi", b"rd", b""]
    assert (files.size("a/1"), files.size("a/9"), files.size("a"), files.sizes("b")) == (5, None, None, {})
    assert (files.reserve("a"), files.reserve("b"), files.reserve("b")) == (False, True, False)
    assert (sorted(files.folders()), files.sizes("b")) == (["a", "b"], {})
    files.remove_folder("a")
    files.remove_folder("b")
    assert files.folders() == ("a",)
    (tmp_path / "one").write_bytes(b"x" * 10)
    size, digest = files.add("shared/x", tmp_path / "one")
    assert (size, digest) == (10, files.digest("shared/x"))
    files.fetch("shared/x", tmp_path / "two")
    files.below("a").copy("3", files, "shared/x")
    assert (tmp_path / "two").read_bytes() == files.read("a/3") == b"x" * 10
    assert files.remove("a/3") is True
    files.remove("a/3")
    for missing in (lambda: files.read("a/3"), lambda: files.fetch("a/3", tmp_path / "four")):
        with pytest.raises(NoFileError):
            missing()


def test_the_files_of_running_tasks_are_in_a_private_folder_and_go_with_their_attempt(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    storage = CheckpointStorage(FaultyClient().files())
    for attempt in (1, 2):
        storage.working("count-0", attempt).mkdir(parents=True)
    storage.clear_working(2)
    [own] = tmp_path.iterdir()
    assert own.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in storage.working("count-0", 2).parent.iterdir()] == ["count-0.2"]
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    (tmp_path / "barrierspec-12345").mkdir()
    with pytest.raises(StorageError, match="expected a folder of this user, got another one; set TMPDIR"):
        storage.working("count-0", 2)


def test_a_location_is_a_folder_or_a_uri(tmp_path):
    assert path_or_uri(f"file://{tmp_path}") == tmp_path
    assert path_or_uri("s3://bucket/job/") == "s3://bucket/job"
    assert beside("s3://bucket/job", "savepoints") == "s3://bucket/job/savepoints"
    assert str(location_of("memory://here/job").below("x")) == "memory://here/job/x"
    assert not is_uri("folder/s3")
    for odd in ("s3:///job", "s3://bucket/job?versionId=1"):
        with pytest.raises(StateError, match="expected a URI with a bucket"):
            location_of(odd)
    with pytest.raises(StateError, match="expected the URI of an object store"):
        location_of("gopher://bucket/job")
    with pytest.raises(NoFileError, match="no such object"):
        location_of("memory://here/job").read("nothing")


def test_the_location_of_checkpoints_is_recorded_in_the_output_folder(tmp_path):
    assert recorded_checkpoint_folder(tmp_path) is None
    record_checkpoint_folder(tmp_path, "s3://bucket/job")
    assert recorded_checkpoint_folder(tmp_path) == "s3://bucket/job"
    record_checkpoint_folder(tmp_path, tmp_path / "checkpoints")
    assert recorded_checkpoint_folder(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.rule("ONCE-04")
@pytest.mark.rule("ONCE-06")
@pytest.mark.parametrize("seed", range(40))
def test_drivers_that_supersede_each_other_lose_nothing_with_failing_requests(seed):
    draw = random.Random(seed)
    objects = {}
    drawn, ids, newest = [], [], 0

    def driver():
        """A driver whose requests fail or lose their answers: one attempt, with some checkpoints."""
        nonlocal newest
        faults = draw.choices([None, FAILED, LOST, REFUSED], [20, 4, 4, draw.choice([0, 0.3])], k=200)
        storage = CheckpointStorage(FaultyClient(*faults, objects=objects).files())
        attempt = storage.new_attempt()
        drawn.append(attempt)
        latest = storage.latest_completed().completed
        storage.record_restored(attempt, None if latest is None else latest.checkpoint)
        assert (0 if latest is None else latest.checkpoint) >= newest
        yield
        checkpoint = storage.next_checkpoint_id()
        for _ in range(draw.randrange(4)):
            while not storage.reserve(checkpoint):
                checkpoint += 1
            ids.append(checkpoint)
            yield
            handle = storage.write(checkpoint, "a-0", attempt, encode(checkpoint))
            yield
            storage.publish(checkpoint, attempt, [handle])
            newest = max(newest, checkpoint)
            if draw.random() < 0.5:
                storage.sweep(attempt)

    running = []
    for _ in range(60):
        if not running or draw.random() < 0.15:
            running.append(driver())
        one = draw.choice(running)
        try:
            next(one)
        except (StopIteration, StorageError, SupersededError):
            running.remove(one)
    assert len(set(drawn)) == len(drawn)
    assert len(set(ids)) == len(ids)
    storage = CheckpointStorage(FaultyClient(objects=objects).files())
    found = storage.latest_completed().completed
    assert (0 if found is None else found.checkpoint) >= newest
    assert found is None or storage.read(found.handles["a-0"]) == found.checkpoint


@pytest.mark.rule("ONCE-04")
@pytest.mark.parametrize("fault", list(StoreFault))
def test_a_checkpoint_survives_each_way_in_which_a_request_goes_wrong(store, tmp_path, fault):
    """The fault hits the first request for each object, and each first list."""
    known = set()

    def choose(method, path):
        place = (method, path if method == "GET" and "list-type" in path else path.partition("?")[0])
        return None if place in known or known.add(place) else fault

    table = tmp_path / "table"
    table.write_bytes(b"t" * 100_000)
    with FaultyStore(store.endpoint, choose, slow_seconds=0.01) as proxy:
        files = store.files(proxy, f"job-{fault}")
        storage = CheckpointStorage(files)
        attempt = storage.new_attempt()
        storage.record_restored(attempt, None)
        for checkpoint in (1, 2):
            assert storage.reserve(checkpoint)
            shared = (storage.shared.add(table, "count-0", attempt),)
            handle = storage.write(checkpoint, "count-0", attempt, encode(checkpoint), shared=shared)
            storage.publish(checkpoint, attempt, [handle])
        storage.discard(1)
        latest = storage.latest_completed()
        assert (latest.completed.checkpoint, latest.refused) == (2, ())
        assert storage.read(latest.completed.handles["count-0"]) == 2
        storage.shared.fetch(*latest.completed.handles["count-0"].shared, tmp_path / "fetched")
        assert proxy.happened[fault] > 10
    assert (tmp_path / "fetched").read_bytes() == table.read_bytes()
    left = CheckpointStorage(store.files(None, f"job-{fault}"))
    assert left.completed_ids() == (2,)
    assert left.newest_attempt() == 1


def test_a_store_that_stops_answering_is_a_typed_error_and_complete_checkpoints_are_restored(store):
    answers = CheckpointStorage(store.files(None, "silent"))
    attempt = answers.new_attempt()
    answers.record_restored(attempt, None)
    answers.publish(1, attempt, [answers.write(1, "a", attempt, encode("one"))])
    with FaultyStore(store.endpoint, lambda method, path: StoreFault.THROTTLED) as proxy:
        silent = CheckpointStorage(store.files(proxy, "silent"))
        with pytest.raises(StorageError, match="503"):
            silent.publish(2, attempt, [])
    assert answers.latest_completed().completed.checkpoint == 1
