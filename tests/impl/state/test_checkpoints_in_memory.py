"""Checkpoints in the driver's memory: size limits, what workers receive, and what is lost with the driver."""

from dataclasses import replace
from pathlib import Path

import pytest

from impl.config import (
    CLAIM,
    JOBMANAGER,
    NO_EXTERNALIZED_CHECKPOINTS,
    RETAIN_ON_CANCELLATION,
    ROCKSDB,
    CheckpointConfig,
    ConfigError,
    ExecutionConfig,
    JobConfig,
    RestartConfig,
)
from impl.spark.run_settings import RunSettings, Start, checkpoints_of
from impl.state import (
    CheckpointsInMemory,
    CheckpointStorage,
    NoFileError,
    StateTooLargeError,
    begin_from,
    checkpoints_at,
    encode,
    original_at,
)
from impl.state.checkpoint_metadata import MEMORY_BYTES, StateHandle
from impl.state.locations import forget, is_in_memory, location_of, new_memory, record_checkpoint_folder
from impl.state.locations.memory_client import MemoryClient

IN_MEMORY = CheckpointConfig(checkpoint_storage=JOBMANAGER)


@pytest.fixture
def place():
    there = new_memory()
    yield there
    forget(there)


def test_a_snapshot_travels_in_its_handle_and_a_worker_reads_it_without_the_memory_of_the_driver(place):
    driver, worker = checkpoints_at(place), checkpoints_at(new_memory())
    attempt = driver.new_attempt()
    written = worker.write(7, "count-0", attempt, encode({"a": 1}), offset=3)
    received = StateHandle.from_json(written.to_json())
    driver.publish(7, attempt, [received])
    latest = driver.latest_completed().completed
    assert latest is not None
    assert worker.read(latest.handles["count-0"]) == {"a": 1}
    assert latest.handles["count-0"].offset == 3
    assert driver.completed_ids() == (7,)
    driver.discard(7)
    assert driver.completed_ids() == ()


def test_the_largest_snapshot_fits_and_one_more_byte_states_what_to_do(place):
    storage = checkpoints_at(place)
    assert storage.write(1, "count-0", 1, b"x" * MEMORY_BYTES).content is not None
    with pytest.raises(StateTooLargeError, match=r"count-0 .* 1,048,577 bytes.*'filesystem'.* more subtasks"):
        storage.write(1, "count-0", 1, b"x" * (MEMORY_BYTES + 1))


def test_a_savepoint_in_files_is_copied_into_memory_and_the_original_stays(place, tmp_path):
    files = CheckpointStorage(tmp_path)
    attempt = files.new_attempt()
    assert files.lineage
    handle = files.write(3, "count-0", attempt, encode({"a": 1}))
    assert handle.content is None
    files.record_restored(attempt, None)
    files.publish(3, attempt, [handle])
    memory = checkpoints_at(place)
    begin_from(memory, original_at(tmp_path / "chk-3"))
    latest = memory.latest_completed().completed
    assert latest is not None
    assert latest.handles["count-0"].content == encode({"a": 1})
    assert CheckpointsInMemory(new_memory()).read(latest.handles["count-0"]) == {"a": 1}
    assert files.load(3)


def test_one_location_is_freed_and_other_locations_stay(place):
    other = new_memory()
    for one in (place, other):
        location_of(one).publish("chk-1/_metadata", b"1")
    forget(place)
    assert location_of(place).size("chk-1/_metadata") is None
    assert location_of(other).read("chk-1/_metadata") == b"1"
    forget(other)
    forget(Path("folder"))


def test_objects_in_memory_answer_as_a_store_does():
    client = MemoryClient()
    client.create("a/b", b"12345", "me")
    with pytest.raises(FileExistsError):
        client.create("a/b", b"", "you")
    client.put("c", b"67")
    assert client.writer_of("a/b") == "me"
    assert client.get_range("a/b", 1, 3) == b"234"
    assert b"".join(client.parts("a/b")) == b"12345"
    assert client.entries("") == (("a",), {"c": 2})
    assert client.entries("a") == ((), {"b": 5})
    client.delete("a/b")
    client.delete("a/b")
    with pytest.raises(FileNotFoundError):
        client.size("a/b")
    with pytest.raises(NoFileError):
        location_of(new_memory()).read("missing")


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (
            {"checkpoint_storage": "memory"},
            "checkpoint_storage takes filesystem or jobmanager, not 'memory'",
        ),
        (
            {"checkpoint_storage": JOBMANAGER, "externalized_checkpoint_retention": RETAIN_ON_CANCELLATION},
            "retains no checkpoint after the end of the job.*take checkpoint_storage filesystem",
        ),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(wrong, expected):
    with pytest.raises(ConfigError, match=expected):
        CheckpointConfig(**wrong)


def test_memory_takes_no_rocksdb():
    assert replace(IN_MEMORY, externalized_checkpoint_retention=NO_EXTERNALIZED_CHECKPOINTS).is_in_memory
    with pytest.raises(ConfigError, match="takes state_backend memory, not rocksdb"):
        JobConfig(IN_MEMORY, RestartConfig(), ExecutionConfig(state_backend=ROCKSDB))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (RunSettings(Start.RESUMED), "resume restores"),
        (RunSettings(owner="a supervisor"), "supervise replaces"),
        (RunSettings(Start.SAVEPOINT, Path("savepoint"), CLAIM), "CLAIM deletes"),
        (RunSettings(checkpoints="s3://bucket/job"), "names a folder"),
    ],
)
def test_options_that_need_checkpoints_after_the_driver_are_refused(settings, expected, tmp_path):
    with pytest.raises(ConfigError, match=f"{expected}.*all checkpoints end with the driver"):
        checkpoints_of(tmp_path, settings, IN_MEMORY)
    if settings.claim_mode == CLAIM:
        assert is_in_memory(checkpoints_of(tmp_path, replace(settings, claim_mode="NO_CLAIM"), IN_MEMORY))


def test_a_run_whose_checkpoints_were_in_memory_is_not_resumed(tmp_path):
    record_checkpoint_folder(tmp_path, new_memory())
    with pytest.raises(ConfigError, match="have ended with it; begin from a savepoint"):
        checkpoints_of(tmp_path, RunSettings(Start.RESUMED), CheckpointConfig())
    assert checkpoints_of(tmp_path, RunSettings(), CheckpointConfig()) == tmp_path / "checkpoints"
