"""The documentation site: a page for each rule and each command, and links for terms."""

import posixpath
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from blocks import ROOT
from mkdocs.exceptions import PluginError
from pygments.token import Comment, Error, Name, Operator

from conformance.cli import barrierspec
from conformance.diagram.component import of_component
from conformance.report.divergence.phrases import of_event
from conformance.site import command_pages, rule_pages, texts
from conformance.site.hooks import FROM_THE_ROOT, on_post_page
from conformance.site.links import anchor, deepened, linked
from conformance.site.scenes import scene_of, scenes
from conformance.site.tla_lexer import TlaLexer
from conformance.verdict import Exit
from spec.rules import load_rules

RULES = {rule.id: rule for rule in load_rules()}
IDS = frozenset(RULES)


@pytest.fixture(scope="module")
def pages():
    return dict(rule_pages.pages(ROOT))


def test_every_rule_has_a_page_that_states_it_twice(pages):
    for rule in RULES.values():
        page = pages[f"reference/rules/{rule.id}.md"]
        assert f"---\n\n# {rule.id}: {rule.title}\n" in page, rule.id
        assert rule.must in page
        assert re.search(rf"^{rule.definition()}\s*==", page, re.MULTILINE), rule.id
        assert "\ndef " in page or rule.kind == "temporal", rule.id
        assert all(f"`{mutant}`" in page for mutant in rule.mutants), rule.id
        assert f"[{rule.id}]({rule.id}.md)" in pages["reference/rules/index.md"]


def test_links_of_generated_and_written_pages_lead_to_pages(pages):
    stand = {path.relative_to(ROOT / "docs").as_posix(): path for path in (ROOT / "docs").rglob("*.md")}
    texts_of = {
        **pages,
        **dict(command_pages.pages()),
        **{name: path.read_text(encoding="utf-8") for name, path in stand.items()},
        **{name: (ROOT / own).read_text(encoding="utf-8") for name, own in FROM_THE_ROOT.items()},
    }
    titles = dict.fromkeys(texts_of, "a page")
    broken = [
        f"{own}: {link}"
        for own, text in texts_of.items()
        for link in re.findall(r"\]\(([^)#:\s]+\.md)", linked(text, own, titles, IDS))
        if posixpath.normpath(posixpath.join(posixpath.dirname(own), link)) not in texts_of
    ]

    assert not broken


def test_every_page_has_its_place_in_the_navigation():
    places = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    placed = set(re.findall(r"^ +- (?:[\w ]+: )?([\w/-]+\.md)(?:  #.*)?$", places, re.MULTILINE))
    stand = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    made = {path for path, _ in command_pages.pages()} | set(FROM_THE_ROOT) | {"reference/rules/index.md"}

    assert placed == stand | made


def test_a_rule_that_a_transcript_names_shows_one():
    named = {rule for scene in scenes(ROOT) for rule in scene.names}

    assert named
    assert all(rule in scene_of(rule, ROOT).names for rule in named)
    assert scene_of("LIVE-01", ROOT) is None


def test_the_texts_are_complete_definitions():
    rule = RULES["ALIGN-03"]
    (stated,) = texts.properties(rule)

    assert texts.operator(rule).file == "spec/gate/AlignedModel.tla"
    assert texts.operator(rule).text.startswith("ALIGN_03 == [][(EventIs(")
    assert texts.operator(rule).text.endswith("]_vars")
    assert stated.text.startswith('@GATE.step("ALIGN-03")\ndef align_03(')
    assert "on_barrier" in texts.model_steps(rule)[0].text
    assert "ALIGN-03" in texts.spec_steps(rule)[0].text
    with pytest.raises(texts.TextError, match="expected a definition of ALIGN_99 in AlignedModel"):
        texts.operator(rule._replace(operator="AlignedModel!ALIGN_99"))


def test_every_scene_is_drawn_with_each_of_its_steps(pages):
    for rule in load_rules():
        scene = scene_of(rule.id, ROOT)
        if scene is not None:
            text = pages[f"reference/rules/{rule.id}.md"]
            drawn = ElementTree.fromstring(re.search(r"<figure.*?</figure>", text)[0])
            time = drawn.find(".//svg[@class='time']")
            assert [one.get("data-step") for one in time.findall("g[@class='step']")] == [
                str(at + 1) for at in range(len(scene.steps))
            ]
            assert f"| {len(scene.steps)} | {of_event(scene.steps[-1].event)} | " in text


