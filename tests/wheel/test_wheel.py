"""The wheel in an empty environment, beside a `model/`, a `spec.py` and an `impl/` of the reader's own.

`make wheel` runs it: it downloads some hundred megabytes. The reader's engine is the one of the tutorial,
taken apart as a reader might: the gate stands in `model/`, the adapter imports it from there.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOUSES = ("spec", "model", "impl", "conformance")
PROJECT = ("pyproject.toml", "README.md", "LICENSE")
ADAPTER = "python my_gate.py"
BUG = "    def cancel(self, channel, checkpoint):\n"
MENDED = f"{BUG}        if self.is_late(checkpoint):\n            return []\n"

pytestmark = pytest.mark.wheel


def quietly(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built out of a copy, so that nothing that an earlier build has left comes along."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for house in HOUSES:
        shutil.copytree(ROOT / house, source / house, ignore=shutil.ignore_patterns("__pycache__"))
    for name in PROJECT:
        shutil.copy(ROOT / name, source)
    quietly(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", made, source)
    (built,) = made.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """The folder of programs of an environment that holds the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("environment")
    quietly(sys.executable, "-m", "venv", folder)
    quietly(folder / "bin/pip", "install", "--constraint", ROOT / ".ci/constraints.txt", wheel)
    return folder / "bin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A reader's own project, with our names in it."""
    page = (ROOT / "docs/verify-your-implementation.md").read_text(encoding="utf-8")
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
    """Give a command in the reader's folder and see it end as expected; what it prints."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    own["PATH"] = f"{environment}{os.pathsep}{own['PATH']}"

    def command(*words, ends_with=0):
        done = subprocess.run(
            ["barrierspec", *words], cwd=folder, env=own, capture_output=True, text=True, check=False
        )
        assert done.returncode == ends_with, done.stdout + done.stderr
        return done.stdout

    return command


def test_it_holds_the_four_houses_and_nothing_else(wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = (path for house in HOUSES for path in (ROOT / house).rglob("*") if path.is_file())

    assert held == {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"}


def test_the_machine_is_checked(give):
    assert "ok  Spark" in give("doctor")


def test_an_adapter_of_the_folder_conforms(give):
    assert "CONFORMS   11 checks" in give("smoke", "--adapter", ADAPTER)
    assert "15 of 15 rules" in give("conform", "--adapter", ADAPTER, "--examples", "20")
    assert "CONFORMS" in give("conform", "--adapter", "barrierspec serve impl", "--component", "sink")


def test_several_are_put_into_one_table(give, folder):
    listed = (f"[[implementation]]\nname = '{name}'\nadapter = '{ADAPTER}'\n" for name in ("one", "other"))
    (folder / "them.toml").write_text("".join(listed), encoding="utf-8")

    assert "CONFORMS   2 implementations" in give("matrix", "them.toml", "--examples", "2")


def test_what_is_read_as_data_is_there(give):
    assert '"$schema"' in give("schema", "gate")
    assert "spec/CheckpointStore.tla" in give("explain", "SUB-08")


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
    told = give("diff", "flink-1.12", "flink-1.13", "--component", "gate", ends_with=1)

    assert "incompatible" in told


@pytest.mark.parametrize("extra", [[], ["--supervise"]], ids=["beside", "in a process of its own"])
def test_a_job_runs_and_its_trace_is_one_of_the_protocol(give, extra, folder):
    out = f"flights{len(extra)}"

    assert "exact: 20000 updates" in give("run", "--rows", "20000", "--out", out, *extra)
    assert "a run that resumes" in give("checkpoints", f"{out}/checkpoints")
    told = give("trace", f"{out}/events", ends_with=2)  # a run without a failure has no restore
    assert "UNDETERMINED" in told
    assert "0 cuts" not in told
