"""`barrierspec verify` as a command: exit codes, files, and output."""

import json

import pytest

from conformance import cli
from conformance.parts import verify

PARTS = tuple(verify.PARTS)


@pytest.fixture
def stand_in(monkeypatch):
    """Fake parts in place of real ones. A paced part imports its module in a process of its own."""

    def put(**fakes):
        named = {name.replace("_", "-"): f"fake_parts.{fake}" for name, fake in fakes.items()}
        parts = {
            name: part._replace(module=named.get(name, part.module)) for name, part in verify.PARTS.items()
        }
        monkeypatch.setattr(verify, "PARTS", parts)

    return put


@pytest.mark.parametrize(
    ("fake", "code", "word"),
    [
        ("passes", 0, "CONFORMS"),
        ("diverges", 1, "DIVERGES"),
        ("crashes", 2, "UNDETERMINED"),
        ("doubts", 2, "UNDETERMINED"),
    ],
)
def test_the_worst_part_decides(stand_in, tmp_path, capsys, fake, code, word):
    stand_in(**{**dict.fromkeys(PARTS, "passes"), "triangle": fake})

    assert cli.run(["verify", "--build", str(tmp_path), "--seed", "11"]) == code

    printed = capsys.readouterr().out
    assert f"\n{word}   " in printed
    assert "again   barrierspec verify --seed 11\n" in printed
    done = json.loads((tmp_path / "report" / "verification.json").read_text())
    assert [part["name"] for part in done["parts"]] == list(PARTS)
    assert done["seed"] == 11
    assert (tmp_path / "report" / "junit.xml").is_file()
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert page.count(f">{word}</span>") == 1 + (1 if fake != "passes" else len(PARTS))
    assert all(f'<th scope="row">{name}</th>' in page for name in PARTS)


def test_only_selected_parts_run(stand_in, tmp_path, capsys):
    stand_in(lock_step="passes", trace="diverges")

    assert cli.run(["verify", "--only", "lock-step", "--quick", "--build", str(tmp_path)]) == 0

    printed = capsys.readouterr().out
    assert "; this is about lock-step only; smaller bounds (--quick)" in printed
    assert "again   barrierspec verify --only lock-step --seed 20261121 --quick" in printed
    assert json.loads((tmp_path / "report" / "verification.json").read_text())["not_run"] == [
        "specification", "triangle", "exploration", "proofs", "pipeline", "trace",
    ]  # fmt: skip


def test_a_part_that_does_not_exist_is_a_usage_error(tmp_path, capsys):
    assert cli.run(["verify", "--only", "everything", "--build", str(tmp_path)]) == 64
    assert "'everything' is not one of 'specification', 'triangle'" in capsys.readouterr().err
    assert not (tmp_path / "report").exists()


def test_a_refused_answer_of_a_part_does_not_become_a_traceback(stand_in, tmp_path, capsys):
    stand_in(proofs="mute")

    assert cli.run(["verify", "--only", "proofs", "--build", str(tmp_path)]) == 2
    assert "expected a PartResult, got NoneType" in capsys.readouterr().out


def test_a_thorough_verification_is_done_again_as_thorough(stand_in, tmp_path, capsys):
    stand_in(proofs="passes")

    assert cli.run(["verify", "--only", "proofs", "--thorough", "--build", str(tmp_path)]) == 0
    assert "--seed 20261121 --thorough" in capsys.readouterr().out


def test_quick_and_thorough_exclude_each_other(capsys):
    assert cli.run(["verify", "--quick", "--thorough"]) == 64
    assert "leave one out" in capsys.readouterr().err