def test_a_gate_is_drawn_with_its_fronts_and_its_blocked_intervals():
    scene = next(one for one in scenes(ROOT) if one.file.endswith("gate/aligned/newer-barrier-subsumes.txt"))
    drawn = of_component("gate", scene.config, scene.steps, is_wrong=False)

    assert [front.checkpoint for front in drawn.fronts] == [2, 3]
    assert {(band.lane, band.begins, band.ends) for band in drawn.bands if band.look == "blocked"} == {
        ("channel 1", 1, 3), ("channel 0", 2, 3), ("channel 2", 3, 5), ("channel 0", 4, 5),
    }  # fmt: skip
    assert {(mark.look, mark.label) for mark in drawn.marks if mark.lane == "gate"} >= {
        ("trigger", "3"),
        ("abort", "2"),
    }


def test_tla_is_divided_into_tokens_without_an_error():
    for path in sorted((ROOT / "spec").rglob("*.tla")):
        kinds = {kind for kind, _ in TlaLexer().get_tokens(path.read_text(encoding="utf-8"))}
        assert Error not in kinds, path.name
    tokens = list(TlaLexer().get_tokens('Next(g) == \\E n \\in Ids : g = "a" \\* why'))
    assert (Name.Function, "Next") in tokens
    assert (Operator.Word, "\\E") in tokens
    assert (Comment.Single, "\\* why") in tokens


def test_the_navigation_has_every_rule_in_its_order():
    placed = [page for some in rule_pages.navigation().values() for page in some]

    assert placed == [f"reference/rules/{rule}.md" for rule in RULES]


def test_a_rule_page_is_read_from_the_sentence_to_the_mutants(pages):
    headings = re.findall(r"^## (.+)$", pages["reference/rules/ALIGN-03.md"], re.MULTILINE)

    assert headings == ["Example", "The property", "The protocol step", "Mutants", "In other generations"]


def test_a_rule_page_compares_its_example_with_the_other_generations(pages):
    for rule in load_rules():
        text = pages[f"reference/rules/{rule.id}.md"]
        scene = scene_of(rule.id, ROOT)
        differing = rule_pages.contrasts(scene) if scene else []
        assert all(f"| {one.profile} | " in text for one in differing)
        assert ("answers the example with the same effects" in text) == (scene is not None and not differing)


def test_every_command_and_every_exit_code_is_in_the_reference():
    commands, codes = command_pages.commands_page(), command_pages.codes_page()

    for name in barrierspec.list_commands(None):
        assert f"\n## barrierspec {name}\n" in commands
    assert "\n### barrierspec flink conform\n" in commands
    assert all(f"| {code.value} |" in codes for code in Exit)


def test_words_become_links_but_not_in_code():
    titles = {"vectors.md": "Test vectors"}
    text = "# ALIGN-03\n`docs/vectors.md`, ALIGN-03, `ALIGN-03`, `in ALIGN-03`, NO-03.\n\n"
    fenced = "```\nALIGN-03\n```\n"

    assert linked(f"{text}<!-- file: x -->\n{fenced}", "reference/page.md", titles, IDS) == (
        "# ALIGN-03\n[Test vectors](../vectors.md), [ALIGN-03](rules/ALIGN-03.md), "
        f"[`ALIGN-03`](rules/ALIGN-03.md), `in ALIGN-03`, NO-03.\n\n{fenced}"
    )
    assert linked("`docs/gone.md` `docs/no/`", "a.md", titles, frozenset()) == "[gone.md](gone.md) `docs/no/`"


def test_a_page_that_loads_from_another_site_is_refused():
    page = SimpleNamespace(file=SimpleNamespace(src_uri="here.md"))
    own = '<script src="assets/a.js"></script><a href="https://example.org">a link is no load</a>'

    assert on_post_page(own, page, None) == own
    with pytest.raises(PluginError, match=r"here\.md: expected nothing from elsewhere"):
        on_post_page('<link rel="stylesheet" href="https://example.org/font.css">', page, None)


def test_the_content_of_a_list_item_is_indented_by_four_columns():
    assert deepened("- one\n  more\n\n  ```\n  x\n  ```\n- two\n\ntext\n  far\n") == (
        "- one\n    more\n\n    ```\n    x\n    ```\n- two\n\ntext\n  far\n"
    )
    assert anchor("What a gate is told, and says") == "what-a-gate-is-told-and-says"
