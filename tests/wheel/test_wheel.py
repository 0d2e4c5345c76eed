"""The wheel in an empty environment, beside a user's own `model/`, `spec.py` and `impl/`.

`make wheel` runs it. It downloads some hundred megabytes. The user's engine is that of the tutorial in two
files: the gate is in `model/`, and the adapter imports it from there.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conformance.adapters.flink.releases import newest

ROOT = Path(__file__).parents[2]
HOUSES = ("spec", "model", "impl", "conformance")
MAINTAINED = tuple(f"conformance/{name}/" for name in ("bench", "pictures", "playground", "site"))
ADAPTER = "python my_gate.py"
STREAMING = "structured-streaming"
BUG = "    def cancel(self, channel, checkpoint):\n"
MENDED = f"{BUG}        if self.is_late(checkpoint):\n            return []\n"

pytestmark = pytest.mark.wheel


@pytest.fixture(scope="module")
def environment(wheel, quietly, tmp_path_factory):
    """The folder of programs of an environment with the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("environment")
    quietly(sys.executable, "-m", "venv", folder)
    quietly(folder / "bin/pip", "install", "--constraint", ROOT / ".ci/constraints.txt", f"{wheel}[all]")
    return folder / "bin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A user's project, in which some folders have our names."""
    page = (ROOT / "docs/verify/verify-your-implementation.md").read_text(encoding="utf-8")
    (engine,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert engine.count(BUG) == 1
    gate, hello, loop = engine.replace(BUG, MENDED).partition("HELLO =")
    folder = tmp_path_factory.mktemp("project")
    (folder / "model").mkdir()
    (folder / "model/__init__.py").write_text(gate, encoding="utf-8")
    (folder / "impl").mkdir()
    (folder / "impl/__init__.py").write_text('"""The reader\'s own."""\n', encoding="utf-8")
    (folder / "spec.py").write_text('NAME = "the reader\'s own"\n', encoding="utf-8")
    imports = "import json\nimport sys\n\nimport impl\nimport spec\nfrom model import Gate\n\n"
    (folder / "my_gate.py").write_text(f"{imports}assert spec.NAME and impl\n{hello}{loop}", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def give(environment, folder):
    """Runs a command in the user's folder, which must end as expected. Returns its output."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    own["PATH"] = f"{environment}{os.pathsep}{own['PATH']}"

    def command(*words, ends_with=0, program="barrierspec", where=folder, stream="stdout"):
        done = subprocess.run(
            [program, *map(str, words)], cwd=where, env=own, capture_output=True, text=True, check=False
        )
        assert done.returncode == ends_with, done.stdout + done.stderr
        return getattr(done, stream)

    return command


def test_the_wheel_holds_the_four_packages_without_files_for_a_checkout(wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = (path for house in HOUSES for path in (ROOT / house).rglob("*") if path.is_file())
    names = {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"}

    assert held == {name for name in names if not name.startswith(MAINTAINED)}


@pytest.mark.parametrize("command", ["bench", "pictures"])
def test_a_command_that_needs_a_checkout_states_how_to_get_one(give, command):
    assert "clone the repository and run `make setup`" in give(command, ends_with=64, stream="stderr")


def test_a_run_is_plotted(give, folder):
    give("run", "--rows", "20000", "--out", "plotted")
    assert "run.svg: 3 checkpoints" in give("checkpoints", "plotted", "--plot", "run.svg")
    assert "<svg" in (folder / "run.svg").read_text(encoding="utf-8")


def test_the_machine_is_checked(give):
    assert "ok  Spark" in give("doctor")


def test_an_adapter_of_the_folder_conforms(give):
    assert "CONFORMS   11 checks" in give("smoke", "--adapter", ADAPTER)
    assert "15 of 15 rules" in give("conform", "--adapter", ADAPTER, "--examples", "20")
    assert "CONFORMS" in give(
        "conform", "--adapter", "barrierspec serve impl", "--component", "sink", "--no-suites"
    )


def test_a_divergence_is_reported_in_every_format_and_played_again_in_three_ways(
    give, folder, environment, quietly
):
    broken = f"{sys.executable} {ROOT / 'tests/adapters/gate_forgets_subsumption.py'}"
    files = [word for kind in ("json", "junit", "sarif", "html") for word in (f"--{kind}", f"told.{kind}")]
    output = give("conform", "--adapter", broken, *files, ends_with=1)
    name = re.search(r"build/divergences/(\w+)\.json", output)[1]
    found = folder / "build/divergences"

    assert "DIVERGES  ALIGN-03" in output
    assert json.loads((folder / "told.json").read_text())["verdict"] == "DIVERGES"
    assert all((folder / f"told.{kind}").stat().st_size for kind in ("junit", "sarif", "html"))
    again = give("conform", "--adapter", broken, "--replay", found / f"{name}.json", ends_with=1)
    assert "The actions of the model for" in again
    module = found / f"{name}/Divergence_{name}.tla"
    assert "DIVERGES  ALIGN-03" in give("conform", "--replay", module, ends_with=1)
    assert json.loads((found / f"{name}/{name}.itf.json").read_text())["states"]
    quietly(environment / "pip", "install", "--constraint", ROOT / ".ci/constraints.txt", "pytest")
    assert "1 failed" in give("-m", "pytest", found / f"test_{name}.py", program="python", ends_with=1)


def test_divergences_in_the_written_list_do_not_fail_the_next_run(give):
    broken = f"{sys.executable} {ROOT / 'tests/adapters/gate_unblocks_on_late_barrier.py'}"
    command = ("conform", "--adapter", broken, "--known-divergences", "known.json")
    give(*command, "--fix")

    assert "1 listed, met " in give(*command)


def test_several_implementations_are_put_into_one_table(give, folder):
    listed = [f"[[implementation]]\nname = '{name}'\nadapter = '{ADAPTER}'\n" for name in ("one", "other")]
    listed += [f"[[implementation]]\nname = 'Flink'\nrelease = '{newest().version}'\n"]
    listed += [f"[[pipeline]]\nname = '{runs}'\nruns = '{runs}'\n" for runs in ("runtime", STREAMING)]
    (folder / "them.toml").write_text("".join(listed), encoding="utf-8")

    assert "CONFORMS   3 implementations, 2 whole jobs" in give("matrix", "them.toml", "--examples", "2")


def test_a_guarantee_is_classified(give):
    assert "exactly-once is not refuted" in give("classify", "--adapter", "barrierspec serve impl")
    tracked = give(
        "classify", "--adapter", "impl", "--mode", "at-least-once", "--keeps", "exactly-once", ends_with=1
    )
    assert "state counts a record twice" in tracked


def test_a_change_is_gated_in_a_checkout(give, tmp_path, quietly):
    for house in HOUSES:
        shutil.copytree(ROOT / house, tmp_path / house, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "as it was"]):
        quietly("git", "-C", tmp_path, *who, *words)
    options = ("--base", "HEAD", "--component", "offsets")

    assert "are the same as in HEAD" in give("gate", *options, where=tmp_path)
    changed = tmp_path / "model/offsets/offsets.py"
    changed.write_text(changed.read_text("utf-8").replace("(Ignored(checkpoint),)", "()"), "utf-8")
    assert "this change is not declared" in give("gate", *options, where=tmp_path, ends_with=1)
    assert "notify complete" in give("diff", "HEAD", "--component", "offsets", where=tmp_path, ends_with=1)


def test_a_log_of_flink_is_read(give):
    log = ROOT / "tests/observe/logs/flink-2.2.1-fail.log.gz"

    assert "18 of 18 situations witnessed" in give("trace", "flink", log, "--html", "trace.html")


def test_data_files_are_included(give):
    names = give("schema").split()

    assert {"gate", "findings", "sarif"} <= set(names)
    assert all('"$schema"' in give("schema", name) for name in names)
    assert "spec/store/Store.tla" in give("explain", "SUB-08")


def test_vectors_are_written_and_played(give):
    give("vectors", "write", "vectors", "--component", "gate", "--walks", "5", "--no-paths", "--itf")

    assert "0 of 1,6" in give("vectors", "verify", "vectors", "--adapter", ADAPTER)
    assert " 0 skipped" in give("vectors", "verify", "vectors")


@pytest.mark.parametrize("part", ["specification", "triangle", "exploration", "proofs", "lock-step"])
def test_a_part_of_the_verification_runs(give, part):
    assert f"this is about {part} only" in give("verify", "--quick", "--only", part)


def test_mutants_are_killed(give):
    assert "survived" not in give("mutants", "--rule", "ALIGN-04")


def test_generations_are_compared(give):
    output = give("diff", "flink-1.12", "flink-1.13", "--component", "gate", ends_with=1)

    assert "incompatible" in output


@pytest.mark.parametrize("extra", [[], ["--supervise"]], ids=["beside", "in a process of its own"])
def test_a_job_runs_and_its_trace_does_not_diverge(give, extra, folder):
    out = f"flights{len(extra)}"

    assert "exact: 20000 updates" in give("run", "--rows", "20000", "--out", out, *extra)
    assert "a run that resumes" in give("checkpoints", f"{out}/checkpoints")
    output = give("trace", f"{out}/events", ends_with=2)  # a run without a failure has no restore
    assert "UNDETERMINED" in output
    assert "0 cuts" not in output
