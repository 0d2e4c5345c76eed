"""`barrierspec matrix`: one table over several implementations."""

import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.commands import matrix
from conformance.drive.several import SeveralError, implementations
from conformance.observe.guarantee import Account, Row, Sent, classify
from conformance.torture import pipelines
from conformance.torture.judge import Outcome
from conformance.torture.streaming import streaming_round

ADAPTERS = Path(__file__).parent.parent / "adapters"


def command_of(*words):
    return shlex.join([sys.executable, str(ADAPTERS / words[0]), *words[1:]])


def run(file, *words):
    asked = [str(file), "--examples", "2", "--limit", "5", *words]
    return CliRunner().invoke(matrix.command, asked, standalone_mode=False)


def test_one_that_does_right_one_that_does_wrong_and_one_that_is_gone(tmp_path):
    file, out = tmp_path / "them.toml", tmp_path / "page.md"
    adapters = {
        "ours": "impl",
        "forgetful": command_of("gate_forgets_subsumption.py"),
        "gone": command_of("misbehaving.py", "crash"),
        "deaf": "no-such-command-anywhere",
    }
    rows = [f"[[implementation]]\nname = {name!r}\nadapter = {one!r}\n" for name, one in adapters.items()]
    file.write_text("\n".join(rows), encoding="utf-8")
    ran = run(file, "--out", str(out))
    assert ran.return_value == 1
    page = out.read_text(encoding="utf-8")
    table = {line.split("|")[1].split()[0]: line for line in page.splitlines() if line.startswith("| ")}
    assert "DIVERGES at ALIGN-03" in table["forgetful"]
    assert "cannot start" in table["deaf"]
    assert table["ours"].count("steps") >= 3  # the others ask for more examples
    assert "## forgetful: ALIGN-03" in page
    assert "1. barrier" in page
    assert "got crashed: exit code 3" in page


@pytest.mark.parametrize("text", ["[[implementation]]\nname = 'a'\n", "implementation = 3", "[["])
def test_a_file_that_lists_none_is_refused(tmp_path, text):
    file = tmp_path / "them.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SeveralError, match="expected tables"):
        implementations(file)
    assert "expected tables" in str(run(file).exception)


def test_a_whole_job_is_struck_and_classified(tmp_path, monkeypatch):
    file, out = tmp_path / "them.toml", tmp_path / "page.md"
    file.write_text(
        '[[pipeline]]\nname = "ours"\nruns = "runtime"\n'
        '[[pipeline]]\nname = "theirs"\nruns = "structured-streaming appending"\nkeeps = "at-least-once"\n'
        '[[pipeline]]\nname = "liar"\nruns = "structured-streaming appending"\n'
    )
    sent = {number: Sent("a", "in", number, 1) for number in range(2)}
    right = [Row("a", 0, 1, 1), Row("a", 1, 2, 2)]
    ran = {"runtime": right, "structured-streaming appending": [*right, Row("a", 1, 2, 2)]}

    def struck(runs):
        def run(seed, folder):
            return Outcome(streaming_round(0, seed), classification=classify(Account(sent, ran[runs])))

        return run

    monkeypatch.setattr(pipelines, "RUNS", {runs: struck(runs) for runs in ran})
    ran_command = run(file, "--out", str(out))
    assert ran_command.return_value == 1
    page = out.read_text(encoding="utf-8")
    assert "| ours | exactly-once | exactly-once | exactly-once | 0 | 2 of 2 | CONFORMS |" in page
    assert "| theirs | at-least-once | exactly-once | at-least-once | 0 | 3 of 2 | CONFORMS |" in page
    assert "| liar | exactly-once | exactly-once | at-least-once | 0 | 3 of 2 | DIVERGES |" in page
    assert "liar: 1 wrong result, the first: key a, record 1" in page
    assert "DIVERGES     liar: state exactly-once, output at-least-once; 0 faults" in ran_command.output


def test_a_job_that_nobody_runs_is_refused(tmp_path):
    file = tmp_path / "them.toml"
    file.write_text('[[pipeline]]\nname = "a"\nruns = "flink"\n')
    assert "structured-streaming appending" in str(run(file).exception)
    file.write_text("")
    assert "expected a table [[implementation]] or [[pipeline]], got none" in str(run(file).exception)


def test_two_of_one_name_are_refused(tmp_path):
    file = tmp_path / "them.toml"
    file.write_text("[[implementation]]\nname = 'a'\nadapter = 'impl'\n" * 2, encoding="utf-8")
    with pytest.raises(SeveralError, match="give each its own"):
        implementations(file)
