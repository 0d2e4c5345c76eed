"""`serve` answers every line. No line but a `bye` ends it."""

import io

import orjson
import pytest

from conformance.adapters.choose import OURS, ours
from conformance.adapters.serve import serve
from spec.vocabulary import vocabulary


def answers(name: str, *lines: bytes, limit: int = 10_000) -> list[dict]:
    output = io.BytesIO()
    serve(ours(name), io.BytesIO(b"\n".join(lines)), output, limit)
    return [orjson.loads(line) for line in output.getvalue().splitlines()]


@pytest.mark.parametrize("name", OURS)
def test_the_example_of_the_protocol_page(name):
    hello, made, applied, farewell = answers(
        name,
        b'{"seq": 0, "op": "hello", "protocol": 1}',
        b'{"seq": 1, "op": "new", "component": "gate", "config": {"channels": 2, "mode": "exactly-once"}}',
        b'{"seq": 2, "op": "apply", "events": [{"kind": "barrier", "channel": 0, "checkpoint": 5}, '
        b'{"kind": "barrier", "channel": 1, "checkpoint": 5}]}',
        b'{"seq": 3, "op": "bye"}',
    )
    assert set(hello["components"]) == set(vocabulary())
    assert made == {"seq": 1, "ok": True}
    assert applied == {
        "seq": 2,
        "effects": [
            [{"kind": "block", "channel": 0}],
            [
                {"kind": "block", "channel": 1},
                {"kind": "trigger", "checkpoint": 5},
                {"kind": "resume", "channel": 0},
                {"kind": "resume", "channel": 1},
            ],
        ],
        "state": {"current": 5, "pending": False, "blocked": [], "closed": []},
    }
    assert farewell == {"seq": 3, "ok": True}


@pytest.mark.parametrize("name", OURS)
def test_invalid_frames_get_an_error_and_the_loop_continues(name):
    replies = answers(
        name,
        b"nonsense",
        b"",
        b'{"seq": 4, "op": "dance"}',
        b'{"seq": 5, "op": "new", "component": "window", "config": {}}',
        b'{"seq": 6, "op": "apply", "events": [{"kind": "latest"}]}',
        b'{"seq": 7, "op": "new", "component": "store", "config": {"retain": 0}}',
        b'{"seq": 8, "op": "new", "component": "store", "config": {"retain": 1}}',
        b'{"seq": 9, "op": "apply", "events": [{"kind": "latest"}, {"no": "kind"}]}',
        b'{"seq": 10, "op": "apply", "events": [{"kind": "add", "checkpoint": [], "type": {}}]}',
        b'{"seq": 11, "op": "apply", "events": [{"kind": "latest"}]}',
    )
    assert [frame["seq"] for frame in replies] == [None, None, 4, 5, 6, 7, 8, 9, 10, 11]
    assert ["error" in frame for frame in replies] == [True] * 6 + [False, True, True, False]
    assert replies[7]["at"] == 1


def test_an_oversized_frame_gets_an_error_and_the_next_one_its_answer():
    long_line = b'{"seq": 0, "padding": "' + b"x" * 50_000 + b'"}'
    replies = answers("model", long_line, b'{"seq": 1, "op": "hello", "protocol": 1}')
    assert replies[0] == {"seq": None, "error": "a frame has at most 10000 bytes; send smaller batches"}
    assert replies[1]["seq"] == 1


def test_nothing_is_answered_after_bye():
    assert len(answers("model", b'{"seq": 0, "op": "bye"}', b'{"seq": 1, "op": "bye"}')) == 1
