"""A disk becomes full during a write: the line is missing, and the next line is complete."""

import resource

import orjson
import pytest

from impl.eventlog import EventLog
from impl.metrics import JobMetrics, read_metrics
from impl.state import CheckpointStorage, StorageError, SupersededError


class FullAfter:
    """Limits the size of every file of this process, so that a write fails as on an almost full disk."""

    def __init__(self, most):
        self._most = most

    def __enter__(self):
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._most, self._before[1]))

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)


def test_a_line_of_the_event_log_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "coordinator.jsonl"
    log = EventLog(tmp_path, "coordinator", "coordinator", 1)
    log.line({"kind": "first"})
    size = file.stat().st_size
    for room in (0, 10):
        with FullAfter(size + room), pytest.raises(StorageError, match=r"coordinator\.jsonl"):
            log.line({"kind": "lost"})
        assert file.stat().st_size == size
    log.line({"kind": "second"})
    log.close()
    lines = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    assert [(line["seq"], line["kind"]) for line in lines] == [(0, "first"), (1, "second")]


def test_a_line_of_the_metrics_is_written_whole_or_not_at_all(tmp_path):
    metrics = JobMetrics(tmp_path / "metrics.jsonl")
    metrics.completed(1, 1, 5.0)
    size = (tmp_path / "metrics.jsonl").stat().st_size
    with FullAfter(size + 10), pytest.raises(StorageError, match=r"metrics\.jsonl"):
        metrics.completed(2, 1, 5.0)
    metrics.completed(3, 1, 5.0)
    assert [one.checkpoint for one in read_metrics(tmp_path / "metrics.jsonl")] == [1, 3]


@pytest.mark.rule("ONCE-06")
def test_an_incomplete_draw_of_an_attempt_does_not_supersede_a_driver(tmp_path):
    storage = CheckpointStorage(tmp_path)
    first = storage.new_attempt()
    for _ in range(2):  # an empty file can still be created, but the next write fails
        with FullAfter(0), pytest.raises(StorageError, match=r"1\.restored"):
            storage.new_attempt(after=first)
    storage.require_newest("going on", first)
    assert storage.new_attempt(after=first) == first + 1


@pytest.mark.rule("FENCE-01")
def test_an_attempt_number_drawn_on_a_full_disk_is_not_drawn_again(tmp_path):
    storage, another = CheckpointStorage(tmp_path), CheckpointStorage(tmp_path)
    first = storage.new_attempt()
    with FullAfter(0), pytest.raises(StorageError):
        storage.new_attempt(after=first)
    assert another.new_attempt() == first + 2
    with pytest.raises(SupersededError, match="expected attempt 2 to be the newest"):
        storage.new_attempt(after=first)
