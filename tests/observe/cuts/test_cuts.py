"""Validation in parts gives the result of a sequential validation, also after a wrongly assumed state.

A cut divides each file of a log into the lines up to a checkpoint and the lines after it.
"""

import contextlib
import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from event_logs import read, write
from simulated_run import SimulatedRun

from conformance.observe import EventLogError, TraceResult, validate
from conformance.observe.cuts import joined
from conformance.observe.cuts.assumed import assumed
from conformance.observe.cuts.joined import PartRange, Validated, cuts_of, outcome, validate_in_parts
from conformance.observe.cuts.part import state_at
from conformance.observe.eventlog import find
from conformance.observe.run_state import NotQuietError, Settings
from conformance.observe.task import TaskReader

RUNS: dict[str, dict[str, Any]] = {
    "quiet": {"seed": 1, "records": 60, "checkpoints": 12, "checkpoint_every": 0},
    "with a failure": {
        "seed": 9, "records": 120, "checkpoints": 16, "checkpoint_every": 0, "fail_at": (900,),
    },
    "one at a time": {"seed": 5, "records": 400, "checkpoints": 60, "checkpoint_every": 60},
    "two at once": {
        "seed": 7, "records": 400, "checkpoints": 60, "checkpoint_every": 50, "max_concurrent": 2,
    },
}  # fmt: skip


@pytest.fixture(scope="module", params=RUNS)
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return SimulatedRun(tmp_path_factory.mktemp("cut"), **RUNS[request.param]).execute()


def one_after_the_other(ranges: list[PartRange]) -> list[Validated]:
    return [outcome(one) for one in ranges]


def in_parts(folder: Path) -> TraceResult:
    return validate_in_parts(folder, 3, required=(), side_by_side=one_after_the_other)


def sequential(folder: Path) -> TraceResult:
    return validate(folder, required=())


def seen(validated: Callable[[Path], TraceResult], folder: Path) -> object:
    """The result, or the error."""
    try:
        return validated(folder)
    except EventLogError as unreadable:
        return str(unreadable)


def forbidden(*_: object) -> TraceResult:
    raise AssertionError("the log was validated sequentially")


