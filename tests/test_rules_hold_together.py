"""Every rule is defined and used: the index, the specification, the model and the mutants agree."""

import re
import tomllib
from collections import Counter
from functools import cache
from importlib import resources
from itertools import chain
from pathlib import Path

import pytest

from conformance.mutants.catalogue import load_catalogue
from conformance.observe.flink import grammar
from conformance.observe.guarantees.anomalies import Anomaly
from conformance.observe.replay import CHARGED
from conformance.rules.coverage import rules_that_fire
from conformance.rules.protocol_modules import components
from model.properties import PROPERTIES
from spec.manifest import load_manifest
from spec.modules import definitions, module_text
from spec.rules import ID, KINDS, load_rules
from spec.vocabulary import vocabulary

ROOT = Path(__file__).parent.parent
RULES = load_rules()
AT_LAST = [rule for rule in RULES if rule.kind == "temporal"]
"""What comes true at last, which only TLC checks: no property of a state or a step can state it."""
CITATION = re.compile(rf"\b{ID.pattern}\b")
NO_RULE = "ALIGN-99"
"""What tests ask for that has to be unknown."""


@cache
def fired() -> frozenset[str]:
    """The rules that steps of the model name in their results."""
    return frozenset(chain.from_iterable(map(rules_that_fire, components())))


@cache
def cited(*patterns: str) -> Counter[str]:
    """How often each ID occurs in the files of these patterns; in TLA+ with an underscore."""
    found: Counter[str] = Counter()
    for pattern in patterns:
        for path in ROOT.glob(pattern):
            text = path.read_text(encoding="utf-8")
            found.update(CITATION.findall(re.sub(r"\b([A-Z]+)_(\d\d)\b", r"\1-\2", text)))
    return found


@cache
def defined(module: str) -> frozenset[str]:
    """The top-level definitions of a module of the specification."""
    return frozenset(definitions(module_text(module)))


def test_every_citation_is_of_a_rule():
    everywhere = cited(
        "spec/**/*.tla", "spec/manifests/*.toml", "model/**/*.py", "impl/**/*.py", "conformance/**/*.py",
        "conformance/**/*.toml", "tests/**/*.py", "tests/**/*.txt", "docs/**/*.md", "*.md",
    )  # fmt: skip

    assert everywhere
    assert set(everywhere) - {NO_RULE} <= {rule.id for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_stands_in_specification_model_and_catalogue(rule):
    module, _, definition = rule.operator.partition("!")
    assert definition in defined(module), f"{rule.operator} is not defined"

    if rule not in AT_LAST:
        assert rule.property in {known.name for known in PROPERTIES if known.rule == rule.id}
    broken = {mutant.id for mutant in load_catalogue() if mutant.rule == rule.id}
    assert rule.mutants
    assert set(rule.mutants) == broken


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_states_what_must_be_in_its_first_sentence(rule):
    assert "MUST" in re.split(r"\.\s", rule.must)[0]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_is_checked_by_a_model_that_must_hold(rule):
    assert [model.name for model in load_manifest().values() if rule.id in model.rules and not model.violates]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_step_of_the_model_names_each_rule_but_invariants_and_temporal_ones(rule):
    assert (rule.id in fired()) == (rule.kind == "step")


@pytest.mark.parametrize("component", CHARGED["effects"])
def test_the_rules_that_a_rejected_log_is_charged_to_are_of_the_index(component):
    effects = CHARGED["effects"][component]

    assert set(effects) <= {effect.kind for effect in vocabulary()[component].effects}
    assert {CHARGED["refusals"][component], *effects.values()} <= {rule.id for rule in RULES}


def test_the_lines_of_flink_that_are_due_are_lines_of_the_grammar():
    lines = {value for name, value in vars(grammar).items() if name.isupper() and isinstance(value, str)}

    assert set(CHARGED["due"]) <= lines
    assert set(CHARGED["due"].values()) <= {rule.id for rule in RULES}


def test_each_anomaly_of_the_file_is_classified():
    file = resources.files("conformance.observe.guarantees").joinpath("anomalies.toml")

    assert list(tomllib.loads(file.read_text(encoding="utf-8"))) == [one.name for one in Anomaly]


@pytest.mark.parametrize("rule", AT_LAST, ids=lambda rule: rule.id)
def test_rules_that_only_tlc_checks_are_temporal(rule):
    module, _, definition = rule.operator.partition("!")
    stated = module_text(module).partition(f"\n{definition} ==")[2].partition("\n\n")[0]

    assert not rule.property
    assert "~>" in stated or "<>" in stated


def test_properties_and_mutants_are_of_rules():
    known = {rule.id for rule in RULES}

    assert {rule.kind for rule in RULES} == set(KINDS)
    assert {found.rule for found in PROPERTIES} == known - {rule.id for rule in AT_LAST}
    assert {mutant.rule for mutant in load_catalogue()} == known


def test_the_catalogue_holds_every_model_that_must_fail_on_a_rule():
    broken = {
        model.name
        for model in load_manifest().values()
        if model.violates is not None and CITATION.fullmatch(model.violates.replace("_", "-"))
    }

    assert {mutant.model for mutant in load_catalogue() if mutant.layer == "spec"} == broken
