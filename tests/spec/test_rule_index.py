"""The index of rules and the specification refer to each other consistently."""

import re
from functools import cache

import pytest

from spec.manifest import load_manifest
from spec.modules import definitions, module_text
from spec.rules import ANY, RuleIndexError, load_rules, parse_rules
from spec.vocabulary import types

RULES = load_rules()
OPTIONS = (
    ("mode", "gate_mode"),
    ("level", "level"),
    ("cleaning", "cleaning"),
    ("io_failures", "io_failures"),
)
PROFILES = (
    "gate_profile",
    "channel_profile",
    "coordinator_profile",
    "release",
    "sink_profile",
    "source_profile",
)
CAPABILITIES = {"capability": {"inject"}, "restored_savepoint": {ANY}}
ENTRY = '[[rule]]\nid = "ALIGN-01"\ntitle = "t"\nmust = "m"\nsource = "s"\nholds = "all"\n'


@cache
def defined(module: str) -> frozenset[str]:
    """The top-level definitions of a module of the specification."""
    return frozenset(definitions(module_text(module)))


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_a_rule_has_its_operator(rule):
    module, _, definition = rule.operator.partition("!")
    assert definition == rule.definition()
    assert definition in defined(module)


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_a_rule_is_checked_by_a_model_that_holds(rule):
    module = rule.operator.partition("!")[0]
    checking = [model for model in load_manifest().values() if rule.id in model.rules and not model.violates]
    assert module in {model.module for model in checking}
    assert all(rule.definition() in defined(model.module) for model in checking)


def test_no_definition_states_a_rule_that_the_index_does_not_have():
    modules = {model.module for model in load_manifest().values()}
    stated = {name for module in modules for name in defined(module)}
    stated = {name for name in stated if re.fullmatch(r"[A-Z]+_\d\d", name)}
    assert stated == {rule.definition() for rule in RULES}


def test_values_of_where_are_those_of_the_vocabulary():
    values = {option: set(types()[name].get("enum", ())) for option, name in OPTIONS}
    profiles = {one for name, schema in types().items() if name in PROFILES for one in schema["enum"]}
    allowed = values | {"profile": profiles, "checkpoints_after_tasks_finish": {True, False}} | CAPABILITIES

    for rule in RULES:
        for where in rule.where:
            for option, listed in where.items():
                assert set(listed) <= allowed[option], rule.id


@pytest.mark.parametrize(
    "text",
    [
        ENTRY + 'where = [{ colour = ["red"] }]\n',
        ENTRY + "where = [{ mode = [] }]\n",
        ENTRY + 'where = "exactly-once"\n',
        ENTRY.replace('must = "m"\n', ""),
        ENTRY.replace("ALIGN-01", "ALIGN-1"),
        ENTRY + ENTRY,
        ENTRY + "mutants = 3\n",
        ENTRY + 'kind = "often"\n',
        "[[rule",
    ],
    ids=[
        "where option",
        "where empty",
        "where text",
        "no must",
        "wrong id",
        "twice",
        "mutants",
        "kind",
        "no toml",
    ],
)
def test_a_malformed_index_is_refused(text):
    with pytest.raises(RuleIndexError, match="expected"):
        parse_rules(text)
