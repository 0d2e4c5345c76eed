"""Hostile options, answers and files end with a documented exit code, and a message that says what to do."""

import json
import sys
from pathlib import Path

import orjson
import pytest

from conformance.adapters.frames import DEEPEST, FrameError, parse_answer
from conformance.adapters.protocol import canonical
from conformance.cli import run
from conformance.command_line.failures import TRACEBACK, ended_by
from conformance.drive import known_divergences
from conformance.released.known_divergences import KnownError, read
from conformance.verdict import Exit
from impl.state import CheckpointStorage, SnapshotCorruptError, encode
from impl.state.checkpoint_metadata import CompletedCheckpoint, checksum

# ---------------------------------------------------------------- options


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "0", "1e9"])
@pytest.mark.parametrize("command", [["smoke", "--adapter", "model"], ["conform", "--adapter", "model"]])
def test_a_time_limit_is_a_finite_number_of_seconds(command: list[str], value: str) -> None:
    assert run([*command, f"--limit={value}"]) == Exit.USAGE


@pytest.mark.parametrize("option", ["--json", "--junit", "--sarif", "--annotations", "--html"])
@pytest.mark.parametrize("place", ["{folder}", "{folder}/file/x", "/dev/null/x", ""])
def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    option: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    place = place.format(folder=tmp_path)
    assert run(["trace", "runs", str(tmp_path), option, place]) == Exit.USAGE
    assert f"'{option}'" in capsys.readouterr().err


def test_an_output_in_a_folder_that_is_missing_is_written(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    reports = [
        f"--{kind}={tmp_path}/new/{kind}" for kind in ("json", "junit", "sarif", "annotations", "html")
    ]
    assert run(["trace", "runs", str(tmp_path / "log"), *reports]) == Exit.UNDETERMINED
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        "json", "junit", "sarif", "annotations", "html",
    }  # fmt: skip


def test_a_refusal_of_the_operating_system_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended_by(PermissionError(13, "Permission denied", "/a\nb")) == Exit.USAGE
    assert "'/a\\nb': Permission denied; change its permissions" in capsys.readouterr().err


