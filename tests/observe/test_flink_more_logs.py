"""Logs of jobs with several checkpoints at once, expiries, declines, savepoints and early ends.

Our jobs on released Flinks wrote the logs under `logs/more`. They contain only the lines of the protocol.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from conformance.observe.flink import FlinkResult, Settings, read_lines, validate_flink
from conformance.observe.flink.corruptions import CORRUPTIONS, Corruption, corrupt
from conformance.observe.flink.edits import accepted_log
from conformance.observe.flink.validate import parse
from conformance.verdict import Verdict

JOB = "19f16afe15f1e91c8c2031f64b0fc9fb"
LOGS = Path(__file__).parent / "logs"
WITNESSES = {
    "flink-1.15.4-savepoint": {"savepoint", "completion notified", "subsumption notified"},
    "flink-1.15.4-expiries": {"expired", "abort before its trigger", "cancelled at the gate", "declined"},
    "flink-2.3.0-declines": {
        "savepoint",
        "task failed",
        "restored from a checkpoint",
        "ended channel counted",
    },
    "flink-2.3.0-expiries": {"expired", "abort before its trigger", "abort stopped the writing"},
    "flink-2.3.0-own-layout": {"task failed", "restored from a checkpoint", "ended for another reason"},
    "flink-2.3.0-uneven": {"ended channel counted", "triggered after tasks finished", "declined"},
}
CONCURRENT = {"flink-2.3.0-expiries": 2}


@cache
def log(name: str) -> tuple[str, ...]:
    folder = LOGS / "more" if name in WITNESSES else LOGS
    return tuple(read_lines(str(folder / f"{name}.log.gz")))


def validated(name: str) -> FlinkResult:
    return validate_flink(log(name), Settings(CONCURRENT.get(name, 1)))


@pytest.mark.parametrize("name", WITNESSES)
def test_the_log_is_accepted_and_witnesses_its_situation(name: str) -> None:
    result = validated(name)
    assert result.verdict is Verdict.CONFORMS, result.describe()
    assert {situation for situation in WITNESSES[name] if not result.situations.get(situation)} == set()


@pytest.mark.parametrize("name", [name for name in WITNESSES if name not in CONCURRENT])
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda corruption: corruption.name)
def test_a_corruption_of_these_logs_is_rejected_too(name: str, corruption: Corruption) -> None:
    outcome = corrupt(accepted_log(log(name)), corruption, Settings(), 5)
    if not corruption.rules:
        assert outcome.unreadable is not None, f"not found unreadable: {outcome.what}"
    elif outcome.observable:
        assert outcome.rejection is not None, f"accepted: {outcome.what}"
        assert outcome.detected, outcome.rejection.describe()


def test_more_checkpoints_at_once_than_the_settings_allow_are_rejected() -> None:
    rejection = validate_flink(log("flink-2.3.0-expiries")).rejection
    assert rejection is not None
    assert rejection.rules == ("COORD-03",)
    assert "--max-concurrent" in rejection.guard


def test_a_task_forgets_aborts_but_treats_ids_far_below_as_aborted() -> None:
    """Two aborts are remembered: of 11 to 15 the task keeps 14 and 15. 12 is too far below 15, 13 is not."""
    lines = [line for line in parse(log("flink-2.3.0-expiries")) if line.task == "agg (2/2)#0"]
    kinds = {(line.kind, line.checkpoint) for line in lines}
    assert ("aborted before", 12) in kinds
    assert ("aborted before", 13) not in kinds
    assert ("snapshot", 13) in kinds


# ---------------------------------------------------------------- answers of the coordinator


def edited(name: str, of: Callable[[str], bool], make: Callable[[str], list[str]]) -> list[str]:
    """The log in which the output of `make` replaces the first line that `of` finds."""
    lines = list(log(name))
    place = next(number for number, line in enumerate(lines) if of(line))
    lines[place : place + 1] = make(lines[place])
    return lines


def acknowledgement(line: str) -> bool:
    return "Received acknowledge message for checkpoint 4 " in line


def words(line: str) -> tuple[str, str]:
    """The part of a line before the message, and the execution."""
    head, _, message = line.partition("Received acknowledge message for checkpoint 4 from task ")
    return head, message.split()[0]


def test_a_duplicate_with_the_line_of_a_duplicate_is_accepted() -> None:
    def twice(line: str) -> list[str]:
        head, execution = words(line)
        said = f"Received a duplicate acknowledge message for checkpoint 4, task {execution}, job {JOB}."
        return [line, head + said]

    assert validate_flink(edited("flink-2.2.1", acknowledgement, twice)).rejection is None


def test_a_first_acknowledgement_called_a_duplicate_is_rejected() -> None:
    def called(line: str) -> list[str]:
        head, execution = words(line)
        return [
            f"{head}Received a duplicate acknowledge message for checkpoint 4, task {execution}, job {JOB}."
        ]

    rejection = validate_flink(edited("flink-2.2.1", acknowledgement, called)).rejection
    assert rejection is not None
    assert rejection.rules[0] == "COORD-05"


def test_an_unknown_task_with_the_line_of_one_is_accepted() -> None:
    def stranger(line: str) -> list[str]:
        head, _ = words(line)
        said = (
            f"Could not acknowledge the checkpoint 4 for task {'0' * 32} of job {JOB} at y, "
            "because the task's execution attempt id was unknown. Discarding the state handle."
        )
        return [line, head + said]

    assert validate_flink(edited("flink-2.2.1", acknowledgement, stranger)).rejection is None


def test_an_answer_is_late_only_when_its_checkpoint_has_ended() -> None:
    def late(line: str) -> list[str]:
        head, execution = words(line)
        late = "Received late message for now expired checkpoint attempt"
        said = f"{late} 2 from task {execution} of job {JOB}."
        return [head + said, line]

    assert validate_flink(edited("flink-2.2.1", acknowledgement, late)).rejection is None


def test_ids_may_be_skipped_and_never_decrease() -> None:
    def renumber(line: str) -> str:
        for old in (51, 50, 49):
            for before, after in (
                ("checkpoint ", " "),
                ("checkpoint ", "."),
                ("COMPLETE ", " "),
                ("SUBSUME ", " "),
                ("} @ ", "."),
                ("for checkpoint ", "."),
            ):
                line = line.replace(f"{before}{old}{after}", f"{before}{old + 100}{after}")
        return line

    result = validate_flink([renumber(line) for line in log("flink-2.2.1")])
    assert result.rejection is None, result.describe()
    assert result.situations["id burnt"] == 1
