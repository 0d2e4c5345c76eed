"""The model's classes of events and effects are made from the vocabulary.

This module imports no model, so that `--rewrite` works with any content of the files.
"""

from pathlib import Path

import pytest

from spec import vocabulary as words
from spec.model_classes import Member, classes_of, modules

ROOT = Path(__file__).parents[2]
KIND = {"kind": "read_all", "description": "All is read.", "fields": {}}


def classes(*events, **types):
    text = {"title": "A component", "event": events}
    return classes_of(words.parse("gate", text, {**words.types(), **types}))


@pytest.mark.parametrize("path", sorted(modules()))
def test_the_classes_of_the_model_are_made_from_the_vocabulary(path, pytestconfig):
    made = modules()[path]
    if pytestconfig.getoption("--rewrite"):
        (ROOT / path).parent.mkdir(exist_ok=True)
        (ROOT / path).write_text(made, encoding="utf-8")
    assert (ROOT / path).read_text(encoding="utf-8") == made


def test_every_component_has_a_module_and_one_is_shared():
    components = {f"model/{name}/events.py" for name in words.vocabulary()}

    assert set(modules()) == components | {"model/shared_events.py"}


def test_a_class_is_named_like_its_kind_or_as_the_vocabulary_states():
    named = [KIND, {**KIND, "model": "ReadEach"}, {**KIND, "model": False}]

    assert [one.name for one in classes(*named)] == ["ReadAll", "ReadEach"]
    assert [one.kind for one in classes(*named)] == ["read_all", "read_all"]


def test_of_two_classes_the_second_has_the_fields_of_some_modes_too():
    fields = {
        "channel": "channel",
        "savepoint": {"type": "boolean", "default": False, "where": {"mode": ["x"]}},
    }
    first, second = classes({**KIND, "fields": fields, "model": ["Few", "All"]})

    assert first.members == (Member("channel", "int", ""),)
    assert second.members == (*first.members, Member("savepoint", "bool", "False"))


def test_words_become_ints_and_fields_are_renamed_or_left_out():
    fields = {
        "task": "name",
        "to": {"type": "to", "default": "here", "model": "here: bool"},
        "alignment": {"type": "alignment", "default": "unaligned"},
        "attempt": {"type": "count", "optional": True, "model": False},
    }
    (made,) = classes({**KIND, "fields": fields})

    assert made.members == (
        Member("task", "int", ""),
        Member("here", "bool", "True"),
        Member("alignment", "int", "1"),
    )


def test_a_default_before_a_field_without_one_is_left_out():
    fields = {"fails": {"type": "boolean", "default": False}, "checkpoint": "checkpoint"}
    (made,) = classes({**KIND, "fields": fields})

    assert [one.default for one in made.members] == ["", ""]


def test_a_type_that_the_model_has_no_python_type_for_is_refused():
    with pytest.raises(words.VocabularyError, match="add its type as `model`"):
        classes({**KIND, "fields": {"items": "channel_items"}})
