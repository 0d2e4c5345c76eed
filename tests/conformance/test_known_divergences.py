"""A listed divergence fails the run only if it no longer occurs. `conform` plays saved divergences first."""

import shlex
import sys
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from conformance.adapters.choose import ours
from conformance.adapters.process import ProcessAdapter
from conformance.cases.hypothesis_machines import Source, run_machine
from conformance.commands.implementations import conform
from conformance.drive.known_divergences import Known, Listed, ListError, read, write
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle

ADAPTERS = Path(__file__).parent.parent / "adapters"
FORGETFUL = shlex.join([sys.executable, str(ADAPTERS / "gate_forgets_subsumption.py")])
CONFIG = {"channels": 2, "mode": "exactly-once", "level": "handler"}
OVERTAKEN = (
    {"kind": "barrier", "channel": 0, "checkpoint": 1},
    {"kind": "barrier", "channel": 1, "checkpoint": 2},
)
ENTRY = Listed("gate", CONFIG, OVERTAKEN, "ALIGN-03", "nobody needs to know")


def run(*words):
    quick = ["--examples", "5", "--component", "gate", "--config", "channels=2", "--no-suites", "--life", "0"]
    return CliRunner().invoke(conform.command, [*quick, *map(str, words)], standalone_mode=False)


def test_a_found_divergence_is_listed_and_then_tolerated(tmp_path):
    file = tmp_path / "known.json"
    command = ("--adapter", FORGETFUL, "--known-divergences", file, "--out", tmp_path)
    fixed = run(*command, "--fix")
    assert f"list    {file}" in fixed.output
    assert {entry.rule for entry in read(file)} == {"ALIGN-03"}
    again = run(*command)
    assert "DIVERGES" not in again.output
    assert "listed, met 0 times" not in again.output


@pytest.mark.parametrize("how", ["never-blocks", "claims-older"])
def test_fix_completes_the_list_in_one_run(tmp_path, how):
    file = tmp_path / "known.json"
    command = shlex.join([sys.executable, str(ADAPTERS / "fake_gates.py"), how])
    requested = ("--adapter", command, "--known-divergences", file, "--out", tmp_path)
    run(*requested, "--fix")
    listed = read(file)
    again = run(*requested)

    assert len(listed) > 1
    assert len({str(entry) for entry in listed}) == len(listed)
    assert again.return_value == 0, again.output
    assert run(*requested, "--fix").return_value == 0
    assert read(file) == listed


def test_the_command_that_repeats_the_run_has_what_decides_its_verdict(tmp_path):
    file = tmp_path / "known.json"
    command = ("--adapter", FORGETFUL, "--known-divergences", file, "--out", tmp_path)
    run(*command, "--fix")
    shown = run(*command, "--limit", "9.5", "--fail-fast")
    plain = run("--adapter", "model", "--out", tmp_path)

    assert shown.return_value == 0
    assert unbroken(shown).endswith(f"--life 0 --limit 9.5 --known-divergences {file} --fail-fast")
    assert unbroken(plain).endswith("--life 0")


def unbroken(result):
    """The command after `again` in the output, on one line."""
    return " ".join(result.output.rpartition("again   ")[2].replace("\\\n", "").split())


def test_a_divergence_that_was_saved_before_is_listed_too(tmp_path):
    file = tmp_path / "known.json"
    command = ("--adapter", FORGETFUL, "--out", tmp_path)
    assert run(*command).return_value == 1
    run(*command, "--known-divergences", file, "--fix")

    assert {entry.rule for entry in read(file)} == {"ALIGN-03"}
    assert run(*command, "--known-divergences", file).return_value == 0


def test_a_known_crash_is_met_a_few_times_and_the_verdict_counts_what_was_left_out(tmp_path):
    command = shlex.join([sys.executable, "-S", str(ADAPTERS / "fake_gates.py"), "crashes"])
    few = ["--examples", "1", "--config", "channels=2", "--config", "checkpoints_after_tasks_finish=true"]
    requested = ["--adapter", command, "--known-divergences", str(tmp_path / "known.json"), "--fix", *few]
    requested += ["--out", str(tmp_path)]
    ran = CliRunner().invoke(conform.command, requested, standalone_mode=False)

    assert ran.return_value == 0, ran.output
    answers = " ".join(ran.output.split())
    assert int(answers.partition("new, met ")[2].split()[0]) < 60
    assert "cases end before a known crash" in answers
    assert "more left out, in which it is known to crash" in answers
    assert "except where sequences were left out or end at a known divergence" in answers


