"""The facts of a machine and a checkout that a report states."""

import shutil
import subprocess

import pytest

from conformance import machine
from conformance.version import own_version


@pytest.fixture
def checkout(tmp_path):
    """A checkout with one commit."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    (tmp_path / "inside").mkdir()
    (tmp_path / "file").write_text("one")
    for words in (("init", "-q"), ("add", "file"), (*who, "commit", "-q", "-m", "one")):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    return tmp_path


def test_a_checkout_is_named_by_its_commit(checkout):
    requested = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True
    )

    clean = machine.source(checkout)
    (checkout / "file").write_text("two")

    assert len(clean) >= 7
    assert requested.stdout.startswith(clean)
    assert machine.source(checkout) == f"{clean}+changes"


def test_a_folder_inside_another_checkout_is_named_by_its_version(checkout):
    assert machine.source(checkout / "inside") == own_version()


def test_the_facts_are_cores_python_and_java():
    here = machine.machine()

    assert here.cores == machine.cores() >= 1
    assert here.describe().startswith(f"{here.cores} cores, Python {here.python}, Java ")
