"""Logs of real Flink jobs are accepted, also with another interleaving of their threads."""

import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

import pytest

from conformance.observe.flink import (
    REORDERINGS,
    REQUIRED,
    SITUATIONS,
    FlinkResult,
    read_lines,
    validate_flink,
)
from conformance.observe.flink.grammar import LogLine, logical_thread
from conformance.observe.flink.validate import parse
from conformance.verdict import Verdict

LOGS = Path(__file__).parent / "logs"
FAILING = ("flink-1.13.6-fail", "flink-1.20.5-fail", "flink-2.2.1-fail")
ALL = (*FAILING, "flink-2.2.1")


@cache
def log(name: str) -> tuple[str, ...]:
    return tuple(read_lines(str(LOGS / f"{name}.log.gz")))


def accepted(lines: Sequence[str]) -> FlinkResult:
    result = validate_flink(lines)
    assert result.rejection is None, result.describe()
    assert result.verdict is Verdict.CONFORMS
    return result


# ---------------------------------------------------------------- as they are


@pytest.mark.parametrize("name", FAILING)
def test_a_job_that_failed_once_witnesses_everything(name: str) -> None:
    result = accepted(log(name))
    assert [situation for situation in SITUATIONS if not result.situations[situation]] == []


def test_an_undisturbed_job_witnesses_no_failure() -> None:
    result = accepted(log("flink-2.2.1"))
    unseen = {situation for situation, count in result.situations.items() if not count}
    assert unseen == {
        "task failed",
        "pending one ended by the failure",
        "abort notified",
        "restored from a checkpoint",
    }


@pytest.mark.parametrize(
    ("name", "triggered", "completed", "release"),
    [
        ("flink-1.13.6-fail", 39, 38, "1.13"),
        ("flink-1.20.5-fail", 49, 48, "1.16 or newer"),
        ("flink-2.2.1-fail", 48, 47, "1.16 or newer"),
        ("flink-2.2.1", 51, 51, "1.16 or newer"),
    ],
)
def test_counts_are_those_of_the_log(name: str, triggered: int, completed: int, release: str) -> None:
    result = accepted(log(name))
    text = "\n".join(log(name))
    assert text.count("] Triggering checkpoint ") == triggered == result.situations["checkpoint triggered"]
    assert text.count("] Completed checkpoint ") == completed == result.situations["checkpoint completed"]
    assert text.count("Received acknowledge message") == result.situations["snapshot acknowledged"]
    assert result.release == release
    assert result.lines == len(log(name))


def test_the_rules_of_every_part_have_fired() -> None:
    fired = accepted(log("flink-2.2.1-fail")).rules
    assert {"ALIGN-05", "TASK-05", "TASK-06", "TASK-07", "COORD-07", "COORD-12", "SUB-09", "ONCE-04"} <= set(
        fired
    )


@pytest.mark.parametrize("name", ALL)
def test_an_edited_log_gives_the_same_with_remembered_steps_as_without(name: str) -> None:
    """A line is removed, duplicated or moved."""
    random, found = Random(name), set()
    for edit in range(6):
        lines = list(log(name))
        place = random.choice([line.number - 1 for line in parse(lines)])
        text = lines.pop(place)
        if edit % 3 == 1:
            lines[place:place] = [text, text]
        elif edit % 3 == 2:
            lines.insert(place + random.choice([-9, 9]), text)
        remembered, plain = validate_flink(lines), validate_flink(lines, remember=False)
        assert remembered == plain
        found.add(plain.verdict)
    assert found & {Verdict.DIVERGES, Verdict.UNDETERMINED}


def test_a_situation_that_was_not_witnessed_is_undetermined() -> None:
    result = validate_flink(log("flink-2.2.1"), required=(*REQUIRED, "restored from a checkpoint"))
    assert result.verdict is Verdict.UNDETERMINED
    assert result.missing == ("restored from a checkpoint",)


def test_an_unknown_situation_of_a_flink_log_is_an_error() -> None:
    with pytest.raises(ValueError, match="no situation is called 'reboot'"):
        validate_flink(log("flink-2.2.1"), required=("reboot",))


def test_a_running_job_s_log_may_end_anywhere() -> None:
    lines = log("flink-2.2.1-fail")
    for end in range(600, len(lines), 97):
        result = validate_flink(lines[:end], required=())
        assert result.rejection is None, f"the first {end} lines: {result.describe()}"


# ---------------------------------------------------------------- layouts


def as_flink_writes_it(line: str) -> str:
    """Flink's own layout, which has no name of the thread."""
    time, level, logger, rest = line.split(maxsplit=3)
    return f"2026-11-21 {time} {level:5} {logger:60} [] - {rest.partition('] ')[2]}"


