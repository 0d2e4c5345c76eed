"""A log that cannot be read names the place of its fault, and a rejection states every reason."""

from collections.abc import Callable
from pathlib import Path

import pytest
from event_logs import first, read, write

from conformance.observe import EventLogError, validate
from conformance.refusals import explanation


def spoil(folder: Path, recorded: Path, name: str, change: Callable[[str], str]) -> Path:
    write(read(recorded), folder)
    path = folder / f"{name}.jsonl"
    path.write_text(change(path.read_text()))
    return folder


@pytest.mark.parametrize(
    ("change", "line", "why"),
    [
        (lambda text: text[:-20], 0, "cut off"),
        (lambda text: "not json\n" + text, 1, "expected a JSON object"),
        (lambda text: "[1]\n" + text, 1, "expected a JSON object"),
        (lambda text: text.replace("\n", "\n\n", 1), 2, "expected a JSON object"),
        (lambda text: "".join(text.splitlines(keepends=True)[1:]), 1, "a line is missing"),
        (lambda text: text.replace('"component": "gate"', '"component": "gates"', 1), 2, "unknown component"),
    ],
)
def test_a_log_that_cannot_be_read_names_its_place(
    change: Callable[[str], str], line: int, why: str, recorded: Path, tmp_path: Path
) -> None:
    folder = spoil(tmp_path, recorded, "1-count-0", change)
    with pytest.raises(EventLogError, match=why) as raised:
        validate(folder)
    assert raised.value.file == "1-count-0.jsonl"
    assert line in (0, raised.value.line)


def test_a_folder_without_a_coordinator_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(EventLogError, match="run the job with event_log=True"):
        validate(tmp_path)


def test_an_unknown_situation_is_an_error(recorded: Path) -> None:
    with pytest.raises(ValueError, match="no situation is called"):
        validate(recorded, required=["aligned", "alined"])


def test_a_refused_event_is_reported_with_every_action(recorded: Path, tmp_path: Path) -> None:
    log = read(recorded)
    name = next(name for name in log if name.endswith("count-0"))
    line = log[name][first(log[name], "gate", "barrier", "block")]
    line["effects"] = [{"kind": "resume", "channel": line["event"]["channel"]}]
    rejection = validate(write(log, tmp_path), required=()).rejection

    assert rejection is not None
    assert rejection.refused is not None
    shown = explanation.of_rejection(rejection.refused, rejection.waiting)
    assert any(one.startswith("      this answer; needs current > ") for one in shown)
    assert len(shown) <= 24
    assert all(len(one) <= 80 for one in shown)


def test_if_no_file_can_continue_every_guard_is_reported(recorded: Path, tmp_path: Path) -> None:
    log = read(recorded)
    name = next(name for name in log if "src-" in name)
    log[name] = log[name][: first(log[name], "subtask", "checkpoint", "broadcast_barrier")]
    rejection = validate(write(log, tmp_path), required=()).rejection

    assert rejection is not None
    assert len(rejection.waiting) > 1
    shown = explanation.of_rejection(rejection.refused, rejection.waiting)
    assert shown[0] == "  The events that wait for a cause at that point, each with its guard:"
    assert shown[1].startswith(f"    {rejection.file}:{rejection.line}: ")
    assert len(shown) <= 48


@pytest.mark.parametrize("file", ["coordinator", "1-"])
def test_a_line_of_an_unknown_kind_is_an_error_with_its_place(recorded, tmp_path, file):
    log = read(recorded)
    name = next(one for one in sorted(log) if one.startswith(file))
    last = log[name][-1]
    log[name].append({"attempt": last["attempt"], "task": last["task"], "kind": "later"})
    with pytest.raises(EventLogError, match=rf"{name}\.jsonl:{len(log[name])}: unknown kind 'later'"):
        validate(write(log, tmp_path))
