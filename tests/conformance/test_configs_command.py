"""`barrierspec configs` writes the configuration files (.cfg) that TLC needs with the modules."""

import pytest

from conformance import cli
from conformance.verdict import Exit
from spec.manifest import load_manifest

MODELS = load_manifest()


def test_every_configuration_is_written(tmp_path):
    assert cli.run(["configs", "--out", str(tmp_path / "new")]) == Exit.CONFORMS

    written = {path.name: path.read_text("utf-8") for path in (tmp_path / "new").iterdir()}
    assert written == {f"{name}.cfg": model.configuration_text() for name, model in MODELS.items()}


def test_only_those_that_are_named_are_written(tmp_path, capsys):
    assert cli.run(["configs", "--out", str(tmp_path), "sink"]) == Exit.CONFORMS

    assert [path.name for path in tmp_path.iterdir()] == ["sink.cfg"]
    assert "SinkModel.tla" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["kitchen"], ["sink", "kitchen"]])
def test_an_unknown_model_is_refused_before_anything_is_written(arguments, tmp_path, capsys):
    assert cli.run(["configs", "--out", str(tmp_path / "new"), *arguments]) == Exit.USAGE

    assert "got kitchen; leave the names out" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