def test_the_parts_of_a_healthy_log_have_the_result_of_the_whole(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = sequential(log)
    assert expected.rejection is None
    monkeypatch.setattr(joined, "validate", forbidden)
    assert in_parts(log) == expected


def test_processes_have_the_same_result(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined, "validate", forbidden)
    assert validate_in_parts(log, 2, required=()) == sequential(log)


def test_each_part_reads_its_own_lines_only(log: Path) -> None:
    ranges: list[PartRange] = []
    validate_in_parts(log, 3, side_by_side=lambda some: ranges.extend(some) or one_after_the_other(some))
    parts = one_after_the_other(ranges)
    assert len(parts) > 1
    assert all(part.events for part in parts)
    assert sum(part.events for part in parts) == sequential(log).events


def altered(lines: list[dict[str, Any]], place: int, random: Random) -> None:
    """Plant a fault in the line at `place`, or next to it."""
    line = lines[place]
    effects = [one for one in line.get("effects", ()) if {"checkpoint", "transaction"} & one.keys()]
    match random.choice(["effect", "event", "drop", "double", "field", "swap"]):
        case "effect" if effects:
            effect = random.choice(effects)
            field = random.choice(sorted({"checkpoint", "transaction"} & effect.keys()))
            effect[field] = (effect[field] or 0) + random.choice([-1, 1])
        case "event" if "checkpoint" in line.get("event", {}):
            line["event"]["checkpoint"] = (line["event"]["checkpoint"] or 0) + random.choice([-1, 1])
        case "drop":
            del lines[place]
        case "double":
            lines.insert(place, line)
        case "field":
            for field in ("records", "offset", "rows"):
                if field in line:
                    line[field] += 1
        case _:
            lines[place - 1 : place + 1] = lines[place - 1 : place + 1][::-1]


@pytest.mark.parametrize("seed", range(30))
def test_a_fault_near_a_cut_has_the_same_rejection(seed: int, log: Path, tmp_path: Path) -> None:
    """The fault is before, at or after the cut, in any file."""
    random = Random(seed)
    cut = random.choice(cuts_of(find(log), Settings(), 3))
    lines = read(log)
    name = random.choice(sorted(cut.last.places))
    of_file = lines[name.removesuffix(".jsonl")]
    place = cut.last.places[name].lines + random.choice([-9, -3, -2, -1, 0, 0, 1, 2, 3, 9])
    altered(of_file, max(1, min(place, len(of_file) - 1)), random)
    write(lines, tmp_path)
    assert seen(in_parts, tmp_path) == seen(sequential, tmp_path)


@pytest.mark.parametrize("seed", range(20))
def test_a_fault_anywhere_has_the_same_rejection(seed: int, log: Path, tmp_path: Path) -> None:
    random, lines = Random(seed), read(log)
    of_file = lines[random.choice(sorted(lines))]
    altered(of_file, random.randrange(1, len(of_file)), random)
    write(lines, tmp_path)
    assert seen(in_parts, tmp_path) == seen(sequential, tmp_path)


def test_faults_in_two_parts_have_the_rejection_of_the_sequential_validation(
    log: Path, tmp_path: Path
) -> None:
    lines = read(log)
    for share in (4, 1.2):
        of_file = lines["coordinator"]
        altered(of_file, int(len(of_file) / share), Random(share))
    write(lines, tmp_path)
    expected = sequential(tmp_path)
    assert expected.rejection is not None
    assert in_parts(tmp_path) == expected


def test_a_broken_line_after_the_cut_is_the_same_error(log: Path, tmp_path: Path) -> None:
    shutil.copytree(log, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "coordinator.jsonl"
    text = file.read_bytes().splitlines(keepends=True)
    text[-3] = text[-3].replace(b"checkpoint", b"check\0oint")
    file.write_bytes(b"".join(text))
    assert seen(in_parts, tmp_path) == seen(sequential, tmp_path)
    assert isinstance(seen(in_parts, tmp_path), str)


@pytest.mark.parametrize("wrong", ["completed", "aborted", "last"])
def test_a_state_that_is_assumed_wrongly_is_not_trusted(
    wrong: str, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines of the last checkpoint correct the state, or the log is validated sequentially."""
    begin = TaskReader.begin_at

    def differently(reader: TaskReader, checkpoint: int, transaction: int | None) -> None:
        begin(reader, checkpoint, transaction)
        model = reader._subtask
        value: object = (checkpoint + 2,) if wrong == "aborted" else checkpoint - 1
        model.state = model.state._replace(**{wrong: value})

    expected, calls = sequential(log), []
    monkeypatch.setattr(TaskReader, "begin_at", differently)
    if wrong != "aborted":  # the last checkpoint sets `completed` and `last` again
        assert in_parts(log) == expected
        return
    monkeypatch.setattr(joined, "validate", lambda *given: calls.append(given) or expected)
    assert in_parts(log) == expected
    assert calls


def test_a_log_of_more_files_than_may_be_open_is_cut(tmp_path: Path) -> None:
    log = SimulatedRun(tmp_path, **RUNS["with a failure"]).execute()
    expected = cuts_of(find(log), Settings(), 3)
    assert expected
    used, limits = len(os.listdir("/dev/fd")), resource.getrlimit(resource.RLIMIT_NOFILE)
    assert len(list(log.iterdir())) > 8
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 8, limits[1]))
    try:
        assert cuts_of(find(log), Settings(), 3) == expected
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_log_without_a_quiet_checkpoint_is_validated_sequentially(tmp_path: Path) -> None:
    run = SimulatedRun(tmp_path, seed=3, records=60, checkpoint_every=12, max_concurrent=2, checkpoints=20)
    log = run.execute()
    assert in_parts(log) == sequential(log)


def test_a_log_is_not_cut_at_a_savepoint(log: Path) -> None:
    """A later attempt restores an older checkpoint, whose offsets are in lines before the cut."""
    cut = cuts_of(find(log), Settings(), 2)[0]
    parts = assumed(find(log), Settings(), cut)
    state_at(parts, cut)
    parts.run.savepoints.add(cut.last.checkpoint)
    with pytest.raises(NotQuietError, match="is a savepoint"):
        state_at(parts, cut)


def test_a_log_is_not_cut_where_a_message_is_on_its_way(log: Path) -> None:
    cut = cuts_of(find(log), Settings(), 2)[0]
    parts = assumed(find(log), Settings(), cut)
    parts.run.causes.messages("complete", cut.attempt, "count-0").send(cut.last.checkpoint)
    with pytest.raises(NotQuietError, match="on its way"):
        state_at(parts, cut)


def test_records_in_flight_that_no_part_compares_are_rejected_as_in_the_sequential_validation(
    log: Path, tmp_path: Path
) -> None:
    """These records are compared at the end of a task's file. No part has both the barrier and this end."""
    lines = read(log)
    sent = [line for line in lines["1-count-0"] if "broadcast_barrier" in str(line.get("effects"))]
    sent[1]["received"] = {"src-0": 3}
    write(lines, tmp_path)
    rejection = sequential(tmp_path).rejection
    assert rejection is not None
    assert rejection.rules == ("UNAL-37",)
    assert in_parts(tmp_path) == sequential(tmp_path)


def test_parts_with_different_states_at_a_cut_are_not_joined(log: Path) -> None:
    ranges: list[PartRange] = []
    validate_in_parts(log, 2, side_by_side=lambda some: ranges.extend(some) or one_after_the_other(some))
    parts = one_after_the_other(ranges)
    assert joined._joined(parts, ()) == sequential(log)
    first, second = parts
    assert isinstance(second.begin, tuple)
    second.begin = (*second.begin[:-1], ())
    assert joined._joined([first, second], ()) is None


def test_sources_that_send_differently_in_two_parts_are_not_joined(log: Path) -> None:
    parts = [
        outcome(PartRange(log, Settings(), *ends)) for ends in ((None, cut_of(log)), (cut_of(log), None))
    ]
    assert joined._joined(parts, ()) is not None
    parts[1].sends_one_per_record["src-0"] = False
    assert joined._joined(parts, ()) is None


def cut_of(log: Path) -> Any:
    return cuts_of(find(log), Settings(), 2)[0]


def sink_of(parts: Any) -> Any:
    return next(one for one in parts.tasks if one.file.task == "sink-0")


def with_other_state(model: Any, **fields: object) -> None:
    model.state = model.state._replace(**fields)


ALTERATIONS: dict[str, Callable[[Any, int], object]] = {
    "gate": lambda parts, _: sink_of(parts)._gate.answer({"kind": "end_of_partition", "channel": 0}),
    "subtask": lambda parts, last: with_other_state(sink_of(parts)._subtask, aborted=(last + 2,)),
    "sink": lambda parts, _: with_other_state(sink_of(parts)._sink._model, next_transaction=900),
    "rows of the sink": lambda parts, _: setattr(sink_of(parts)._sink, "_before", 1_000_000),
    "records": lambda parts, _: sink_of(parts)._counts.append(1),
    "last channel": lambda parts, _: setattr(sink_of(parts), "_last_channel", 7),
    "restored offset": lambda parts, _: setattr(parts.tasks[0]._rows, "restored", 5),
    "source's offsets": lambda parts, last: parts.tasks[0]._offsets.require("snapshot", last + 1),
    "offset": lambda parts, last: parts.run.offsets.update({("src-0", last): -1}),
    "completed": lambda parts, last: parts.run.completed.add(last + 1),
    "taken over": lambda parts, last: parts.run.taken_over_checkpoints.add(last),
    "coordinator": lambda parts, last: with_other_state(
        parts.coordinator._model,
        coordinator=parts.coordinator._model.state.coordinator._replace(next_id=last + 9),
    ),
    "published": lambda parts, last: parts.coordinator._published.add(last + 1),
    "a task that does not know": lambda parts, last: parts.run.undelivered[
        parts.coordinator._attempt, "x"
    ].add(last),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_every_difference_at_a_cut_is_detected(name: str, log: Path) -> None:
    cut = cut_of(log)
    parts, same = assumed(find(log), Settings(), cut), assumed(find(log), Settings(), cut)
    expected = state_at(same, cut)
    assert state_at(parts, cut) == expected
    ALTERATIONS[name](parts, cut.last.checkpoint)
    with contextlib.suppress(NotQuietError):
        assert state_at(parts, cut) != expected
