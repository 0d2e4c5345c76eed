"""The steps of the GitHub action, run with the command of this checkout instead of an installed one."""

import json
import sys
from pathlib import Path

import pytest
import yaml

from conformance.skeletons import skeleton, write_skeleton
from tests.github_steps import Runner

ROOT = Path(__file__).parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
ADAPTER = f"{sys.executable} barrierspec_adapter.py"


@pytest.fixture
def runner(tmp_path):
    """A runner of the action in a user's repository, where the command is installed already."""
    folder = tmp_path / "repository"
    write_skeleton(skeleton("python"), folder, keep=False)
    made = Runner(folder, tmp_path / "runner", GITHUB_ACTION_PATH="/no/such/action")
    name = "barrierspec-2516719235"  # the checksum of `here`, the source of the installation
    program = made.temporary / name / "bin/barrierspec"
    program.parent.mkdir(parents=True)
    program.symlink_to(Path(sys.executable).parent / "barrierspec")
    (made.temporary / name / "installed").touch()
    return made


def broken(folder):
    adapter = folder / "barrierspec_adapter.py"
    adapter.write_text(adapter.read_text().replace('self.abort(self.current, "SUBSUMED")', "self.release()"))


def test_a_correct_adapter_is_green(runner):
    assert runner.use(ACTION, **{"from": "here"}, command="smoke", adapter=ADAPTER) == 0, runner.printed
    assert runner.outputs["steps.run.outputs.verdict"] == "CONFORMS"
    assert "CONFORMS   11 checks" in runner.summary.read_text()


def test_a_broken_adapter_is_red_with_findings_summary_and_annotations(runner):
    broken(runner.folder)
    arguments = "--component gate --examples 1 --out 'my divergences'"
    code = runner.use(ACTION, **{"from": "here"}, adapter=ADAPTER, arguments=arguments)
    found = json.loads(Path(runner.outputs["steps.run.outputs.json"]).read_text())

    assert code == 1
    assert runner.outputs["steps.run.outputs.verdict"] == "DIVERGES"
    assert found["parts"][0]["findings"][0]["rule"] == "ALIGN-03"
    assert Path(runner.outputs["steps.run.outputs.sarif"]).exists()
    assert "::error file=barrierspec_adapter.py,line=1,title=gate" in runner.printed
    assert "DIVERGES  ALIGN-03" in runner.summary.read_text()
    assert [*(runner.folder / "my divergences").glob("*.json")]


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({"command": "prove"}, "::error::command: expected smoke"),
        ({"arguments": "--seed '1"}, "::error::arguments: expected"),
    ],
)
def test_inputs_that_cannot_be_used_are_red(runner, inputs, why):
    assert runner.use(ACTION, **{"from": "here"}, adapter=ADAPTER, **inputs) == 64
    assert why in runner.printed


def test_an_old_python_is_named(runner):
    old = runner.temporary / "old/python3"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho Python 3.9.2\nexit 1\n")
    old.chmod(0o755)
    runner.environment["PATH"] = f"{old.parent}:{runner.environment['PATH']}"

    assert runner.use(ACTION, adapter=ADAPTER) == 64
    assert (
        "expected Python 3.11 or newer as python3, got Python 3.9.2; run actions/setup-python"
        in runner.printed
    )


def test_hooks_install_the_program_that_they_start():
    assert [hook["language"] for hook in HOOKS] == ["python"] * 4
    assert [hook["entry"].split()[:2] for hook in HOOKS] == [
        ["barrierspec", name] for name in ("smoke", "conform", "matrix", "gate")
    ]
