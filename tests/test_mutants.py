"""Every mutant can be applied. One of each layer and component is killed here, by the rule that it names.

`make mutants` tries all of them.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from conformance.mutants.campaign import judge
from conformance.mutants.catalogue import load_catalogue
from conformance.mutants.source_edit import EditError, edited, install

PYTHON = [mutant for mutant in load_catalogue() if mutant.layer != "spec"]
RARE = ("impl-failures-any-success-clears", "impl-job-external-sources-are-not-triggered")
LARGE = (
    "model-coordinator-draws-two-ids",
    "model-coordinator-notifies-masters-twice",
    "model-coordinator-one-request-per-step",
)
"""Only the largest closed models can show them, and those take seconds."""
SAMPLE = {(one.layer, one.component): one for one in reversed(PYTHON) if one.id not in LARGE}.values()


@pytest.mark.parametrize("mutant", PYTHON, ids=lambda mutant: mutant.id)
def test_a_mutant_fits_its_source(mutant):
    source = Path(find_spec(mutant.module).origin).read_text(encoding="utf-8")
    assert edited(source, mutant.find, mutant.replace) != source


def test_every_name_in_a_replacement_is_defined(tmp_path):
    for mutant in PYTHON:
        source = Path(find_spec(mutant.module).origin).read_text(encoding="utf-8")
        text = edited(source, mutant.find, mutant.replace)
        (tmp_path / f"{mutant.id}.py").write_text(text, encoding="utf-8")
    options = ("check", "--isolated", "--no-cache", "--select", "F821")
    command = [sys.executable, "-m", "ruff", *options, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("mutant", SAMPLE, ids=lambda mutant: mutant.id)
def test_a_mutant_is_killed_by_its_rule(mutant):
    verdict = judge(mutant)

    assert verdict.outcome == "killed", verdict


@pytest.mark.parametrize("identity", RARE)
def test_mutants_that_few_seeds_detect_are_killed_without_a_seed(identity):
    shown = (
        "from conformance.mutants import fresh_process; fresh_process.CASES = 0; "
        f"print(fresh_process.main({identity!r})['rules'])"
    )
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    (mutant,) = (known for known in PYTHON if known.id == identity)

    assert mutant.rule in done.stdout


def test_the_catalogue_has_at_least_25_mutants_and_every_layer():
    layers = [mutant.layer for mutant in load_catalogue()]
    assert len(layers) >= 25
    assert set(layers) == {"spec", "model", "impl"}


def test_an_edit_must_fit_exactly_once():
    assert edited("a = 1\nb = 2\n", "a = 1", "a = 3") == "a = 3\nb = 2\n"
    with pytest.raises(EditError, match="found 2 times"):
        edited("a = 1\na = 1\n", "a = 1", "a = 3")
    with pytest.raises(EditError, match="found 0 times"):
        edited("b = 2\n", "a = 1", "a = 3")


def test_a_module_that_is_loaded_cannot_be_mutated():
    with pytest.raises(EditError, match="fresh process"):
        install("conformance.mutants.source_edit", "a", "b")
