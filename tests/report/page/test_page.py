"""The page without a browser: it needs no other file, its references resolve, and it shows the findings."""

import hashlib
import re
import sys
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path
from random import Random

import orjson
import pytest

from conformance import cli, escape
from conformance.adapters.choose import ours
from conformance.adapters.protocol import Crashed
from conformance.diagram.component import of_component
from conformance.diagram.conditions import Condition, conditions
from conformance.diagram.elements import BOTH, IMPLEMENTATION, MODEL, Diagram
from conformance.diagram.figure import TEMPLATE, resource
from conformance.diagram.lanes import BANDS, LOOKS
from conformance.diagram.layout import laid_out
from conformance.divergence import Answer
from conformance.drive.lockstep import drawn
from conformance.drive.oracle import Oracle
from conformance.generators import generate
from conformance.page import details, render
from conformance.page.case import Case, Step, witness
from conformance.page.document import Page, Row
from conformance.rules.index import rules
from conformance.verdict import Exit, Verdict
from spec.vocabulary import vocabulary

ADAPTERS = Path(__file__).parents[2] / "adapters"
LATE = f"{sys.executable} {ADAPTERS / 'gate_unblocks_on_late_barrier.py'}"
GATE = {"channels": 2, "mode": "exactly-once", "level": "handler"}


