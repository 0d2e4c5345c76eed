"""The published schemas accept every frame of the suite and the model, and refuse invalid frames."""

from itertools import islice

import orjson
import pytest
from jsonschema import Draft202012Validator

from conformance.adapters import frames, validation
from conformance.adapters.in_process import model_adapter
from conformance.adapters.protocol import Applied, Errored, Unsupported, canonical
from conformance.drive.oracle import Oracle
from conformance.generators import generate


@pytest.mark.parametrize("name", validation.NAMES)
def test_every_schema_is_a_schema(name):
    Draft202012Validator.check_schema(validation.schema(name))


@pytest.mark.parametrize("component", generate.COMPONENTS)
def test_every_generated_event_and_every_effect_and_state_is_valid(component):
    event, effect, state, config = (
        validation.validator(component, part) for part in ("event", "effect", "state", "config")
    )
    known = {entry["properties"]["kind"]["const"] for entry in event.schema["$defs"]["event"]["oneOf"]}
    kinds, checked = set(), set()

    def check(validator, wire):
        if (key := (id(validator), canonical(wire))) not in checked:
            checked.add(key)
            validator.validate(wire)

    for number, (given, rng) in enumerate(islice(generate.cases(component, seed=7), 300)):
        if number >= 60 and kinds == known:
            break
        config.validate(given)
        oracle = Oracle(component, given)
        choose = generate.chooser(component, given, rng, injects=True)
        node = oracle.start
        for _ in range(60):
            chosen = choose(node.observed)
            if chosen is None:
                break
            edge = oracle.step(node, chosen)
            node = edge.after
            if edge.refused is None:
                check(event, chosen)
                kinds.add(chosen["kind"])
            for answers in edge.effects:
                check(effect, answers)
            check(state, node.observed)
    assert kinds == known


def test_every_frame_is_valid():
    request, answer = validation.validator("frames", "request"), validation.validator("frames", "answer")
    event = {"kind": "barrier", "channel": 0, "checkpoint": 1}
    for line in (
        frames.encode_hello(0),
        frames.encode_new(1, "gate", {"channels": 1}),
        frames.encode_apply(2, [event]),
        frames.encode_bye(3),
    ):
        request.validate(orjson.loads(line))
    applied = Applied([[{"kind": "block", "channel": 0}]], {"current": 1})
    answers = (model_adapter().hello(), applied, Unsupported("no"), Errored("no", 0), Errored("no"))
    for seq, one in enumerate(answers):
        answer.validate(orjson.loads(frames.encode_answer(seq, one)))
    answer.validate(orjson.loads(frames.encode_answer(None, Errored("not read"))))


@pytest.mark.parametrize(
    ("name", "part", "wrong"),
    [
        ("gate", "event", {"kind": "barrier", "channel": -1, "checkpoint": 1}),
        ("gate", "event", {"kind": "barrier", "channel": 0}),
        ("gate", "effect", {"kind": "abort", "checkpoint": 1, "reason": "BORED"}),
        ("gate", "config", {"mode": "exactly-once"}),
        ("gate", "state", {"blocked": [0, 0]}),
        ("subtask", "event", {"kind": "status", "running": 1}),
        ("coordinator", "effect", {"kind": "discard"}),
        ("coordinator", "state", {"pending": {"one": []}}),
        ("store", "event", {"kind": "add", "checkpoint": 1, "type": "backup"}),
        ("sink", "state", {"pending": [[1]]}),
        ("frames", "request", {"seq": 1, "op": "apply", "events": []}),
        ("frames", "answer", {"seq": 1, "effects": [[{}]], "state": {}}),
    ],
)
def test_invalid_frames_are_refused(name, part, wrong):
    assert list(validation.complaints(name, part, wrong))


def test_the_error_for_an_unknown_schema_lists_the_known_ones():
    with pytest.raises(KeyError, match="expected one of: frames, gate"):
        validation.schema("window")
    with pytest.raises(KeyError, match="expected one of: config, event"):
        validation.validator("gate", "answer")