def test_an_internal_error_is_one_message(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(TRACEBACK, raising=False)
    assert ended_by(ZeroDivisionError("division")) == Exit.INTERNAL_ERROR
    output = capsys.readouterr().err
    assert "Traceback" not in output
    assert "ZeroDivisionError: 'division'" in output
    monkeypatch.setenv(TRACEBACK, "1")
    assert ended_by(ZeroDivisionError("division")) == Exit.INTERNAL_ERROR
    assert "ZeroDivisionError: division" in capsys.readouterr().err


# ---------------------------------------------------------------- answers


def nested(depth: int) -> bytes:
    inner = depth - 2
    return b'{"seq":0,"effects":[[]],"state":{"a":' + b"[" * inner + b"]" * inner + b"}}"


def test_nesting_of_an_answer_is_bounded() -> None:
    assert parse_answer(nested(DEEPEST), 0, "apply", 1)
    with pytest.raises(FrameError, match=f"at most {DEEPEST} deep"):
        parse_answer(nested(DEEPEST + 1), 0, "apply", 1)
    with pytest.raises(FrameError, match=f"at most {DEEPEST} deep"):
        parse_answer(nested(900), 0, "apply", 1)


def test_brackets_within_strings_are_no_depth() -> None:
    line = b'{"seq":0,"effects":[[]],"state":{"a":"' + b'[{\\"' * 100 + b'"}}'
    assert parse_answer(line, 0, "apply", 1)


@pytest.mark.parametrize("effect", [{}, {"kind": None}, {"kind": ["block"]}, "block", None])
def test_an_effect_has_a_kind(effect: object) -> None:
    line = orjson.dumps({"seq": 0, "effects": [[effect]], "state": {}})
    with pytest.raises(FrameError, match=r"effects\[0\]: expected a list of objects with a string 'kind'"):
        parse_answer(line, 0, "apply", 1)


def test_the_number_of_effects_of_an_event_is_bounded() -> None:
    many = orjson.dumps({"seq": 0, "effects": [[{"kind": "x"}] * 200_001], "state": {}})
    with pytest.raises(FrameError, match="at most 200,000"):
        parse_answer(many, 0, "apply", 1)


def test_numbers_beyond_64_bits_are_strings() -> None:
    assert canonical({"a": 1 << 70}) == b'{"a":1180591620717411303424}'


def test_a_large_answer_is_refused_by_smoke_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "large.py"
    script.write_text(
        "import json, sys\n"
        "hello = {'protocol': 1, 'implementation': 'x', 'version': '1', 'language': 'python', 'components':\n"
        "  {'store': {'modes': [], 'profiles': [], 'capabilities': []}}}\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    answer = {'hello': hello, 'apply': {'effects': [[{'kind': 'x', 'at': n} for n in range(6000)]\n"
        "      for _ in asked.get('events', [])], 'state': {}}}.get(asked['op'], {'ok': True})\n"
        "    print(json.dumps({'seq': asked['seq'], **answer}), flush=True)\n"
    )
    assert run(["smoke", "--adapter", f"{sys.executable} {script}"]) == Exit.DIVERGES
    assert "at most 65,536 bytes" in " ".join(capsys.readouterr().out.split())


# ---------------------------------------------------------------- stored files


def job(folder: Path) -> CheckpointStorage:
    storage = CheckpointStorage(folder / "checkpoints")
    attempt = storage.new_attempt()
    for checkpoint in (1, 2):
        storage.publish(checkpoint, attempt, [storage.write(checkpoint, "a", attempt, encode(checkpoint))])
    return storage


ODD = [
    {"tasks": []},
    {"tasks": {"a": 1}},
    {"tasks": {"a": {}}},
    {"tasks": {"a": {"task": "b"}}},
    {"checkpoint": "2"},
    {"checkpoint": -1},
    {"attempt": None},
    {"max_parallelism": "x"},
    {"savepoint": []},
]


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_manifest_of_odd_content_is_corrupt_and_the_one_before_is_restored(
    odd: dict[str, object], tmp_path: Path
) -> None:
    storage = job(tmp_path)
    path = tmp_path / "checkpoints" / "chk-2" / "_metadata"
    body = {**json.loads(path.read_bytes()), **odd}
    del body["checksum"]
    text = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    path.write_bytes(orjson.dumps({**body, "checksum": checksum(text).hex()}))
    latest = storage.latest_completed()
    assert latest.completed is not None
    assert latest.completed.checkpoint == 1
    assert [one.checkpoint for one in latest.refused] == [2]
    assert run(["checkpoints", str(tmp_path)]) == Exit.DIVERGES


@pytest.mark.parametrize("file", ["/etc/passwd", "../x", "a/../../x", "", "a\0b"])
def test_a_handle_that_leads_out_of_its_folder_is_corrupt(file: str, tmp_path: Path) -> None:
    whole = job(tmp_path).load(2)
    body = json.loads(whole.encode())
    body["tasks"]["a"]["file"] = file
    del body["checksum"]
    text = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    with pytest.raises(SnapshotCorruptError, match="files of this folder"):
        CompletedCheckpoint.decode(orjson.dumps({**body, "checksum": checksum(text).hex()}), "chk-2")


def test_a_manifest_that_is_nested_too_deeply_is_corrupt() -> None:
    with pytest.raises(SnapshotCorruptError, match="a JSON manifest"):
        CompletedCheckpoint.decode(b'{"a":' * 100_000, "chk-2")


@pytest.mark.parametrize("name", ["chk-", "chk-٣", "chk-007", "chk-" + "9" * 200, "chk-²"])
def test_a_folder_with_an_odd_name_is_no_checkpoint(name: str, tmp_path: Path) -> None:
    storage = job(tmp_path)
    (tmp_path / "checkpoints" / name).mkdir()
    (tmp_path / "checkpoints" / name / "_metadata").write_bytes(b"{}")
    (tmp_path / "checkpoints" / "attempts" / "²").touch()
    assert storage.completed_ids() == (1, 2)
    assert storage.new_attempt() == 2
    assert run(["checkpoints", str(tmp_path)]) == Exit.CONFORMS


@pytest.mark.parametrize("edges", [1, [1], [[1]], [["a", "b", "c"]], None, "ab"])
def test_odd_edges_are_an_unreadable_log(
    edges: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {
        "attempt": 1,
        "task": "coordinator",
        "seq": 0,
        "kind": "attempt_started",
        "tasks": ["a"],
        "edges": edges,
    }
    (tmp_path / "coordinator.jsonl").write_bytes(orjson.dumps(line) + b"\n")
    assert run(["trace", "runs", str(tmp_path)]) == Exit.UNDETERMINED
    assert "coordinator.jsonl:1: expected 'edges'" in " ".join(capsys.readouterr().out.split())


def test_an_unknown_kind_is_an_unreadable_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {"attempt": 1, "task": "coordinator", "seq": 0, "kind": "promoted"}
    (tmp_path / "coordinator.jsonl").write_bytes(orjson.dumps(line) + b"\n")
    assert run(["trace", "runs", str(tmp_path)]) == Exit.UNDETERMINED
    assert "coordinator.jsonl:1: unknown kind 'promoted'" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "text", ["divergence = 1", "divergence = [1]", "[divergence]\nname = 1", "a = " + "[" * 5_000]
)
def test_known_divergences_of_odd_shapes(text: str) -> None:
    with pytest.raises(KnownError):
        list(read(text, "odd.toml"))


@pytest.mark.parametrize("rows", [1, [1], [{"component": 1}], [{"component": "gate", "events": [1]}]])
def test_a_list_of_odd_shapes(rows: object, tmp_path: Path) -> None:
    (tmp_path / "list.json").write_bytes(orjson.dumps({"format": 1, "divergences": rows}))
    with pytest.raises(known_divergences.ListError):
        known_divergences.read(tmp_path / "list.json")


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"implementation = 1",
        b"implementation = [1]",
        b'[[implementation]]\nname="x"\nadapter=""',
    ],
)
def test_a_matrix_of_odd_shapes(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_bytes(content)
    assert run(["matrix", str(tmp_path / "matrix.toml")]) == Exit.USAGE
