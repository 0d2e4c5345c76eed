"""The reader of frames refuses every invalid one, and states what it expected and what it got."""

import pytest

from conformance.adapters import frames
from conformance.adapters.frames import FrameError
from conformance.adapters.protocol import Applied, Errored, Hello, Made, Offer, Unsupported

BARRIER = {"kind": "barrier", "channel": 0, "checkpoint": 5}


def test_a_request_survives_the_wire():
    assert frames.parse_request(frames.encode_hello(0)) == frames.Request(0, "hello")
    made = frames.parse_request(frames.encode_new(1, "gate", {"channels": 2}))
    assert made == frames.Request(1, "new", component="gate", config={"channels": 2})
    assert frames.parse_request(frames.encode_apply(2, [BARRIER])).events == [BARRIER]
    assert frames.parse_request(frames.encode_bye(3)) == frames.Request(3, "bye")


@pytest.mark.parametrize(
    ("op", "events", "answer"),
    [
        ("hello", 0, Hello("engine", "1.0", "java", {"gate": Offer(("exactly-once",), (), ("polled",))})),
        ("new", 0, Made()),
        ("apply", 2, Applied([[{"kind": "block", "channel": 0}], []], {"current": 5})),
        ("new", 0, Unsupported("no sinks")),
        ("apply", 2, Errored("channel 7", 1)),
        ("bye", 0, Made()),
    ],
)
def test_an_answer_survives_the_wire(op, events, answer):
    assert frames.parse_answer(frames.encode_answer(9, answer), 9, op, events) == answer


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"not json\n", "expected one JSON object a line"),
        (b"[1]\n", "expected a JSON object"),
        (b'{"op": "hello", "protocol": 1}\n', "seq: expected an int, got None"),
        (b'{"seq": true, "op": "bye"}\n', "seq: expected an int, got True"),
        (b'{"seq": 1, "op": "dance"}\n', "op: expected one of hello, new, apply, observe, bye, got 'dance'"),
        (b'{"seq": 1, "op": "hello", "protocol": 2}\n', "protocol: expected 1, got 2"),
        (b'{"seq": 1, "op": "new", "component": 3, "config": {}}\n', "component: expected a name"),
        (b'{"seq": 1, "op": "new", "component": "gate"}\n', "config: expected an object"),
        (b'{"seq": 1, "op": "apply", "events": []}\n', "events: expected a list with at least one object"),
        (b'{"seq": 1, "op": "apply", "events": [1]}\n', "events: expected a list with at least one object"),
    ],
)
def test_a_bad_request_is_refused(line, complaint):
    with pytest.raises(FrameError, match=complaint):
        frames.parse_request(line)


@pytest.mark.parametrize(
    ("line", "op", "complaint"),
    [
        (b'{"seq": 3, "ok": true}', "new", "seq: expected 4, got 3"),
        (b'{"seq": 4, "ok": 1}', "new", "ok: expected true"),
        (b'{"seq": 4, "state": {}}', "apply", "effects: expected a list of 2 lists"),
        (b'{"seq": 4, "effects": [[]], "state": {}}', "apply", "expected a list of 2 lists.*got 1"),
        (b'{"seq": 4, "effects": [[], {}], "state": {}}', "apply", r"effects\[1\]: expected a list"),
        (b'{"seq": 4, "effects": [[], [1]], "state": {}}', "apply", r"effects\[1\]: expected a list"),
        (b'{"seq": 4, "effects": [[], []]}', "apply", "state: expected an object"),
        (b'{"seq": 4, "error": "no", "at": 2}', "apply", "at: expected a position in the batch of 2"),
        (b'{"seq": 4, "unsupported": 1}', "new", "unsupported: expected a string"),
        (b'{"seq": 4, "protocol": 1}', "hello", "components: expected an object"),
        (b'{"seq": 4, "protocol": 1, "components": {"gate": {}}}', "hello", "components.gate.modes"),
    ],
)
def test_a_bad_answer_is_refused(line, op, complaint):
    with pytest.raises(FrameError, match=complaint):
        frames.parse_answer(line, 4, op, 2)


def test_a_frame_has_a_greatest_size():
    line = frames.encode_apply(1, [BARRIER])
    assert frames.parse_request(line, limit=len(line) - 1).seq == 1
    with pytest.raises(FrameError, match="a frame has at most"):
        frames.parse_request(line, limit=len(line) - 2)
