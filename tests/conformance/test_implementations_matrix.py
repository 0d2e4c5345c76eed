"""`barrierspec matrix` writes one table of several implementations."""

import json
import shlex
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from conformance import escape
from conformance.adapters.flink.releases import FlinkError, newest
from conformance.adapters.protocol import Crashed, Unsupported
from conformance.commands.implementations import conform, matrix
from conformance.drive.implementations import MatrixFileError, implementations
from conformance.errors import InputError
from conformance.observe.guarantees.guarantee import Account, Row, Sent, classify
from conformance.parts import implementations as implementations_part
from conformance.parts.implementations import summary_of
from conformance.parts.released import target
from conformance.released.known_divergences import known_divergences
from conformance.released.results import Conformed
from conformance.report import matrix as matrix_report
from conformance.torture import pipelines
from conformance.torture.judge import Outcome
from conformance.torture.rounds import streaming_round
from conformance.verdict import Verdict

ADAPTERS = Path(__file__).parent.parent / "adapters"


def command_of(*words):
    return shlex.join([sys.executable, str(ADAPTERS / words[0]), *words[1:]])


def run(file, *words):
    requested = [str(file), "--examples", "2", "--limit", "60", *words]
    return CliRunner().invoke(matrix.command, requested, standalone_mode=False)


