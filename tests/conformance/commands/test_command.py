"""`barrierspec conform`: exit codes, reports of at most 80 columns, and saved divergences that fail again."""

import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from conformance import cli
from conformance.verdict import Exit, Verdict, together


@pytest.fixture
def diverged(little_adapter, tmp_path, capsys):
    """The output of a run with the gate that forgets subsumption, and the folder with its files."""
    code = cli.run(
        [
            "conform",
            *("--adapter", little_adapter("gate_forgets_subsumption")),
            *("--examples", "2"),
            *("--out", str(tmp_path)),
        ]
    )
    return code, capsys.readouterr().out, tmp_path


def test_a_pass_states_its_bound(capsys):
    assert (
        cli.run(["conform", "--adapter", "impl", "--component", "store", "--no-suites", "--examples", "4"])
        == 0
    )
    output = capsys.readouterr().out
    assert (
        "CONFORMS   within this bound: store; not checked: gate, channel, subtask, coordinator, sink"
        in output
    )
    assert "5 of 5 rules" in output
    again = "  again   barrierspec conform --adapter impl --component store --seed 0 --examples 4 --no-suites"
    assert output.splitlines()[-1] == again


@pytest.mark.rule("ALIGN-03")
def test_a_divergence_is_reported_on_80_columns(diverged):
    code, answers, _ = diverged
    assert code == Exit.DIVERGES
    story = answers[answers.index("DIVERGES  ALIGN-03") :]
    again = [line for line in story.splitlines() if "--" in line or "pytest" in line]
    assert all(len(line) <= 80 for line in story.splitlines() if line not in again)
    assert "->   2  barrier 2 on 0        resume 0, abort 1         resume 0, block 0" in story
    assert "Missing effect: abort 1 (SUBSUMED)." in story
    assert "no event can be left out" in story


def test_a_saved_divergence_is_replayed_against_its_adapter_and_against_another(diverged, capsys):
    _, _, folder = diverged
    (saved,) = folder.glob("*.json")
    assert cli.run(["conform", "--replay", str(saved)]) == Exit.DIVERGES
    assert "DIVERGES  ALIGN-03" in capsys.readouterr().out
    assert cli.run(["conform", "--replay", str(saved), "--adapter", "impl"]) == Exit.CONFORMS
    assert "in these 2 steps of gate; nothing else was tried" in capsys.readouterr().out


def test_a_saved_divergence_is_a_test_that_fails_alike(diverged, tmp_path_factory):
    _, _, folder = diverged
    (test,) = folder.glob("test_*.py")
    alone = tmp_path_factory.mktemp("elsewhere")
    shutil.copy(test, alone)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(alone)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=alone)
    assert ran.returncode == 1
    assert "DIVERGES  ALIGN-03" in ran.stdout

    (healed,) = alone.glob("test_*.py")
    lines = healed.read_text(encoding="utf-8").splitlines()
    healed.write_text("\n".join("ADAPTER = 'impl'" if "ADAPTER = " in line else line for line in lines))
    assert subprocess.run(command, capture_output=True, check=False, cwd=alone).returncode == 0


def test_a_crash_is_reported_with_its_stderr(little_adapter, tmp_path, capsys):
    adapter = little_adapter("misbehaving", "crash")
    assert cli.run(["conform", "--adapter", adapter, "--out", str(tmp_path)]) == Exit.DIVERGES
    output = capsys.readouterr().out
    assert "DIVERGES  crashed: exit code 3" in output
    assert "    the engine has run hot" in output


def test_what_cannot_run_is_undetermined(little_adapter, capsys):
    assert cli.run(["conform", "--adapter", "./no-such-engine"]) == Exit.UNDETERMINED
    assert "UNDETERMINED  no answer to hello: crashed: cannot start" in capsys.readouterr().out
    skips = little_adapter("misbehaving", "unsupported")
    assert cli.run(["conform", "--adapter", skips, "--examples", "1"]) == Exit.UNDETERMINED
    assert "skipped, not supported: no instance of anything" in capsys.readouterr().out
    assert cli.run(["conform", "--adapter", skips, "--component", "gate"]) == Exit.UNDETERMINED
    assert "does not offer the component gate" in capsys.readouterr().out


def test_a_hang_is_undetermined(little_adapter, capsys):
    deaf = little_adapter("misbehaving", "deaf")
    assert cli.run(["conform", "--adapter", deaf, "--limit", "0.2"]) == Exit.UNDETERMINED
    output = capsys.readouterr().out
    assert "hung: no answer within 0.4 s" in output
    shown, again, _ = output.partition("\n  again   barrierspec conform ")
    assert again
    assert all(len(line) <= 100 for line in shown.splitlines())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["conform"], "give --adapter"),
        (["conform", "--adapter", ""], "expected a command"),
        (["conform", "--adapter", "'open"], "No closing quotation"),
        (["conform", "--adapter", "impl", "--component", "window"], "unknown component window"),
        (["conform", "--adapter", "impl", "--config", "level"], "expected KEY=VALUE"),
        (["conform", "--adapter", "impl", "--examples", "0"], "Invalid value"),
        (["serve", "window"], "is not one of 'model', 'impl'"),
        (["dance"], "No such command 'dance'"),
        (["explain", "ALIGN-3"], "no rule has the ID 'ALIGN-3'; near ones: "),
        (["explain", "XYZ"], "the IDs are ALIGN-01 to ALIGN-25, TRACK-01 to"),
    ],
)
def test_wrong_usage_states_what_is_right(arguments, complaint, capsys):
    assert cli.run(arguments) == Exit.USAGE
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"no json", "is no JSON"),
        (b"{}", "expected a divergence of format 1"),
        (b'{"format": 1, "component": "gate"}', "missing or of a wrong type: config, events, adapter"),
        (
            b'{"format": 1, "component": "gate", "config": {}, "events": [], "adapter": "impl"}',
            "expected at least one event, each an object",
        ),
        (
            b'{"format": 1, "component": "gate", "config": {}, "events": [7], "adapter": "impl"}',
            "missing or of a wrong type: events",
        ),
        (
            b'{"format": 1, "component": "gate", "config": {}, "events": [{}], "adapter": "impl"}',
            "field 'channels' is missing",
        ),
    ],
)
def test_a_file_that_holds_no_divergence_is_wrong_usage(content, complaint, tmp_path, capsys):
    file = tmp_path / "saved.json"
    file.write_bytes(content)
    assert cli.run(["conform", "--replay", str(file)]) == Exit.USAGE
    assert complaint in capsys.readouterr().err


