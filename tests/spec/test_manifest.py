"""The manifest: the fields that a model takes from its module and its base, and the file that TLC reads."""

import re

import pytest

from spec.configuration import Configuration
from spec.manifest import (
    BaseError,
    ManifestError,
    UndefinedNameError,
    generation_replaces,
    load_manifest,
    parse_manifest,
)
from spec.modules import names_of

MANIFEST = load_manifest()

STORE = """
[module.StoreModel]
invariants = ["TypeOK"]
properties = ["SUB_06", "SUB_07", "SUB_08"]

[model.store]
module = "StoreModel"
shows = "A store."
constants = { Retain = 1, M = 3 }
without = ["SUB_08"]
expect = { states = 10, depth = 3 }
"""


def broken(**fields: str) -> str:
    """The store, and a variant with these fields changed. An empty field is left out."""
    entry = {
        "base": '"store"',
        "shows": '"A broken store."',
        "replaces": '{ IsLast = "HighestIsLast" }',
        "expect": '{ violates = "SUB_06", states = 4, depth = 2 }',
    } | fields
    lines = "\n".join(f"{name} = {value}" for name, value in entry.items() if value)
    return f"{STORE}\n[model.variant]\n{lines}\n"


def test_every_form_of_statement_is_written():
    configuration = Configuration(
        specification="FairSpec",
        constants=(("N", 2), ("Polled", False), ("AfterFinish", True), ("Tasks", (0, 1)), ("Slow", ())),
        replaced=(("Start", "FromZero"),),
        invariants=("TypeOK",),
        properties=("ALIGN_01", "ALIGN_02"),
    )

    assert configuration.text("A gate.") == (
        "\\* A gate.\n"
        "SPECIFICATION FairSpec\n"
        "CONSTANTS\n"
        "    N = 2\n"
        "    Polled = FALSE\n"
        "    AfterFinish = TRUE\n"
        "    Tasks = {0, 1}\n"
        "    Slow = {}\n"
        "    Start <- FromZero\n"
        "INVARIANTS\n"
        "    TypeOK\n"
        "PROPERTIES\n"
        "    ALIGN_01\n"
        "    ALIGN_02\n"
    )


def test_missing_fields_of_a_configuration_are_not_written():
    assert Configuration("Spec").text() == "SPECIFICATION Spec\n"


def test_a_dump_is_made_without_the_properties():
    configuration = Configuration("Spec", (("N", 2),), (), ("TypeOK",), ("ALIGN_01",))

    assert configuration.unchecked().text() == "SPECIFICATION Spec\nCONSTANTS\n    N = 2\n"


def test_a_model_checks_what_its_module_lists_but_what_it_leaves_out():
    store = parse_manifest(STORE)["store"]

    assert store.configuration.checked == ("TypeOK", "SUB_06", "SUB_07")
    assert store.rules == ("SUB-06", "SUB-07")
    assert store.violates is None


def test_a_variant_differs_from_its_base_in_what_it_states():
    variant = parse_manifest(broken(constants="{ M = 4 }"))["variant"]

    assert variant.module == "StoreModel"
    assert variant.configuration == Configuration(
        "Spec",
        (("Retain", 1), ("M", 4)),
        (("IsLast", "HighestIsLast"),),
        ("TypeOK",),
        ("SUB_06", "SUB_07"),
    )
    assert variant.rules == ("SUB-06",)


def test_checks_stand_in_the_place_of_what_the_base_leaves_out():
    models = parse_manifest(broken(checks='["SUB_08", "TypeOK"]', expect="{ states = 1, depth = 1 }"))

    assert models["variant"].configuration.checked == ("TypeOK", "SUB_08")


def test_a_rule_that_a_module_gets_is_checked_by_every_model_that_does_not_choose():
    before = parse_manifest(broken())
    after = parse_manifest(broken().replace('"SUB_08"]\n\n[model', '"SUB_08", "SUB_09"]\n\n[model', 1))

    for name in ("store", "variant"):
        assert after[name].configuration.checked == (*before[name].configuration.checked, "SUB_09")


def test_a_rule_that_is_not_exercised_is_checked_and_does_not_count():
    store = parse_manifest(STORE + 'unexercised = ["SUB-07"]\n')["store"]

    assert "SUB_07" in store.configuration.properties
    assert store.rules == ("SUB-06",)


def test_files_are_one_manifest():
    module, _, model = STORE.partition("[model.store]")

    assert parse_manifest("[model.store]" + model, module) == parse_manifest(STORE)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("[[model", ManifestError, "expected TOML"),
        ("[[models]]\n", ManifestError, "got models"),
        (STORE.replace("depth = 3", "width = 3"), ManifestError, "model store, expect: .* got width"),
        (STORE.replace("shows", "tells"), ManifestError, "model store: .* got tells"),
        (STORE.replace("properties", "property"), ManifestError, "module StoreModel: .* got property"),
        (STORE.replace(", depth = 3", ""), ManifestError, "model store: .* 'depth'; add it"),
        (STORE.replace('module = "StoreModel"\n', ""), ManifestError, "model store: .* 'module'; add it"),
        (STORE.replace('= "StoreModel"', '= "AlignedModel"'), ManifestError, r"add a table \[module.Aligned"),
        (STORE.replace("M = 3", 'M = "Three"'), ManifestError, "'Three'; if it is a definition, put it"),
        (broken(checks='["TypeOK"]', without='["SUB_07"]'), ManifestError, "got both; remove one"),
        (broken(base='"stone"'), BaseError, "got 'stone'; correct the name or add that model"),
        (broken(base='"variant"'), BaseError, "got variant -> variant; give one of them a module"),
        (STORE.replace("StoreModel", "StoneModel"), UndefinedNameError, "got StoneModel; see spec/"),
        (STORE.replace("M = 3", "M = 3, Bound = 2"), UndefinedNameError, "got Bound; declare it in Store"),
        (STORE.replace(", M = 3", ""), UndefinedNameError, "got none for M; give it one under constants"),
        (broken(replaces='{ Last = "HighestIsLast" }'), UndefinedNameError, "got Last; define it in Store"),
        (broken(replaces='{ IsLast = "Lowest" }'), UndefinedNameError, "got Lowest; define it in StoreModel"),
        (STORE.replace("SUB_07", "Refined"), UndefinedNameError, "got Refined; define it in StoreModel"),
        (STORE.replace("[module.StoreModel]", '[module.StoreModel]\nspecification = "S"'), UndefinedNameError,
         "got S; define it"),
        (broken(checks='["SUB_10"]'), UndefinedNameError, "got SUB_10; add them to its invariants or prop"),
        (broken(without='["SUB_06"]'), UndefinedNameError, "got SUB_06; add it to checks"),
        (STORE + 'unexercised = ["SUB-08"]\n', UndefinedNameError, "got SUB-08; remove them or correct"),
    ],
)  # fmt: skip
def test_a_malformed_manifest_is_refused(text, error, message):
    with pytest.raises(error, match=message) as refused:
        parse_manifest(text)
    assert "expected" in str(refused.value)