def test_a_missing_list_is_a_usage_error(tmp_path):
    ran = CliRunner().invoke(
        conform.command, ["--adapter", "model", "--known-divergences", str(tmp_path / "none.json")]
    )

    assert ran.exit_code != 0
    assert "got no file; add --fix to write it" in ran.output


def test_a_repaired_divergence_fails_the_run_until_fix_removes_it(tmp_path):
    file = tmp_path / "known.json"
    broken, mended = (
        shlex.join([sys.executable, str(ADAPTERS / "fake_gates.py"), how])
        for how in ("never-blocks", "right")
    )
    run("--adapter", broken, "--known-divergences", file, "--out", tmp_path, "--fix")
    command = ("--adapter", mended, "--known-divergences", file, "--out", tmp_path)

    assert run(*command).return_value == 1
    assert run(*command, "--fix").return_value == 0
    assert read(file) == []


def test_a_listed_divergence_that_passes_fails_the_run_and_is_removed(tmp_path):
    file = tmp_path / "known.json"
    write(file, [ENTRY])
    command = ("--adapter", "impl", "--config", "channels=2", "--known-divergences", file)
    ran = run(*command)
    assert ran.return_value == 1
    assert "passes  gate, ALIGN-03" in ran.output
    assert read(file) == [ENTRY]
    run(*command, "--fix")
    assert read(file) == []


def test_only_divergences_with_the_listed_signature_are_tolerated():
    known = Known([ENTRY])
    with ProcessAdapter(FORGETFUL) as adapter:
        known.replay(adapter, ["gate"])
        oracle = Oracle("gate", CONFIG)
        alike = replay(
            oracle, adapter, [dict(event, checkpoint=event["checkpoint"] + 5) for event in OVERTAKEN]
        )
        assert known.holds(alike.divergence)
        ran = run_machine("gate", adapter, Source(0, 20, pinned={"level": "handler"}))
        assert ran.divergence is not None
    with ProcessAdapter([sys.executable, str(ADAPTERS / "gate_unblocks_on_late_barrier.py")]) as other:
        late = replay(oracle, other, [*reversed(OVERTAKEN), OVERTAKEN[0] | {"channel": 1}])
        assert not known.holds(late.divergence)
    assert known.met == 1


def test_a_saved_divergence_is_played_first(tmp_path):
    first = run("--adapter", FORGETFUL, "--out", tmp_path)
    (saved,) = tmp_path.glob("*.json")
    steps = len(orjson.loads(saved.read_bytes())["events"])
    again = run("--adapter", FORGETFUL, "--out", tmp_path, "--seed", "7")
    assert first.return_value == again.return_value == 1
    assert f"DIVERGES      {steps} steps in 1 cases" in again.output
    (tmp_path / "torn.json").write_bytes(b"{")
    assert "DIVERGES" not in run("--adapter", "impl", "--config", "channels=2", "--out", tmp_path).output


@pytest.mark.parametrize(
    ("text", "says"),
    [(b"{", "expected a list"), (b'{"format": 2}', "expected format 1"), (b'{"format": 1}', "'divergences'")],
)
def test_a_file_that_is_no_list_is_refused(tmp_path, text, says):
    file = tmp_path / "known.json"
    file.write_bytes(text)
    with pytest.raises(ListError, match=says):
        read(file)
    assert says in str(run("--adapter", "impl", "--known-divergences", file).exception)


def test_an_entry_that_the_model_cannot_play_is_refused_and_so_is_fix_without_a_list():
    with pytest.raises(ListError, match="cannot be played: channels"):
        Known([ENTRY._replace(config={"channels": 0})]).replay(ours("model"), ["gate"])
    assert "give --known-divergences, too" in str(run("--adapter", "impl", "--fix").exception)
