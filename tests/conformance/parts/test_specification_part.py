"""The part `specification` runs TLC on the models of the manifest, the slow ones only if thorough."""

from pathlib import Path

import pytest

from conformance.parts import specification
from conformance.parts.result import Context
from conformance.parts.verify import command_line
from spec.manifest import Model, load_manifest
from spec.tlc import Result

MODELS = load_manifest()


@pytest.fixture
def asked(monkeypatch):
    """The names of the models that the part checks. TLC is replaced, and finds what the manifest states."""
    names: list[str] = []

    def found(model: Model, dump: Path | None = None) -> Result:
        names.append(model.name)
        return Result(model, model.states, model.depth, 0.0, model.violates, ())

    monkeypatch.setattr(specification, "check", found)
    return names


@pytest.mark.parametrize("thorough", [False, True])
def test_models_that_take_minutes_wait_for_a_thorough_verification(asked, tmp_path, thorough):
    specification.run(Context(1, tmp_path, thorough=thorough))

    long = {model.name for model in MODELS.values() if model.thorough}
    assert long
    assert (long & set(asked)) == (long if thorough else set())
    assert {model.name for model in MODELS.values() if model.lesson} <= set(asked)
    again = command_line(["specification"], 1, quick=False, thorough=thorough)
    assert ("--thorough" in again) == thorough


def test_every_rule_is_checked_without_thorough_models():
    """A model that is not thorough checks each rule."""
    shortly = {
        rule for model in MODELS.values() if not (model.violates or model.thorough) for rule in model.rules
    }
    assert shortly == {rule for model in MODELS.values() for rule in model.rules}
