"""The wheel without extras: small, and enough to check an implementation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONSTRAINTS = Path(__file__).parents[2] / ".ci/constraints.txt"
ADAPTER = "barrierspec serve impl"
LIMIT_MB = 150
TOOLS = ("pip", "setuptools", "_distutils_hack", "pkg_resources")
"""What Python itself puts into a new environment."""

pytestmark = pytest.mark.wheel


@pytest.fixture(scope="module")
def environment(wheel, quietly, tmp_path_factory):
    """An environment with the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("light")
    quietly(sys.executable, "-m", "venv", folder)
    quietly(folder / "bin/pip", "install", "--no-compile", "--constraint", CONSTRAINTS, wheel)
    return folder


@pytest.fixture(scope="module")
def give(environment, tmp_path_factory):
    """Runs a command of this environment. Returns its exit code and its output."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    own["PATH"] = f"{environment / 'bin'}{os.pathsep}{own['PATH']}"
    where = tmp_path_factory.mktemp("project")

    def command(*words):
        done = subprocess.run(
            ["barrierspec", *words], cwd=where, env=own, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return command


def test_it_takes_less_than_150_mb(environment):
    (packages,) = environment.glob("lib/python*/site-packages")
    files = (path for path in packages.rglob("*") if path.is_file())
    counted = [path for path in files if not path.relative_to(packages).parts[0].startswith(TOOLS)]
    size = sum(path.stat().st_size for path in counted) / 1e6

    assert 0 < size < LIMIT_MB, f"{size:.0f} MB in {len(counted)} files"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("smoke", "--adapter", ADAPTER), "CONFORMS"),
        (("init", "mine", "--language", "java"), "java BarrierspecAdapter.java"),
        (("conform", "--adapter", ADAPTER, "--component", "offsets"), "CONFORMS"),
        (("classify", "--adapter", ADAPTER), "exactly-once is not refuted"),
        (("vectors", "write", "vectors", "--component", "offsets", "--walks", "5"), "vectors"),
        (("vectors", "verify", "vectors"), "CONFORMS"),
        (("explain", "SUB-08"), "spec/store/Store.tla"),
        (("schema", "gate"), "$schema"),
        (("verify", "--quick", "--only", "proofs"), "CONFORMS"),
        (("doctor",), "barrierspec[spark]"),
    ],
    ids=lambda words: " ".join(words[:2]) if isinstance(words, tuple) else "",
)
def test_it_is_enough_to_check_an_implementation(give, words, expected):
    code, printed = give(*words)

    assert code == 0, printed
    assert expected in printed


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("run", "--rows", "100"), "spark"),
        (("torture", "--faults", "1"), "spark"),
        (("checkpoints", "."), "spark"),
        (("explore", "gate"), "kernels"),
        (("verify", "--quick", "--only", "pipeline"), "spark"),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_a_command_that_needs_more_names_the_extra(give, words, extra):
    code, printed = give(*words)

    assert code == 64, printed
    assert f"pip install 'barrierspec[{extra}]'" in printed