def test_a_right_a_wrong_and_a_missing_implementation(user_folder):
    file, out = user_folder / "them.toml", user_folder / "page.md"
    (user_folder / "three_parts.py").write_text(
        "from functools import partial\n"
        "from conformance.adapters.in_process import ModelInstance\n"
        "from model.components import COMPONENTS\n"
        "three = ('offsets', 'source', 'sink')\n"
        "components = {name: partial(ModelInstance, COMPONENTS[name]) for name in three}\n"
    )
    adapters = {
        "ours": "three_parts:components",
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
    assert table["ours"].count("steps") >= 3  # other cells may need more examples
    assert "## forgetful: ALIGN-03" in page
    assert "1. barrier" in page
    assert "got crashed: exit code 3" in page


def test_a_release_stands_in_the_table_beside_the_others(tmp_path, monkeypatch):
    file, out = tmp_path / "them.toml", tmp_path / "page.md"
    file.write_text("[[implementation]]\nname = 'Flink'\nrelease = '2.2.1'\n", encoding="utf-8")
    known = known_divergences()[0]
    aligned, tracked, absent = (target(newest(), mode, "handler") for mode in ("a", "b", "c"))
    came = [
        Conformed(aligned, sequences=3, events=100, rules={"ALIGN-01"}),
        Conformed(tracked, sequences=4, events=50, known=Counter({known.name: 2})),
        Conformed(absent, stopped=Unsupported("not in this release")),
    ]
    monkeypatch.setattr(implementations_part, "conform_releases", lambda *_, **__: came)
    ran = run(file, "--out", str(out))
    assert ran.return_value == 0
    assert "  CONFORMS     Flink: gate 150 steps (1 known)\n" in ran.output
    page = out.read_text(encoding="utf-8")
    assert "| implementation | gate |" in page
    assert "| Flink (apache-flink 2.2.1) | 150 steps (1 known) |" in page
    assert f"Flink, gate: known: {known.name} (`conformance/known-divergences`)" in page


def test_a_release_that_stops_or_has_a_vanished_divergence_does_not_pass():
    gate = target(newest(), "exactly-once", "handler")
    known = known_divergences()[0]
    assert summary_of("gate", [Conformed(gate, stopped=Unsupported("absent"))]) is None
    stopped = summary_of("gate", [Conformed(gate), Conformed(gate, sequences=1, stopped=Crashed(1, ""))])
    assert stopped.verdict is Verdict.UNDETERMINED
    assert stopped.undetermined
    gone = summary_of("gate", [Conformed(gate), Conformed(gate, sequences=1, gone=[known])])
    assert gone.verdict is Verdict.DIVERGES
    assert "no longer diverges" in gone.undetermined[0]


def test_a_release_that_cannot_be_fetched_is_undetermined(tmp_path, monkeypatch):
    def conform_releases(*_, **__):
        raise FlinkError("no such release")

    monkeypatch.setattr(implementations_part, "conform_releases", conform_releases)
    file = tmp_path / "them.toml"
    file.write_text("[[implementation]]\nname = 'Flink'\nrelease = '0.1'\n", encoding="utf-8")
    ran = run(file, "--out", str(tmp_path / "page.md"))
    assert ran.return_value == 2
    assert "no such release" in ran.output


def test_a_release_gets_no_random_cases(tmp_path):
    """Random cases have events outside the protocol, which Flink's classes accept: they would diverge."""
    file, out = tmp_path / "them.toml", tmp_path / "page.md"
    hello = {"protocol": 1, "implementation": "apache-flink", "version": "2.2.1", "language": "java"}
    offer = {"gate": {"modes": [], "profiles": [], "capabilities": []}}
    answer = json.dumps({"seq": 0, **hello, "components": offer})
    served = shlex.join([sys.executable, "-c", f"input(); print({answer!r})"])
    file.write_text(f"[[implementation]]\nname = 'Flink'\nadapter = {json.dumps(served)}\n", encoding="utf-8")
    ran = run(file, "--out", str(out))
    assert ran.return_value == 2
    assert 'name it by release = "2.2.1"' in ran.output
    command = ["--adapter", served]
    with pytest.raises(InputError, match="`barrierspec flink conform"):
        CliRunner().invoke(conform.command, command, standalone_mode=False, catch_exceptions=False)


@pytest.mark.parametrize(
    "text",
    [
        "[[implementation]]\nname = 'a'\n",
        "[[implementation]]\nname = 'a'\nadapter = 'impl'\nrelease = '2.2.1'\n",
        "implementation = 3",
        "[[",
    ],
)
def test_a_file_that_lists_none_is_refused(tmp_path, text):
    file = tmp_path / "them.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(MatrixFileError, match="expected tables"):
        implementations(file)
    assert "expected tables" in str(run(file).exception)


def test_a_whole_job_with_faults_is_classified(tmp_path, monkeypatch):
    file, out = tmp_path / "them.toml", tmp_path / "page.md"
    file.write_text(
        '[[pipeline]]\nname = "ours"\nruns = "runtime"\n'
        '[[pipeline]]\nname = "theirs"\nruns = "structured-streaming appending"\nkeeps = "at-least-once"\n'
        '[[pipeline]]\nname = "liar"\nruns = "structured-streaming appending"\n'
    )
    sent = {number: Sent("a", "in", number, 1) for number in range(2)}
    right = [Row("a", 0, 1, 1), Row("a", 1, 2, 2)]
    ran = {"runtime": right, "structured-streaming appending": [*right, Row("a", 1, 2, 2)]}

    def injected(runs):
        def run(seed, folder):
            return Outcome(streaming_round(0, seed), classification=classify(Account(sent, ran[runs])))

        return run

    monkeypatch.setattr(pipelines, "RUNS", {runs: injected(runs) for runs in ran})
    ran_command = run(file, "--out", str(out))
    assert ran_command.return_value == 1
    page = out.read_text(encoding="utf-8")
    assert "| ours | exactly-once | exactly-once | exactly-once | 0 | 2 of 2 | CONFORMS |" in page
    assert "| theirs | at-least-once | exactly-once | at-least-once | 0 | 3 of 2 | CONFORMS |" in page
    assert "| liar | exactly-once | exactly-once | at-least-once | 0 | 3 of 2 | DIVERGES |" in page
    assert "liar: 1 wrong result, the first: key a, record 1" in page
    assert "DIVERGES     liar: state exactly-once, output at-least-once; 0 faults" in ran_command.output


def test_a_job_without_a_known_runner_is_refused(tmp_path):
    file = tmp_path / "them.toml"
    file.write_text('[[pipeline]]\nname = "a"\nruns = "flink"\n')
    assert "structured-streaming appending" in str(run(file).exception)
    file.write_text("")
    assert "expected a table [[implementation]] or [[pipeline]], got none" in str(run(file).exception)


def test_two_implementations_with_one_name_are_refused(tmp_path):
    file = tmp_path / "them.toml"
    file.write_text("[[implementation]]\nname = 'a'\nadapter = 'impl'\n" * 2, encoding="utf-8")
    with pytest.raises(MatrixFileError, match="give each its own"):
        implementations(file)


def test_texts_of_implementations_and_jobs_are_escaped_on_the_page():
    hostile, escaped = "*a*|<b>\n# c", escape.markdown("*a*|<b>\n# c")
    undetermined = SimpleNamespace(
        divergence=None, broken=(), undetermined=(hostile,), known=(hostile,), verdict=Verdict.UNDETERMINED
    )
    done = SimpleNamespace(
        implementation=SimpleNamespace(name=hostile), name=hostile, components={"gate": undetermined}
    )
    job = SimpleNamespace(
        pipeline=SimpleNamespace(name=hostile, keeps=SimpleNamespace(value=hostile)),
        keeps=lambda subject: hostile,
        outcome=SimpleNamespace(injected=(), classification=None, findings=(hostile,)),
        verdict=Verdict.DIVERGES,
    )
    made = matrix_report.page([done], [job], seed=1, examples=2)

    assert made.count(escaped) == 12
    assert "*a*" not in made
    assert "<b>" not in made
