"""The playground: its graphs are those of the model, and a browser can play its page."""

from functools import cache
from pathlib import Path

import pytest

from conformance.playground import page as made
from conformance.playground.page import Graph, graph_of
from conformance.playground.subjects import subjects
from model.checker.explore import TooManyStatesError, explore
from tests.browser import in_browser, opened

COMPLETION = ["block 1", "trigger 1", "resume 0", "resume 1"]
NAMES = [one.name for one in subjects()]


def subject(name):
    return next(one for one in subjects() if one.name == name)


@cache
def graph(name) -> Graph:
    return graph_of(subject(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_graph_is_that_of_the_explorer(name):
    explored = explore(subject(name).closed)

    assert len(graph(name).views) == len(explored.nodes)
    assert sum(map(len, graph(name).edges)) == explored.transition_count


@pytest.mark.parametrize("name", NAMES)
def test_the_events_of_a_state_have_different_texts(name):
    for edges in graph(name).edges:
        labels = [one.label for one in edges]
        assert len(labels) == len(set(labels))


@pytest.mark.parametrize("name", ["coordinator", "dataflow"])
def test_effects_name_tasks_and_types(name):
    texts = {text for edges in graph(name).edges for edge in edges for text in edge.effects}

    assert "notify complete 1 to the source" in texts
    assert [text for text in texts if " to " in text and " to the " not in text and " to a" not in text] == []
    assert [text for text in texts if "type 0" in text or "-1" in text] == []


def test_a_graph_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("conformance.playground.page.MOST_STATES", 10)

    with pytest.raises(TooManyStatesError, match="smaller bounds"):
        graph_of(subject("aligned"))


def test_every_rule_that_fires_has_its_sentence_its_tla_and_its_python():
    rules = made.data()["rules"]

    assert len(rules) > 40
    assert all(one["must"] and one["tla"][1] for one in rules.values())
    assert [name for name, one in rules.items() if not one["python"]] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files in the site's layout, with a minimal page around them."""
    home = tmp_path_factory.mktemp("site")
    for path, text in made.files():
        (home / path).parent.mkdir(exist_ok=True)
        (home / path).write_text(text, encoding="utf-8")
    body = '<h1 id="playground">Playground</h1><div id="protocol-playground"></div>'
    scripts = "".join(f'<script src="playground/{name}.js"></script>' for name in ("data", "playground"))
    (home / "playground.html").write_text(body + scripts)
    return home


@in_browser
@pytest.mark.xdist_group("browser")
def test_a_run_is_played_taken_back_and_shared(folder: Path):
    with opened(f"file://{folder}/playground.html") as page:
        assert page.locator("h1").inner_text() == "Playground"
        assert page.locator(".pg-group h4").all_inner_texts() == ["channel 0", "channel 1"]
        page.get_by_role("button", name="barrier 1 on 0", exact=True).click()
        assert page.locator(".pg-lane.pg-blocked b").all_inner_texts() == ["channel 0"]
        assert page.locator(".pg-effects li").all_inner_texts() == ["block 0"]
        page.locator(".pg-events").get_by_role("button", name="barrier 1 on 1", exact=True).click()
        assert page.locator(".pg-effects li").all_inner_texts() == COMPLETION
        assert "ALIGN-05" in " ".join(page.locator(".pg-rule summary").all_inner_texts())
        shared = page.locator(".pg-link").evaluate("link => link.href")
        page.get_by_role("button", name="Back", exact=True).click()
        assert page.locator(".pg-run li").count() == 1
        page.goto("about:blank")
        page.goto(shared)
        assert page.locator(".pg-run li").all_inner_texts() == ["barrier 1 on 0", "barrier 1 on 1"]
        page.get_by_label("Play").select_option("dataflow")
        page.get_by_role("button", name="the source emits a record", exact=True).click()
        assert page.locator(".pg-item").all_inner_texts() == ["record"]
