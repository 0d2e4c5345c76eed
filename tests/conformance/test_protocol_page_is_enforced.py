"""`conform` tests each statement of the protocol page: it refuses a gate that violates one of them."""

import shlex
import sys
from pathlib import Path

import pytest

from conformance import cli
from conformance.verdict import Exit

ADAPTER = Path(__file__).parent.parent / "adapters" / "wrong_in_one_word.py"
WRONG = {
    "inject": "DIVERGES ALIGN-24",
    "older-reason": "DIVERGES TRACK-08",
    "late": "DIVERGES ALIGN-04",
    "awaited": "DIVERGES ALIGN-",
    "batch-forgets": "exactly the events before the refused one must have been applied",
    "batch-goes-on": "exactly the events before the refused one must have been applied",
    "no-position": 'expected "at": 0, got no position',
    "failed-for-ever": "DIVERGES",
    "goes-on": "no event can be left out",
}


def run(tmp_path, capsys, *words):
    command = shlex.join([sys.executable, str(ADAPTER), words[0]])
    given = ["--adapter", command, "--no-suites", "--examples", "3", "--out", str(tmp_path / "out")]
    code = cli.run(["conform", *given, *words[1:]])
    return code, " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("how", WRONG)
def test_each_statement_of_the_page_is_tested(tmp_path, capsys, how):
    code, said = run(tmp_path, capsys, how)

    assert code == Exit.DIVERGES, said
    assert WRONG[how] in said


def test_a_gate_without_inject_gets_no_injection_and_the_verdict_states_it(tmp_path, capsys):
    code, said = run(tmp_path, capsys, "no-inject")

    assert code == Exit.CONFORMS, said
    assert "not tested: event inject (not among the capabilities)" in said


def test_a_crash_is_charged_to_no_rule(tmp_path, capsys):
    code, said = run(tmp_path, capsys, "crashes")

    assert code == Exit.DIVERGES
    assert "DIVERGES crashed: exit code 1" in said
    assert "the engine has run hot" in said
    assert "ALIGN-" not in said.partition("crashed")[2].partition("found after")[0]


def test_the_matrix_reports_the_crash(tmp_path, capsys):
    file = tmp_path / "them.toml"
    command = shlex.join([sys.executable, str(ADAPTER), "crashes"])
    file.write_text(f"[[implementation]]\nname = 'hot'\nadapter = {command!r}\n", encoding="utf-8")
    page = tmp_path / "page.md"
    code = cli.run(["matrix", str(file), "--examples", "3", "--out", str(page)])

    assert code == Exit.DIVERGES
    assert "gate DIVERGES, crashed" in capsys.readouterr().out
    assert "## hot: crashed" in page.read_text(encoding="utf-8")


def test_classify_states_which_capabilities_were_not_tested(tmp_path, capsys):
    assert cli.run(["classify", "--adapter", "impl"]) == Exit.CONFORMS
    output = " ".join(capsys.readouterr().out.split())

    assert "The command saw only what the adapter reported." in output
    assert "the durability of pre-committed transactions was not tested" in output
