"""Growing files: the reader gets every line exactly once, also after rotation or truncation."""

import json
from pathlib import Path

from conformance.observe.monitor.growing import GrowingFile, Text
from conformance.observe.monitor.stamps import Clock


def texts(file: GrowingFile) -> list[str]:
    found: list[Text] = []
    while lines := list(file.lines()):
        found += lines
    return [f"{one.number} {one.text}" for one in found]


def test_a_line_is_read_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    file = GrowingFile(str(path))
    assert texts(file) == []  # the file does not exist yet
    path.write_text("a\nb")
    assert texts(file) == ["1 a"]
    with path.open("a") as log:
        log.write("c\nd\n")
    assert texts(file) == ["2 bc", "3 d"]


def test_a_renamed_file_is_read_to_its_end_and_the_new_one_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text("a\n")
    file = GrowingFile(str(path))
    assert texts(file) == ["1 a"]
    with path.open("a") as log:
        path.rename(tmp_path / "job.log.1")
        log.write("b\n")
    assert texts(file) == ["2 b"]  # no new file yet
    path.write_text("c\n")
    assert texts(file) == ["1 c"]
    assert file.rotations == 1


def test_two_rotations_between_two_reads_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text("a\n")
    file = GrowingFile(str(path))
    assert texts(file) == ["1 a"]
    path.rename(tmp_path / "job.log.2")
    path.write_text("b\n")
    path.rename(tmp_path / "job.log.1")
    path.write_text("c\n")
    assert texts(file) == ["1 b", "1 c"]


def test_a_file_that_is_emptied_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text("a long first line\n")
    file = GrowingFile(str(path))
    assert texts(file) == ["1 a long first line"]
    path.write_text("b\n")
    assert texts(file) == ["1 b"]
    path.write_text("another, and longer than before\n")  # the size of the new content is not smaller
    assert texts(file) == ["1 another, and longer than before"]


def test_an_unfinished_last_line_is_incomplete(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text("a\nb")
    file = GrowingFile(str(path))
    assert texts(file) == ["1 a"]
    assert [(one.text, one.whole) for one in file.end()] == [("b", False)]


def test_times_of_every_layout_are_read_with_their_zone() -> None:
    clock = Clock()
    utc = clock.read("2026-11-25 22:37:51,634 INFO x")
    assert utc is not None
    assert clock.read("2026-11-25T23:37:51.634+01:00 INFO x") == utc
    assert clock.read("2026-11-25T22:37:51.634Z INFO x") == utc
    assert clock.read(json.dumps({"@timestamp": "2026-11-25T17:37:51.634-0500"})) == utc
    assert clock.read(json.dumps({"instant": {"epochSecond": int(utc), "nanoOfSecond": 634_000_000}})) == utc
    assert clock.read("no time") is None


def test_times_without_a_date_increase_over_midnight() -> None:
    clock = Clock()
    before, after = clock.read("23:59:59,500 INFO x"), clock.read("00:00:00,500 INFO x")
    assert before is not None
    assert after == before + 1
