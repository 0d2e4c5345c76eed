"""The files of `init` and the action in a user's repository that has only the wheel."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from conformance.skeletons import skeleton, write_skeleton
from tests.github_steps import Runner

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
ADAPTER = "python3 barrierspec_adapter.py"

pytestmark = pytest.mark.wheel


@pytest.fixture(scope="module")
def runner_files(tmp_path_factory):
    """Files of the runner, kept for all tests of the module: the action installs the wheel once."""
    return tmp_path_factory.mktemp("runner")


@pytest.fixture
def runner(wheel, tmp_path, runner_files):
    """A git repository with the files that `init` writes, and the wheel beside it."""
    folder = tmp_path / "repository"
    write_skeleton(skeleton("python", str(wheel)), folder, keep=False)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "them.toml").write_text(f"[[implementation]]\nname = 'mine'\nadapter = '{ADAPTER}'\n")
    constraint = str(ROOT / ".ci/constraints.txt")
    return Runner(folder, runner_files, GITHUB_ACTION_PATH="/no/such/action", PIP_CONSTRAINT=constraint)


def broken(folder):
    adapter = folder / "barrierspec_adapter.py"
    adapter.write_text(adapter.read_text().replace('self.abort(self.current, "SUBSUMED")', "self.release()"))


@pytest.mark.parametrize(
    ("command", "inputs"),
    [
        ("smoke", {"adapter": ADAPTER}),
        ("conform", {"adapter": ADAPTER, "arguments": "--examples 5"}),
        ("conform", {"adapter": "barrierspec_adapter:components", "arguments": "--examples 5"}),
        ("matrix", {"arguments": "them.toml --examples 2"}),
        ("diff", {"arguments": f"--adapter 'python3 old.py' --adapter '{ADAPTER}' --examples 2"}),
    ],
)
def test_the_action_is_green_and_red(runner, wheel, command, inputs):
    given = {"from": str(wheel), "command": command, **inputs}
    shutil.copy(runner.folder / "barrierspec_adapter.py", runner.folder / "old.py")
    assert runner.use(ACTION, **given) == 0, runner.printed
    broken(runner.folder)
    again = Runner(runner.folder, runner.temporary, **runner.environment)

    assert again.use(ACTION, **given) == 1, again.printed
    assert again.outputs["steps.run.outputs.verdict"] == "DIVERGES"
    assert "ALIGN-03" in again.summary.read_text() or command == "smoke"


def test_the_workflow_of_init_is_green_and_red(runner, wheel, tmp_path):
    subprocess.run(["python3", "-m", "venv", str(tmp_path / "python")], check=True)
    runner.environment["PATH"] = f"{tmp_path / 'python/bin'}:{runner.environment['PATH']}"
    workflow = (runner.folder / ".github/workflows/barrierspec.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(workflow)["jobs"]["conform"]["steps"]
    assert runner.run(steps) == 0, runner.printed
    assert "CONFORMS   within this bound: gate" in runner.printed

    broken(runner.folder)
    again = Runner(runner.folder, runner.temporary, **runner.environment)
    assert again.run(steps) == 1
    assert "::error file=barrierspec_adapter.py,line=1,title=gate" in again.printed
