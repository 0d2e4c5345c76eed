"""The vocabulary agrees with the pages and classes that are made from it or state the same words."""

import re
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from conformance.components.registry import COMPONENTS as REGISTRY
from conformance.diagram.lanes import BANDS, LOOKS
from conformance.generators import generate
from conformance.site.vocabulary_page import page, with_tables
from impl import core
from impl.core.wire import Word
from model import components
from spec.vocabulary import VocabularyError, parse, vocabulary

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGE = DOCS / "vocabulary.md"
PROTOCOL = DOCS / "adapter-protocol"


def test_the_page_is_made_from_the_vocabulary(pytestconfig):
    if pytestconfig.getoption("--rewrite"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("component", vocabulary())
def test_the_tables_of_the_protocol_are_made_from_the_vocabulary(component, pytestconfig):
    protocol = PROTOCOL / f"{component}.md"
    written = protocol.read_text(encoding="utf-8")
    if pytestconfig.getoption("--rewrite"):
        protocol.write_text(with_tables(written), encoding="utf-8")
        written = protocol.read_text(encoding="utf-8")
    assert written == with_tables(written)
    assert f"<!-- vocabulary: {component} -->\n\n" in written


def test_the_protocol_lists_the_page_of_each_component():
    listed = re.findall(
        r"^\| `docs/adapter-protocol/(\w+)\.md` \|", PROTOCOL.with_suffix(".md").read_text("utf-8"), re.M
    )

    assert sorted(listed) == sorted(vocabulary()) == sorted(path.stem for path in PROTOCOL.iterdir())


def test_every_description_is_one_sentence():
    for component in vocabulary().values():
        described = (*component.events, *component.effects, *component.config, *component.state)
        sentences = [one.description for one in described]
        assert all(one.endswith(".") and one[0] in "`ABCDEFGHIJKLMNOPQRSTUVWXYZ" for one in sentences), (
            component.name
        )


def words_of(owner: type[Word]) -> list[type[Word]]:
    """Every class of an event or effect below `owner`, whichever module declares it."""
    below = [one for kind in owner.__subclasses__() for one in (kind, *words_of(kind))]
    return [one for one in below if hasattr(one, "_names")]


@pytest.mark.parametrize("base", ["event", "effect"])
def test_the_implementation_declares_the_same_words(base):
    """The classes of `impl/core` are independent of the model's, but have to declare the same words."""
    owner = core.Event if base == "event" else core.Effect
    declared = {(one.kind, frozenset(one._names)) for one in words_of(owner)}
    expected = {
        (kind.kind, frozenset(field.name for field in kind.fields))
        for component in vocabulary().values()
        for kind in (component.events if base == "event" else component.effects)
    }
    shorter = declared - expected  # words whose last fields have a default, as some modes lack them

    assert expected <= declared
    assert all(any(kind == other and names < more for other, more in expected) for kind, names in shorter)


def test_fields_with_a_default_have_it_in_the_implementation_too():
    spoken = {
        (kind.kind, field.name): field.defaults[0]
        for component in vocabulary().values()
        for kind in component.events
        for field in kind.fields
        if field.defaults
    }
    declared = {
        (word.kind, field.name): list(field.default) if isinstance(field.default, tuple) else field.default
        for word in words_of(core.Event)
        for field in fields(word)
        if field.default is not MISSING
    }

    assert {key: value for key, value in spoken.items() if declared.get(key, MISSING) != value} == {}


def test_the_components_are_those_of_the_model_and_of_the_implementation():
    assert set(vocabulary()) == set(components.COMPONENTS) == set(core.COMPONENTS)
    assert set(vocabulary()) == set(REGISTRY) == set(generate.COMPONENTS)


@pytest.mark.parametrize("component", sorted(vocabulary()))
def test_a_component_has_one_name_everywhere(component):
    module = "Aligned" if component == "gate" else component.capitalize()
    files = [
        f"spec/{component}/{module}.tla", f"spec/{component}/{module}Model.tla",
        f"spec/manifests/{component}*.toml", f"spec/vocabulary/{component}.toml",
        f"model/{component}/__init__.py", f"impl/core/{component}/__init__.py",
        f"tests/impl/{component}/*.py", f"tests/transcripts/{component}/**/*.txt",
    ]  # fmt: skip
    heading = f"# Component `{component}`\n"
    pages = [PAGE, PROTOCOL / f"{component}.md"]

    assert [pattern for pattern in files if not list(ROOT.glob(pattern))] == []
    assert [page for page in pages if heading not in page.read_text(encoding="utf-8")] == []


def test_a_folder_of_modules_is_a_component():
    folders = {path.parent.relative_to(ROOT / "spec").as_posix() for path in ROOT.glob("spec/**/*.tla")}

    assert folders == {*vocabulary(), "dataflow", "."}


@pytest.mark.parametrize("component", vocabulary().values(), ids=lambda one: one.name)
def test_every_observable_field_has_a_meaning(component):
    marks = {one.drawn.look for one in (*component.events, *component.effects) if one.drawn}
    intervals = {one.look for field in component.state for one in field.drawn}

    assert marks <= set(LOOKS)
    assert intervals <= set(BANDS)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ({"title": "x", "events": []}, "unknown tables"),
        ({"title": "x", "event": [{"kind": "a"}]}, "one sentence"),
        ({"title": "x", "config": {"a": "no such type"}}, "unknown type"),
        ({"title": "x", "config": {"a": {"type": "any", "standard": 1}}}, "unknown keys"),
        ({"title": "x", "event": [{"kind": "a", "description": "A.", "drawn": {"colour": 1}}]}, "drawn"),
        ({"title": "x", "event": [{"kind": "a", "description": "A.", "drawn": "gate"}]}, "expected a table"),
        ({"title": "x", "event": [{"kind": "a", "description": "A.", "drawn": {"lane": 3}}]}, "else texts"),
        ({"title": "x", "event": [{"kind": "a", "description": "A.", "drawn": {"lane": "{b}"}}]}, "{'b'}"),
        ({"title": "x", "event": [{"kind": "a", "description": "A.", "model": 3}]}, "`model` as a name"),
        ({"title": "x", "event": [{"kind": 3, "description": "A."}]}, "expected `kind`"),
        ({"title": "x", "state": {"a": {"type": "any", "drawn": {"when": True}}}}, "a list of tables"),
        ({"title": "x", "state": {"a": {"type": "any", "drawn": [{"lane": "{2}"}]}}}, "got {'2'}"),
        ({"title": "x", "state": {"a": {"type": "any", "drawn": [{"when": "often"}]}}}, "expected each"),
    ],
)
def test_a_malformed_vocabulary_is_refused(text, complaint):
    with pytest.raises(VocabularyError, match=complaint):
        parse("gate", text, {"any": {}})