def test_a_model_that_two_files_have_is_refused():
    with pytest.raises(ManifestError, match="got StoreModel twice; rename one"):
        parse_manifest(STORE, STORE)


@pytest.mark.parametrize("model", MANIFEST.values(), ids=MANIFEST.keys())
def test_a_configuration_names_what_its_module_has(model):
    names = names_of(model.module)
    text = model.configuration_text()
    sections = re.split(r"^(SPECIFICATION|CONSTANTS|INVARIANTS|PROPERTIES)\b", text, flags=re.MULTILINE)
    listed = {heading: body.split() for heading, body in zip(sections[1::2], sections[2::2], strict=True)}
    given = re.findall(r"^    (\w+) (=|<-) (.+)$", text, flags=re.MULTILINE)

    assert {*listed.pop("SPECIFICATION"), *listed.get("INVARIANTS", ()), *listed.get("PROPERTIES", ())} <= (
        names.definitions
    )
    assert {name for name, sign, _ in given if sign == "="} <= names.constants
    assert {other for _, sign, other in given if sign == "<-"} <= names.definitions
    assert {name for name, _, _ in given} >= names.constants


@pytest.mark.parametrize("model", MANIFEST.values(), ids=MANIFEST.keys())
def test_a_model_that_must_fail_replaces_something(model):
    replaced = {name for name, _ in model.configuration.replaced} - {"Start"}

    assert model.violates is None or replaced


def test_every_module_of_the_manifest_is_one_of_models():
    modules = {model.module for model in MANIFEST.values()}

    assert all(names_of(module).definitions for module in modules)
    assert not names_of("Order").constants


GENERATIONS = """
[generation.Coordinator_1_14]
replaces = { IsLast = "HighestIsLast", Unknown = "HighestIsLast", IsDeleted = "NoSuchDefinition" }

[generation.Coordinator_1_9]
base = "Coordinator_1_14"
replaces = { IsDeleted = "DeletesEverything" }
"""


@pytest.mark.parametrize(
    ("replaces", "older"),
    [
        ('{ CoordinatorSwitches = "Coordinator_1_14" }', {"IsLast": "HighestIsLast"}),
        (
            '{ CoordinatorSwitches = "Coordinator_1_9" }',
            {"IsLast": "HighestIsLast", "IsDeleted": "DeletesEverything"},
        ),
        (
            '{ CoordinatorSwitches = "Coordinator_1_9", IsLast = "IsDeleted" }',
            {"IsDeleted": "DeletesEverything"},
        ),
        ('{ IsLast = "HighestIsLast" }', {}),
    ],
    ids=["its own", "of its base too", "the model's own win", "none"],
)
def test_a_model_that_names_a_generation_has_its_definitions(replaces, older):
    model = parse_manifest(broken(replaces=replaces) + GENERATIONS)["variant"]
    own = dict(re.findall(r'(\w+) = "(\w+)"', replaces))

    assert dict(model.configuration.replaced) == {**older, **own}


def test_a_generation_has_no_other_fields():
    with pytest.raises(
        ManifestError, match="generation Old: expected fields among base, replaces, got shows"
    ):
        parse_manifest('[generation.Old]\nshows = "Nothing."')


def test_a_replay_has_the_definitions_of_its_generation():
    assert generation_replaces("Flink_1_9", "AlignedModel")["Late"] == "SendersContinue"
    assert "Late" not in generation_replaces("Flink_1_9", "FirstDecidesModel")
    assert generation_replaces("Flink_1_14", "AlignedModel") == {}


def test_a_model_states_where_it_may_stop_or_checks_deadlock():
    models = load_manifest()
    ends = {
        name: model for name, model in models.items() if "StuckOnlyAtTheEnd" in model.configuration.invariants
    }

    assert len(ends) > 30
    assert all(model.may_stop and model.violates is None for model in ends.values())
    assert not models["coordinator"].may_stop
    assert not models["broken_coordinator_no_limit"].may_stop
    assert models["broken_fair_any_item"].violates == "Deadlock"


def test_a_model_that_may_stop_cannot_expect_a_deadlock():
    stops = broken(expect='{ violates = "Deadlock", states = 4, depth = 2 }')

    assert parse_manifest(stops)["variant"].rules == ()
    with pytest.raises(UndefinedNameError, match="got Deadlock"):
        parse_manifest(stops.replace("[module.StoreModel]", '[module.StoreModel]\nterminates = "TypeOK"'))