def test_an_internal_error_is_no_verdict(monkeypatch, capsys):
    monkeypatch.setattr("conformance.drive.conform.examine", lambda *_: 1 / 0)
    assert cli.run(["conform", "--adapter", "impl"]) == Exit.INTERNAL_ERROR
    assert "an internal error of barrierspec" in capsys.readouterr().err


def test_the_verdict_of_several_components():
    conforms, diverges, undetermined = Verdict.CONFORMS, Verdict.DIVERGES, Verdict.UNDETERMINED
    assert together([conforms, conforms]) is conforms
    assert together([conforms, undetermined]) is undetermined
    assert together([undetermined, diverges]) is diverges
    assert together([]) is undetermined
    assert [verdict.exit_code for verdict in (conforms, diverges, undetermined)] == [0, 1, 2]


def test_the_help_imports_no_engine():
    program = (
        "import sys; from conformance import cli; code = cli.run(['--help']); "
        "heavy = {'pyspark', 'z3', 'hypothesis', 'pandas', 'pyarrow'} & set(sys.modules); "
        "sys.exit(', '.join(sorted(heavy)) if heavy else code)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert all(name in ran.stdout for name in ("conform", "serve", "explain", "doctor"))


@pytest.mark.parametrize(
    ("rule", "compared"),
    [
        ("ALIGN-03", "compared  with released classes, from Flink 1.9.3 to "),
        ("FENCE-01", "compared  with no released class: a protocol of this project"),
    ],
)
def test_explain_states_which_releases_a_rule_was_compared_with(capsys, rule, compared):
    assert cli.run(["explain", rule]) == 0
    assert compared in capsys.readouterr().out


def test_explain_states_where_a_rule_stands(capsys):
    assert cli.run(["explain", "align-03"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("ALIGN-03  a newer barrier ends the alignment")
    assert "SingleCheckpointBarrierHandler.cancelSubsumedCheckpoint" in output
    assert "on_barrier" in output[output.index("\n  model\n") :]
    assert "spec/gate/Aligned.tla:" in output
    assert "tests/conformance/commands/test_command.py" in output


def test_saved_files_can_be_read_by_others(diverged):
    _, _, folder = diverged
    (saved,) = folder.glob("*.json")
    read = orjson.loads(saved.read_bytes())
    assert read["rules"] == ["ALIGN-03", "SUB-01"]
    assert read["events"][-1] == {"kind": "barrier", "channel": 0, "checkpoint": 2}
    assert read["got"]["outcome"] == "applied"
    assert Path(folder / f"test_{saved.stem}.py").is_file()


@pytest.mark.parametrize("action", ["fetch", "conform"])
def test_a_release_that_is_not_listed_is_wrong_usage(action, capsys):
    assert cli.run(["flink", action, "9.9"]) == Exit.USAGE
    assert "Flink 9.9 is not listed; expected one of: 1.9.3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("chanels=3", "no examined component has this option; did you mean 'channels'?"),
        ("mode=exactly_once", "did you mean 'exactly-once'?"),
        ("channels=40000", "expected an int of at most 32768, got 40000"),
        ("alignment_timeout_ms=5", "unknown fields ['alignment_timeout_ms']"),
        ("retain=2", "no examined component has this option"),
    ],
)
def test_an_option_that_nothing_can_have_is_a_usage_error(little_adapter, capsys, option, says):
    command = ["conform", "--adapter", little_adapter("fake_gates", "right"), "--config", option]

    assert cli.run(command) == Exit.USAGE
    assert says in capsys.readouterr().err


def test_components_without_the_option_are_left_out_unless_they_are_named(capsys):
    command = ["conform", "--adapter", "model", "--examples", "1", "--config", "remembered=1"]

    assert cli.run(command) == Exit.CONFORMS
    assert "offsets; not checked: gate, channel" in " ".join(capsys.readouterr().out.split())
    assert cli.run([*command, "--component", "store"]) == Exit.USAGE


def test_a_saved_divergence_of_another_configuration_is_not_replayed(little_adapter, tmp_path, capsys):
    right = little_adapter("fake_gates", "right")
    command = ["conform", "--adapter", right, "--examples", "2", "--out", str(tmp_path)]

    assert cli.run([*command, "--config", "profile=flink-1.12"]) == Exit.DIVERGES
    assert cli.run([*command, "--config", "channels=2"]) == Exit.CONFORMS, capsys.readouterr().out


def test_a_spark_that_does_not_start_is_a_wrong_option_and_no_internal_error(tmp_path):
    """In a process of its own: here a session may run already, and Spark would return it."""
    (tmp_path / "log").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "conformance.cli", "trace", "runs", "--spark=-", str(tmp_path / "log")],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.returncode == Exit.USAGE
    assert done.stderr.startswith("Error: Spark did not start on '-'")
