"""Many cases at once: frames prepared with the answers that must come, compared line for line unread.

What an implementation must answer is known beforehand, down to the spelling if it writes its JSON with
sorted keys and no spaces. So a whole chunk of answers is compared as text, and only a line that differs
is read. The cases are sent while the next ones are prepared.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import FAILURES, Failure, Wire, canonical
from conformance.drive.oracle import Edge, Node, Oracle

CHUNK = 40_000
"""Bytes of requests sent at once: they fit into a pipe, so that sending never waits."""


class Case(NamedTuple):
    """One instance from its `new` on, as frames without their numbers."""

    oracle: Oracle
    events: tuple[Wire, ...]
    frames: tuple[bytes, ...]
    """Each request up to its number."""
    answers: tuple[tuple[bytes, bytes], ...]
    """Each answer before and after its number."""
    size: int
    """Bytes of the requests."""


class Prepare:
    """Makes cases for an implementation that shows `fields` of the state."""

    def __init__(self, fields: frozenset[str]) -> None:
        self._fields = fields
        self._spelled: dict[Node, bytes] = {}

    def case(self, oracle: Oracle, edges: Sequence[tuple[Wire, Edge]], batches: Sequence[int]) -> Case:
        """A case of events that the model has answered, cut into batches of these sizes."""
        frames = [b'{"op":"new","component":"%b","config":%b,"seq":'
                  % (oracle.component.encode(), orjson.dumps(oracle.config))]  # fmt: skip
        answers = [(b'{"ok":true,"seq":', b"}")]
        at = 0
        for size in batches:
            batch = edges[at : at + size]
            if not batch:
                break
            at += size
            events = b",".join([edge.sent for _, edge in batch])
            frames.append(b'{"op":"apply","events":[%b],"seq":' % events)
            effects = b",".join([edge.spelled for _, edge in batch])
            state = b"{}" if has_failed(batch[-1][1]) else self._state(batch[-1][1].after)
            answers.append((b'{"effects":[%b],"seq":' % effects, b',"state":%b}' % state))
        whole = tuple(event for event, _ in edges[:at])
        return Case(oracle, whole, tuple(frames), tuple(answers), sum(map(len, frames)) + 8 * len(frames))

    def _state(self, node: Node) -> bytes:
        spelled = self._spelled.get(node)
        if spelled is None:
            if len(self._spelled) > 100_000:
                self._spelled.clear()
            shown = {name: node.observed[name] for name in self._fields if name in node.observed}
            spelled = self._spelled[node] = canonical(shown)
        return spelled


def has_failed(edge: Edge) -> bool:
    """The implementation refuses the event with an exception: its instance is not used again."""
    return edge.fails


def differing(adapter: ProcessAdapter, cases: Iterable[Case]) -> Iterator[Case | Failure]:
    """Play the cases and give those that differ somewhere; a failure ends it."""
    under_way: list[Case] = []
    expected = b""
    for chunk in _chunks(cases):  # prepared while the chunk before it is under way
        if under_way:
            yield from _received(adapter, under_way, expected)
        prepared, following = _numbered(chunk, adapter.next_number)
        failed = adapter.send(prepared, sum(len(case.frames) for case in chunk))
        if failed is not None:
            yield failed
            return
        under_way, expected = chunk, following
    if under_way:
        yield from _received(adapter, under_way, expected)


def _chunks(cases: Iterable[Case]) -> Iterator[list[Case]]:
    chunk: list[Case] = []
    size = 0
    for case in cases:
        chunk.append(case)
        size += case.size
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _numbered(chunk: list[Case], number: int) -> tuple[bytes, bytes]:
    """The frames of a chunk from a number on, and the answers that must come."""
    requests: list[bytes] = []
    answers: list[bytes] = []
    for case in chunk:
        for frame, (before, after) in zip(case.frames, case.answers, strict=True):
            spelled = b"%d" % number
            requests += (frame, spelled, b"}\n")
            answers += (before, spelled, after, b"\n")
            number += 1
    return b"".join(requests), b"".join(answers[:-1])


def _received(adapter: ProcessAdapter, chunk: list[Case], expected: bytes) -> Iterator[Case | Failure]:
    came = adapter.receive()
    if isinstance(came, FAILURES):
        yield came
        return
    if came == expected:
        return
    lines = zip(came.split(b"\n"), expected.split(b"\n"), strict=True)
    for case in chunk:
        pairs = [next(lines) for _ in case.frames]
        if any(line != expected_line and not _same(line, expected_line) for line, expected_line in pairs):
            yield case


def _same(line: bytes, expected_line: bytes) -> bool:
    """The same answer in another spelling, or without some fields of the state."""
    try:
        came: Any = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    expected = orjson.loads(expected_line)
    state, known = came.pop("state", {}), expected.pop("state", {})
    shared = [name for name in known if name in state]
    return canonical(came) == canonical(expected) and all(
        canonical(state[name]) == canonical(known[name]) for name in shared
    )
