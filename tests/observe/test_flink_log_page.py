"""The statements of `docs/verify/flink-logs.md` agree with the findings of the tool."""

import re
from pathlib import Path

import pytest

from conformance.observe.flink import RARE, SITUATIONS, grammar, read_lines, validate_flink
from conformance.observe.flink.grammar import LogLine
from conformance.observe.flink.survey import release_of

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "verify" / "flink-logs.md").read_text("utf-8")
ROW = re.compile(r"^\| ([\d.]+)(, one failure)? \| ([\d,]+) \| ([\d,]+) \| (\d+) of (\d+)", re.MULTILINE)
ROWS = ROW.findall(PAGE)


def test_the_table_has_every_log_of_the_repository():
    named = {f"flink-{release}{'-fail' if failed else ''}.log.gz" for release, failed, *_ in ROWS}
    assert named == {file.name for file in (HERE / "logs").glob("*.log.gz")}


@pytest.mark.parametrize(("release", "failed", "lines", "events", "seen", "of"), ROWS)
def test_the_table_states_what_the_tool_finds(release, failed, lines, events, seen, of):
    read = tuple(read_lines(str(HERE / "logs" / f"flink-{release}{'-fail' if failed else ''}.log.gz")))
    result = validate_flink(read)
    printed = re.search(r"(\d+) of (\d+) situations witnessed", result.describe())
    assert printed is not None
    stated = [int(number.replace(",", "")) for number in (lines, events, seen, of)]
    assert stated == [result.lines, result.events, *map(int, printed.groups())]


def test_the_page_counts_the_situations():
    words = {17: "seventeen", 13: "thirteen"}
    assert f"The command counts {words[len(SITUATIONS)]} situations" in PAGE
    assert f"Each of {words[len(RARE)]} further situations" in PAGE


def line(kind: str, *, task: str = "", checkpoint: int = -1, detail: str = "") -> LogLine:
    return LogLine(1, kind, "a thread", task, "", checkpoint, detail)


ENDS = line(grammar.EXECUTION, task="src (1/2)", detail="RUNNING>FINISHED")
RECEIVED = line(grammar.COMPLETION_RECEIVED)
"""Logged from 1.14 on."""


def test_a_log_of_1_14_has_checkpoints_after_tasks_finish_off_unless_it_shows_one():
    trigger = line(grammar.TRIGGER, checkpoint=1, detail="CHECKPOINT")
    off = release_of([RECEIVED, trigger, ENDS])
    assert off.name == "1.14"
    assert not off.after_finish
    assert release_of([RECEIVED, trigger, ENDS, trigger]).after_finish
    restarted = line(grammar.EXECUTION, task="src (1/2)", detail="CREATED>SCHEDULED")
    assert not release_of([RECEIVED, trigger, ENDS, restarted, trigger]).after_finish


def test_a_log_of_1_15_has_them_on():
    trigger = line(grammar.TRIGGER, checkpoint=1, detail="CheckpointType{name='Checkpoint'}")
    assert release_of([RECEIVED, trigger]).after_finish


@pytest.mark.rule("COORD-01")
def test_from_1_14_on_every_task_has_to_run_and_before_the_sources():
    trigger = line(grammar.TRIGGER, checkpoint=1, detail="CHECKPOINT")
    assert release_of([RECEIVED, trigger]).all_tasks_must_run
    assert not release_of([trigger]).all_tasks_must_run