def as_logback_writes_it(line: str) -> str:
    time, level, logger, rest = line.split(maxsplit=3)
    thread, _, message = rest.partition("] ")
    return f"2026-11-21 {time.replace(',', '.')} {thread}] {level:5} {logger} - {message}"


def as_initials(line: str) -> str:
    time, level, logger, rest = line.split(maxsplit=3)
    *package, name = logger.split(".")
    return f"{time} {level:5} {'.'.join([word[0] for word in package] + [name])} {rest}"


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("layout", [as_flink_writes_it, as_logback_writes_it, as_initials])
def test_other_layouts_have_the_same_content(name: str, layout: object) -> None:
    assert callable(layout)
    lines = [layout(line) if line[:2].isdigit() and " [" in line else line for line in log(name)]
    result, plain = accepted(lines), accepted(log(name))
    assert (result.replayed, result.events, result.situations) == (
        plain.replayed,
        plain.events,
        plain.situations,
    )


def test_a_plain_file_and_a_packed_one_hold_the_same_lines(tmp_path: Path) -> None:
    plain = tmp_path / "job.log"
    plain.write_bytes(gzip.decompress((LOGS / "flink-2.2.1.log.gz").read_bytes()))
    assert tuple(read_lines(str(plain))) == log("flink-2.2.1")


# ---------------------------------------------------------------- order between threads


def interleaved(lines: Sequence[str], read: Sequence[LogLine], seed: int, late: int) -> list[str]:
    """Moves each line by up to `late` places; the lines of each thread keep their order."""
    random = Random(seed)
    last: dict[str, float] = {}
    due: list[tuple[float, int]] = []
    for line in read:
        thread = logical_thread(line)
        last[thread] = max(line.number + random.uniform(0, late), last.get(thread, 0))
        due.append((last[thread], line.number))
    changed = list(lines)
    for line, (_, number) in zip(read, sorted(due), strict=True):
        changed[line.number - 1] = lines[number - 1]
    return changed


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("seed", "late"), [(1, 3), (2, 8), (3, 20)])
def test_another_interleaving_of_threads_is_accepted(name: str, seed: int, late: int) -> None:
    lines = interleaved(log(name), parse(log(name)), seed, late)
    result = accepted(lines)
    assert result.situations["checkpoint completed"] == accepted(log(name)).situations["checkpoint completed"]
    assert set(result.tolerated) <= set(REORDERINGS)
    assert len(result.tolerated) > 1


def test_reorderings_in_the_recorded_logs_are_tolerated() -> None:
    found = {name: dict(accepted(log(name)).tolerated) for name in ALL}
    late = "asynchronous part logged as finished after its acknowledgement"
    assert all(
        set(tolerated) <= {late, "acknowledgement after the job left RUNNING"} for tolerated in found.values()
    )
    assert {name: tolerated[late] for name, tolerated in found.items()} == {
        "flink-1.13.6-fail": 34,
        "flink-1.20.5-fail": 11,
        "flink-2.2.1-fail": 16,
        "flink-2.2.1": 9,
    }


def moved(lines: Sequence[str], what: str, before: str) -> list[str]:
    """Moves the first line with `what` before the first one with `before`."""
    changed = list(lines)
    place = next(number for number, line in enumerate(lines) if what in line)
    line = changed.pop(place)
    changed.insert(next(number for number, other in enumerate(changed) if before in other), line)
    return changed


@pytest.mark.parametrize(
    ("what", "before", "reordering"),
    [
        (
            "Triggering checkpoint 1 ",
            "(1/2) (",
            "checkpoint triggered before its tasks are logged as running",
        ),
        ("Starting checkpoint 2 ", "Triggering checkpoint 2 ", "task starts a checkpoint before its trigger"),
        ("message for checkpoint 3 ", "Triggering checkpoint 3 ", "acknowledgement before its trigger"),
        (
            "Triggering checkpoint 5 ",
            "message for checkpoint 4 ",
            "checkpoint triggered before the completion of an earlier one",
        ),
        ("ABORT 9 for task Source: src-b (2/2)", "RUNNING to RESTARTING", "notification before the abort"),
        ("complete checkpoint 9 for job", "RUNNING to RESTARTING", "failure logged before its cause"),
    ],
)
def test_a_reordering_is_tolerated_and_named(what: str, before: str, reordering: str) -> None:
    lines = moved(log("flink-2.2.1-fail"), what, before)
    assert reordering in accepted(lines).tolerated
