"""Every event of the vocabulary is drawn and valid in its schema, and the model reads and writes it."""

from contextlib import suppress
from importlib import import_module

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.adapters.choose import ours
from conformance.adapters.validation import complaints
from conformance.cases.hypothesis_draws import plain_event
from conformance.cases.hypothesis_machines import Source, run_machine
from conformance.generators import generate
from conformance.vectors.tla.text import filled
from model.components import COMPONENTS, WireError
from spec.vocabulary import exists, vocabulary

RECORDS = ("channel", "subtask", "store", "sink", "offsets")
"""Components whose wire events have the same fields as the model's event classes."""


def words_of(component):
    """By set of event kinds that exist in a configuration: one configuration with this set."""
    words = vocabulary()[component].events
    return {
        frozenset(one.kind for one in words if exists(component, one.where, config)): config
        for config in generate.configs(component)
    }


@pytest.mark.parametrize("component", vocabulary())
def test_every_word_is_drawn_and_fits_its_schema(component):
    by_words = words_of(component)
    assert frozenset().union(*by_words) == {one.kind for one in vocabulary()[component].events}
    for words, config in by_words.items():
        assert kinds_drawn(component, config) == words


def kinds_drawn(component, config):
    """The kinds of 300 events, drawn in the initial state of `config` and checked by their schemas."""
    kinds = set()

    @settings(
        max_examples=300,
        database=None,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def draw(data):
        model = COMPONENTS[component]
        state = model.new(config)
        event = plain_event(data, component, config, model.observe(state), injects=True)
        kinds.add(event["kind"])
        assert list(complaints(component, "event", event)) == []
        with suppress(WireError):  # the model refuses the event in this state
            model.step(state, event)

    draw()
    return kinds


@pytest.mark.parametrize("component", RECORDS)
@settings(max_examples=200, database=None, deadline=None)
@given(data=st.data())
def test_an_event_is_read_and_written_back(component, data):
    config = dict(generate.configs(component)[0])
    words = COMPONENTS[component].words
    seen = COMPONENTS[component].observe(COMPONENTS[component].new(config))
    event = plain_event(data, component, config, seen, injects=True)
    assert words.write(words.read(event, completed=-1)) == filled(component, event)


@pytest.mark.parametrize(
    ("event", "complaint"),
    [
        ({"kind": "no_such"}, "unknown kind 'no_such'"),
        ({"kind": []}, r"unknown kind \[\]"),
        ({"kind": "snapshot"}, "field 'checkpoint' is missing"),
        ({"kind": "snapshot", "checkpoint": True}, "checkpoint: expected an int of at least 0, got True"),
        ({"kind": "crash", "colour": 1}, r"crash: unknown fields \['colour'\]"),
        ({"kind": "restore", "checkpoint": 1, "fails": 0}, "fails: expected an int of at least 1, got 0"),
    ],
)
def test_a_word_outside_the_vocabulary_is_refused_with_the_reason(event, complaint):
    with pytest.raises(WireError, match=complaint):
        COMPONENTS["sink"].words.event(event)


def test_a_word_that_needs_another_option_states_which():
    gate = COMPONENTS["gate"].new({"channels": 1, "level": "handler"})
    with pytest.raises(WireError, match="record: expected level polled, got handler"):
        COMPONENTS["gate"].step(gate, {"kind": "record", "channel": 0, "value": 1})


def test_a_seed_gives_the_same_cases_whatever_constants_the_loaded_modules_have(tmp_path, monkeypatch):
    adapter = ours("model")
    apply, sent = adapter.apply, []

    def applied(events):
        sent.extend(map(dict, events))
        return apply(events)

    def cases():
        sent.clear()
        run_machine("gate", adapter, Source(seed=3, examples=30))
        return list(sent)

    monkeypatch.setattr(adapter, "apply", applied)
    before = cases()
    constants = tmp_path / "many_constants.py"
    constants.write_text(f"NUMBERS = {list(range(2, 900))}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import_module("many_constants")

    assert len(before) > 100
    assert cases() == before
