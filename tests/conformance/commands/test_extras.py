"""Without an extra, a command that needs it names the command that installs it."""

import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import barrierspec, run
from conformance.command_line import extras
from conformance.command_line.extras import EXTRAS, MissingPartError, message, missing_part, require_extra
from conformance.parts.verify import PARTS

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def distributions(requirements):
    return {requirement.split("=")[0].split("<")[0].split("[")[0] for requirement in requirements}


@pytest.fixture
def without(monkeypatch):
    """A function that hides modules, as if they were not installed."""

    def hide(*modules):
        found = extras.find_spec
        monkeypatch.setattr(extras, "find_spec", lambda name: None if name in modules else found(name))

    return hide


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_its_modules_and_nothing_else(extra):
    brought = packages_distributions()
    named = {distribution for module in EXTRAS[extra] for distribution in brought[module]}

    assert named == distributions(PROJECT["optional-dependencies"][extra])


def test_no_module_of_an_extra_comes_without_it():
    modules = {module for listed in EXTRAS.values() for module in listed}

    assert not modules & distributions(PROJECT["dependencies"])


def test_all_is_every_extra_of_users():
    (every,) = PROJECT["optional-dependencies"]["all"]

    others = set(PROJECT["optional-dependencies"]) - {"all", "dev"}
    assert set(every.removeprefix("barrierspec[").removesuffix("]").split(",")) == others


def test_an_import_that_fails_names_the_command_that_installs_it():
    missing = ModuleNotFoundError("No module named 'numba.core'", name="numba.core")
    wrapped = RuntimeError("a part failed")
    wrapped.__cause__ = missing

    assert missing_part(wrapped) == message("numba", "kernels")
    assert missing_part(ModuleNotFoundError("No module named 'colours'", name="colours")) is None
    assert missing_part(ValueError("anything")) is None


def test_a_command_on_spark_names_the_missing_extra_before_it_writes_anything(without, tmp_path, capsys):
    without("pyspark")
    assert run(["run", "--rows", "10", "--out", str(tmp_path / "run")]) == 64
    assert (
        "this needs pyspark, which is not installed; pip install 'barrierspec[spark]'"
        in capsys.readouterr().err
    )
    assert not (tmp_path / "run").exists()


def test_verify_needs_only_the_extras_of_the_chosen_parts(without):
    without("pyspark", "numba")
    chosen = [name for name, part in PARTS.items() if part.extra]
    assert chosen == ["exploration", "pipeline"]

    result = CliRunner().invoke(barrierspec, ["verify", "--only", "pipeline"], standalone_mode=False)
    assert isinstance(result.exception, MissingPartError)
    require_extra(*(part.extra for name, part in PARTS.items() if name == "proofs" and part.extra))
