"""The committed pictures equal those that the command makes of the current model."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance import cli
from conformance.pictures import draw
from conformance.pictures.composed import JOINED
from conformance.pictures.coordinator_parts import PARTS_OF_COORDINATOR
from conformance.pictures.graph import MOST, TooLargeError, walk, walk_closed
from conformance.pictures.pages import files
from conformance.pictures.subjects import LISTED, SUBJECTS, of_alphabet
from conformance.verdict import Exit
from model.components import COMPONENTS, PARTS

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"


def names_in(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_committed_pictures_are_those_of_the_model():
    made = dict(files())
    assert names_in(FOLDER) == set(made)
    for name, text in made.items():
        assert (FOLDER / name).read_text("utf-8") == text, f"{name}: run `make pictures`"


def test_every_component_is_drawn_and_small():
    drawn = {subject.component for subject in SUBJECTS}
    assert set(COMPONENTS) - drawn == {"channel"}
    assert drawn - set(COMPONENTS) == set(PARTS)
    parts = {part.name for part in PARTS_OF_COORDINATOR}
    assert parts == {"requests", "scheduler", "masters", "shared-files"}
    assert {whole.name for whole in JOINED} == {"channel", "dataflow", "dataflow-fails"}
    for graph in (*map(walk, SUBJECTS), *map(walk_closed, (*PARTS_OF_COORDINATOR, *JOINED))):
        assert 5 < len(graph.states) <= MOST
        assert {arrow.source for arrow in graph.arrows} | {arrow.target for arrow in graph.arrows} == set(
            range(len(graph.states))
        )


def test_a_component_without_an_entry_is_drawn_by_its_alphabet():
    subject = of_alphabet("offsets")
    graph = walk(subject)
    labels = {label for arrow in graph.arrows for label in arrow.labels}

    assert len(graph.states) == 31
    assert graph.states[0] == ("remembered [] · committed None", "running True")
    assert {"snapshot 1 1", "notify_complete 1 / C1", "crash", "restore 0"} <= labels


def test_a_picture_is_an_image_with_every_state_and_arrow():
    subject = SUBJECTS[0]
    graph = walk(subject)
    root = ElementTree.fromstring(dict(files())[f"{subject.name}.svg"])
    space = "{http://www.w3.org/2000/svg}"
    kinds = [part.get("class") for part in root.iter(f"{space}g")]
    assert kinds.count("node") == len(graph.states)
    assert kinds.count("edge") == len(graph.arrows)
    assert root.find(f".//{space}title").text == LISTED[subject.name]["title"]


def test_an_arrow_leads_back_where_a_state_is_reached_again():
    offsets = next(subject for subject in SUBJECTS if subject.name == "source")
    arrows = walk(offsets).arrows
    assert any(arrow.leads_back and arrow.target == 0 for arrow in arrows)
    assert not any(arrow.leads_back for arrow in walk_closed(JOINED[0]).arrows)
    assert draw.dot("a title", walk(offsets)).count("style=dashed") == sum(one.leads_back for one in arrows)


def test_without_graphviz_the_message_states_what_to_install(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(draw, "PROGRAM", "no-such-program")
    assert cli.run(["pictures", "--out", str(tmp_path / "drawn")]) == Exit.USAGE
    assert "pip install -e '.[dev]'" in capsys.readouterr().err
    assert not (tmp_path / "drawn").exists()


def test_a_graph_that_cannot_be_read_is_refused():
    many = [{"kind": "snapshot", "checkpoint": number, "offsets": 0} for number in range(1, 60)]
    offsets = next(subject for subject in SUBJECTS if subject.name == "offsets")
    with pytest.raises(TooLargeError, match="more than 40 states"):
        walk(offsets._replace(events=many))


def test_a_closed_model_that_cannot_be_read_is_refused():
    channel = JOINED[0]
    with pytest.raises(TooLargeError, match="more than 40 states"):
        walk_closed(channel._replace(may=lambda action, event: True))


def test_the_pictures_show_what_is_stored_and_what_is_visible():
    channel, record, failing = map(walk_closed, JOINED)
    assert (
        "[r2] [B r1]",
        "in r1",
    ) not in channel.states  # what the barrier overtakes is stored when it is read
    stored = {line for lines in channel.states for line in lines if "out" in line or "in" in line}
    assert "out r2 · in r1" in stored
    assert [lines for lines in record.states if "visible" in lines[0]] == [
        ("1 [] 1 [] visible", "1 complete")
    ]
    assert any(lines[0].startswith("again") and lines[0].endswith("committed") for lines in failing.states)


def test_the_command_writes_them(tmp_path, capsys):
    assert cli.run(["pictures", "--out", str(tmp_path / "drawn")]) == 0
    assert names_in(tmp_path / "drawn") == {name for name, _ in files()}
    assert "exactly-once.svg" in capsys.readouterr().out
