"""The wheel, built once for all tests that install it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOUSES = ("spec", "model", "impl", "conformance")
PROJECT = ("pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="session")
def quietly():
    """Runs a command that has to succeed. Returns its output."""

    def command(*words, **options):
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return command


@pytest.fixture(scope="session")
def wheel(quietly, tmp_path_factory):
    """Builds the wheel from a copy, so that files of an earlier build are not included."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for house in HOUSES:
        shutil.copytree(ROOT / house, source / house, ignore=shutil.ignore_patterns("__pycache__"))
    for name in PROJECT:
        shutil.copy(ROOT / name, source)
    quietly(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", made, source)
    (built,) = made.glob("*.whl")
    return built