class Read(HTMLParser):
    """The elements with their attributes, the text of scripts, and all other text of a page."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.text, self._inside = [], [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data

    def values(self, attribute):
        return [attributes[attribute] for _, attributes in self.elements if attribute in attributes]

    def all(self, tag, kind):
        return [a for name, a in self.elements if name == tag and kind in (a.get("class") or "").split()]


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    """The page about a gate that violates ALIGN-04, and the folder of the page."""
    folder = tmp_path_factory.mktemp("late")
    file = folder / "page.html"
    command = ["conform", "--adapter", LATE, "--component", "gate", "--examples", "2"]
    assert cli.run([*command, "--out", str(folder / "out"), "--html", str(file)]) == Exit.DIVERGES
    return file.read_text(encoding="utf-8"), folder


def page_about(*steps, name="an engine", diagram=None, **fields):
    if diagram is None:
        diagram = of_component("gate", GATE, steps, is_wrong=True)
    case = Case(name, name, steps, diagram, is_wrong=True, **fields)
    row = Row(name, Verdict.DIVERGES, name)
    return Page("conform", Verdict.DIVERGES, name, (("implementation", name),), name, (row,), (case,))


def test_the_page_needs_no_other_file(late):
    text, _ = late
    read = Read(text)
    outward = [value for name in ("href", "src", "action", "data") for value in read.values(name)]

    assert not [value for value in outward if not value.startswith("#")]
    assert not re.search(r"url\(|@import|https?://", text)
    assert not [a for tag, a in read.elements if any(name.startswith("on") or name == "style" for name in a)]


def test_its_policy_allows_its_own_style_and_program_and_nothing_else(late):
    text, _ = late
    (policy,) = [a["content"] for _, a in Read(text).elements if a.get("http-equiv")]
    style = text[text.index("<style>") + len("<style>") : text.index("</style>")]

    assert policy.startswith("default-src 'none';")
    for whole in (style, Read(text).scripts[1]):
        assert b64encode(hashlib.sha256(whole.encode()).digest()).decode() in policy


def test_each_reference_within_the_page_has_one_target(late):
    read = Read(late[0])
    ids = read.values("id")
    named = [value[1:] for value in read.values("href")]
    named += [
        one
        for name in ("aria-labelledby", "aria-describedby")
        for v in read.values(name)
        for one in v.split()
    ]

    assert len(ids) == len(set(ids))
    assert set(named) <= {*ids, "content"}
    assert all(
        a.get("aria-label") or a.get("aria-labelledby")
        for _, a in read.elements
        if a.get("role") in {"img", "region"}
    )
    assert all(a.get("aria-label") for tag, a in read.elements if a.get("tabindex") == "0" and tag != "pre")
    assert {a["scope"] for tag, a in read.elements if tag == "th"} == {"col", "row"}


def test_the_divergence_is_reported_and_drawn(late):
    text, folder = late
    read = Read(text)
    (replay,) = (folder / "out").glob("*.json")
    (case,) = orjson.loads(read.scripts[0])["cases"]

    assert "late-gate 0.1 departs from the protocol at ALIGN-04." in read.text
    assert rules()["ALIGN-04"].must in read.text
    assert f"--replay {replay}" in read.text
    assert f"pytest {replay.with_name(f'test_{replay.stem}.py')}" in read.text
    assert "The answer contradicts blocked[0] = true" in read.text
    assert [a["data-step"] for a in read.all("rect", "wrong")] == ["2"]
    assert len(read.all("rect", "blocked")) == 2 + 1  # interval, effects of the model only, legend
    assert len([a for a in read.all("rect", "blocked") if "model" in a["class"].split()]) == 1
    assert case[1]["event"] == "barrier 1 on 0"
    assert case[1]["effects"] == [["resume 0", "resume 0"]]
    assert [row["field"] for row in case[1]["state"] if row["differs"]] == ["blocked"]
    assert [row["field"] for row in case[0]["state"] if row["implementation"] is None] == []


def test_no_text_of_an_implementation_becomes_part_of_the_page():
    evil = "</script><img src=x onerror=alert(1)><!--\u2028'\"&"
    crashed = Crashed(evil, f"{evil}\nthe last word")
    event = {"kind": evil, "channel": 0, "checkpoint": 1}
    text = render.html(
        page_about(Step("gate", event, Answer((), {evil: evil}), crashed, (evil,), evil, evil), name=evil)
    )
    read = Read(text)

    assert [tag for tag, _ in read.elements if tag in {"img", "script"}] == ["script", "script"]
    assert "<!--" not in text
    assert orjson.loads(read.scripts[0])["cases"][0][0]["stderr"] == "\n".join(
        [*evil.splitlines(), "the last word"]
    )
    assert escape.block(evil) in read.text


def test_the_pictures_in_the_docs_are_small():
    pictures = list((Path(__file__).parents[3] / "docs" / "verify" / "reading-a-report").glob("*"))
    assert {picture.name for picture in pictures} == {"late-gate.png", "trace.png"}
    assert all(picture.stat().st_size < 200_000 for picture in pictures)


def test_the_same_run_gives_the_same_text():
    steps = witness(ours("impl"), "gate", GATE, [{"kind": "barrier", "channel": 0, "checkpoint": 1}])
    assert render.html(page_about(*steps)) == render.html(page_about(*steps))


@pytest.mark.parametrize("component", generate.COMPONENTS)
def test_every_mark_has_a_place_of_its_own_and_none_covers_another(component):
    every = generate.configs(component)
    for number, config in enumerate(every[:: max(1, len(every) // 6)]):
        oracle = Oracle(component, config)
        events, _ = drawn(oracle, generate.chooser(component, config, Random(number)), 30)
        diagram = of_component(
            component, config, witness(ours("model"), component, config, events), is_wrong=False
        )
        sheet = laid_out(diagram)
        spots = [(spot.x, spot.y) for column in sheet.columns for spot in column.spots]

        assert len(set(spots)) == len(spots)
        assert all(0 < x < sheet.after and 0 < y < sheet.height for x, y in spots)
        assert all(rect.x >= 0 and rect.x + rect.width <= sheet.width for rect in sheet.rects)
        assert {mark.lane for mark in diagram.marks} <= set(diagram.lanes)
        assert {mark.side for mark in diagram.marks} <= {BOTH}
        assert {mark.look for mark in diagram.marks} <= set(LOOKS)
        assert {band.look for band in diagram.bands} <= set(BANDS)


def test_every_kind_of_mark_has_a_shape():
    template = resource("conformance.diagram", TEMPLATE)
    kinds = (kind for one in vocabulary().values() for kind in (*one.events, *one.effects))
    used = {kind.drawn.look for kind in kinds if kind.drawn is not None}

    assert used <= set(LOOKS)
    assert {look for look in LOOKS if f'look == "{look}"' not in template} == {"other"}


def steps_at_gate(*events, adapter="impl", config=GATE):
    return witness(ours(adapter), "gate", config, [dict(event) for event in events])


def barrier(channel, checkpoint):
    return {"kind": "barrier", "channel": channel, "checkpoint": checkpoint}


@pytest.mark.rule("ALIGN-03")
def test_a_front_runs_through_its_barriers_to_what_they_trigger():
    config = {**GATE, "channels": 3}
    steps = steps_at_gate(
        barrier(1, 1), barrier(0, 2), barrier(2, 1), barrier(2, 2), barrier(1, 2), config=config
    )
    diagram = of_component("gate", config, steps, is_wrong=False)
    first, second = diagram.fronts

    assert (first.points, first.is_done) == (((1, "channel 1"), (2, "gate")), False)
    assert second.points == ((2, "channel 0"), (5, "channel 1"), (4, "channel 2"), (5, "gate"))
    assert second.is_done
    assert [mark.step for mark in diagram.marks if mark.look == "late"] == [3]
    blocked = {(band.lane, band.begins, band.ends) for band in diagram.bands if band.look == "blocked"}
    assert blocked == {("channel 1", 1, 2), ("channel 0", 2, 5), ("channel 2", 4, 5)}


def test_effects_of_only_one_side_are_marked():
    (step,) = steps_at_gate(barrier(0, 1))
    got = Answer([{"kind": "trigger", "checkpoint": 1}], {**step.got.state, "blocked": [1]})
    diagram = of_component("gate", GATE, [with_got(step, got)], is_wrong=True)
    marks = {(mark.look, mark.side) for mark in diagram.marks}
    bands = {(band.lane, band.side) for band in diagram.bands if band.look == "blocked"}

    assert marks == {("barrier", BOTH), ("block", MODEL), ("trigger", IMPLEMENTATION)}
    assert bands == {("channel 0", MODEL), ("channel 1", IMPLEMENTATION)}
    assert details.effect_rows(with_got(step, got)) == [["block 0", None], [None, "trigger 1"]]


def with_got(step, got):
    return Step(step.component, step.event, step.expected, got, step.rules)


def test_a_side_that_did_not_answer_has_no_state():
    (step,) = steps_at_gate(barrier(0, 1))
    gone = with_got(step, Crashed("exit code 3", ""))

    assert details.effect_rows(gone) == [["block 0", None], [None, "crashed: exit code 3"]]
    assert {row["implementation"] for row in details.state_rows(gone, {})} == {None}


def test_conditions_are_derived_from_the_observable_state():
    assert conditions("coordinator", {"pending": {"3": ["sink-0"]}}) == {
        Condition("coordinator", "pending", "pending: 3"),
        Condition("sink-0", "awaited", "checkpoint 3 awaits sink-0"),
    }
    assert conditions("sink", {"open": 2, "pending": [[1, 1]], "committed": [], "running": True}) == {
        Condition("transaction 2", "open", "transaction 2 is open"),
        Condition("transaction 1", "pre-committed", "transaction 1 is pre-committed for checkpoint 1"),
    }
    assert conditions("gate", {}) == set()


def test_an_empty_diagram_can_be_laid_out():
    sheet = laid_out(Diagram(0, ("gate",)))
    assert sheet.columns == ()


def test_a_pass_shows_one_case_of_each_component(tmp_path, capsys):
    file = tmp_path / "page.html"
    examined = ["--adapter", "impl", "--component", "store", "--no-suites", "--examples", "4"]
    assert cli.run(["conform", *examined, "--html", str(file)]) == 0
    read = Read(file.read_text(encoding="utf-8"))

    assert f"  page    {file}" in capsys.readouterr().out
    assert "store: one case" in read.text
    assert "5 exercised:" in read.text
    assert not read.all("rect", "wrong")


def test_a_saved_divergence_has_a_page_of_its_own(late, tmp_path, capsys):
    _, folder = late
    (replay,) = (folder / "out").glob("*.json")
    file = tmp_path / "page.html"
    assert cli.run(["conform", "--replay", str(replay), "--html", str(file)]) == Exit.DIVERGES
    assert (
        "late-gate 0.1 departs from the protocol at ALIGN-04." in Read(file.read_text(encoding="utf-8")).text
    )

    again = ["conform", "--replay", str(replay), "--adapter", "impl", "--html", str(file)]
    assert cli.run(again) == Exit.CONFORMS
    assert "nothing else was tried" in Read(file.read_text(encoding="utf-8")).text

    (module,) = (folder / "out").glob("*/*.tla")
    assert cli.run(["conform", "--replay", str(module), "--html", str(file)]) == Exit.USAGE
    assert "TLC replays a .tla file; give the .json file" in capsys.readouterr().err


def test_an_implementation_that_does_not_answer_has_a_page_too(tmp_path):
    file = tmp_path / "page.html"
    assert cli.run(["conform", "--adapter", "./no-such-engine", "--html", str(file)]) == Exit.UNDETERMINED
    assert "no answer to hello: crashed: cannot start" in Read(file.read_text(encoding="utf-8")).text
