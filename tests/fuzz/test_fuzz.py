"""A small part of the fuzzer, with the same cases on every machine. `make fuzz` runs more, with any seed."""

from pathlib import Path

import pytest

from tests.fuzz.campaign import KINDS, findings
from tests.fuzz.judge import Case, run_apart, wrong_with
from tests.fuzz.lines import COMMANDS

SEED = 20261121
CASES = {"lines": 80, "answers": 12, "files": 120}


@pytest.mark.parametrize("kind", KINDS)
def test_every_case_ends_as_documented(kind: str) -> None:
    found = list(findings(kind, SEED, range(CASES[kind])))
    assert not found, "\n\n".join(found)


def test_the_commands_are_those_of_click() -> None:
    known = {words for words, _ in COMMANDS}
    assert {"checkpoints", "trace flink", "vectors verify", "smoke"} <= known


@pytest.mark.parametrize(
    ("wrong", "call"),
    [
        ("a traceback", lambda arguments: [][0]),
        ("exit code 70 is not", lambda arguments: 70),
        ("exit code 0, expected one of [1]", lambda arguments: 0),
        ("exit code 1 without a message", lambda arguments: 1),
    ],
)
def test_the_judge_detects_each_wrong_end(wrong: str, call: object, tmp_path: Path) -> None:
    case = Case("x", (), frozenset({1}))
    assert callable(call)
    ended = run_apart(case, tmp_path, call)
    assert wrong in (wrong_with(case, ended) or "")


def test_the_judge_bounds_memory(tmp_path: Path) -> None:
    case = Case("x", ())
    ended = run_apart(case, tmp_path, lambda arguments: len(bytearray(8 << 30)))
    assert "MemoryError" in ended.output
