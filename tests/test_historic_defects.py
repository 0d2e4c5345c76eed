"""Every historic defect is put back in all three layers under its rule, and the page says so."""

import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from conformance.mutants.catalogue import LAYERS, load_catalogue
from spec.manifest import load_manifest

PAGE = Path(__file__).parent.parent / "docs" / "learn" / "historic-defects.md"
DEFECTS = tomllib.loads(files("conformance.mutants").joinpath("historic.toml").read_text("utf-8"))["defect"]
MUTANTS = {mutant.id: mutant for mutant in load_catalogue()}
HEAD = (
    "# Historic defects\n\n"
    "Defects that Flink once had, in the coordinator, its store, its count of failures and the sink. Each is "
    "put back in the specification (a model that must fail), in the model and in the implementation, and "
    "`make mutants` sees it caught there by the rule that it names. The list is "
    "`conformance/mutants/historic.toml`.\n\n"
    "| defect | what went wrong | fixed | rule | model that fails | mutants of model and implementation |\n"
    "|---|---|---|---|---|---|\n"
)


def page():
    rows = [
        f"| {one['ticket']} | {one['wrong']} | {one['fixed']} | {one['rule']} "
        f"| `{MUTANTS[one['spec']].model}` | `{one['model']}`, `{one['impl']}` |"
        for one in DEFECTS
    ]
    return HEAD + "\n".join(rows) + "\n"


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda one: one["ticket"])
@pytest.mark.parametrize("layer", LAYERS)
def test_a_defect_is_put_back_in_every_layer_under_its_rule(defect, layer):
    mutant = MUTANTS[defect[layer]]
    assert mutant.layer == layer
    assert mutant.rule == defect["rule"]
    if layer == "spec":
        assert load_manifest()[mutant.model].violates == defect["rule"].replace("-", "_")


def test_every_mutant_that_names_a_ticket_of_the_list_is_of_one_of_its_rules():
    rules = {}
    for one in DEFECTS:
        rules.setdefault(one["ticket"].partition(",")[0], set()).add(one["rule"])
    for mutant in MUTANTS.values():
        for ticket, known in rules.items():
            if f"({ticket})" in mutant.story:
                assert mutant.rule in known, mutant.id


def test_the_page_shows_the_list(pytestconfig):
    if pytestconfig.getoption("--rewrite"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text("utf-8") == page()
