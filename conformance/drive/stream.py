"""Sends many cases at once, and compares the answers as bytes, without parsing them.

The expected answers are known before the requests are sent. Their bytes are known too, if an implementation
writes its JSON with sorted keys and no spaces. So a whole chunk of answers is compared at once, and only a
line that differs is parsed. The texts of failures and of refusals are not compared. While the implementation
answers one chunk of cases, the next one is prepared.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import FAILURES, Failure, Wire, canonical
from conformance.drive.oracle import Edge, Node, Oracle

CHUNK = 40_000
"""Bytes of requests sent at once: they fit into a pipe, so that sending never waits."""
FAILED: Wire = {"kind": "fail"}
"""The effect of a task that fails, without its text."""


class Case(NamedTuple):
    """One instance from its `new` on, as requests and expected answers without their sequence numbers."""

    oracle: Oracle
    events: tuple[Wire, ...]
    frames: tuple[bytes, ...]
    """The bytes of each request before its sequence number."""
    answers: tuple[tuple[bytes, bytes], ...]
    """The bytes of each expected answer before and after its sequence number."""
    size: int
    """Bytes of the requests."""


class Prepare:
    """Makes cases for an implementation that shows `fields` of the state."""

    def __init__(self, fields: frozenset[str]) -> None:
        self._fields = fields
        self._spelled: dict[Node, bytes] = {}

    def case(self, oracle: Oracle, edges: Sequence[tuple[Wire, Edge]], batches: Sequence[int]) -> Case:
        """A case of events that the model has answered, cut into batches of these sizes.

        A refused event must be the only event of its batch.
        """
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
            last = batch[-1][1]
            if last.refused is not None:
                answers.append((b'{"error":"","seq":', b"}"))
                continue
            effects = b",".join(
                [_without_text(edge) if has_failed(edge) else edge.spelled for _, edge in batch]
            )
            state = b"{}" if has_failed(last) else self._state(last.after)
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
    """Whether the task fails at this event, so that its instance is not used again."""
    return edge.fails


def differing(adapter: ProcessAdapter, cases: Iterable[Case]) -> Iterator[Case | Failure]:
    """Play the cases. Yields those with an answer that differs, and each failure to answer."""
    for _, found in _exchanged(adapter, cases):
        yield from found


def passing(adapter: ProcessAdapter, cases: Iterable[Case]) -> Iterator[Case]:
    """Play the cases. Yields those of all chunks before the first one in which a case differs."""
    for chunk, found in _exchanged(adapter, cases):
        if found:
            return
        yield from chunk


def _exchanged(
    adapter: ProcessAdapter, cases: Iterable[Case]
) -> Iterator[tuple[list[Case], list[Case | Failure]]]:
    """Yield each chunk of the cases, with the cases that differ and the failures in it."""
    under_way: list[Case] = []
    expected = b""
    for chunk in _chunks(cases):  # a chunk is prepared while the implementation answers the previous one
        if under_way:
            yield under_way, list(_received(adapter, under_way, expected))
        prepared, following = _numbered(chunk, adapter.next_number)
        failed = adapter.send(prepared, sum(len(case.frames) for case in chunk))
        if failed is not None:
            yield chunk, [failed]
            return
        under_way, expected = chunk, following
    if under_way:
        yield under_way, list(_received(adapter, under_way, expected))


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
    """The frames of a chunk, numbered from `number` on, and the expected answers."""
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
    received = adapter.receive()
    if isinstance(received, FAILURES):
        yield received
        return
    if received == expected:
        return
    lines = zip(received.split(b"\n"), expected.split(b"\n"), strict=True)
    for case in chunk:
        pairs = [next(lines) for _ in case.frames]
        if any(line != expected_line and not _same(line, expected_line) for line, expected_line in pairs):
            yield case


def _same(line: bytes, expected_line: bytes) -> bool:
    """Whether an answer differs only in spelling, in texts, or in missing state fields."""
    try:
        received: Any = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    expected = orjson.loads(expected_line)
    if not isinstance(received, dict):
        return False
    if "error" in expected:
        return received.get("seq") == expected["seq"] and isinstance(received.get("error"), str)
    state, known = received.pop("state", {}), expected.pop("state", {})
    if not isinstance(state, dict):
        return False
    shared = [name for name in known if name in state]
    return _plain(received, expected) == canonical(expected) and all(
        canonical(state[name]) == canonical(known[name]) for name in shared
    )


def _without_text(edge: Edge) -> bytes:
    return canonical([FAILED if effect["kind"] == "fail" else effect for effect in edge.effects])


def _plain(received: Wire, expected: Wire) -> bytes:
    """The answer, without the texts of failures if a failure is expected."""
    if not any(FAILED in effects for effects in expected.get("effects", ())):
        return canonical(received)
    lists = received.get("effects")
    if not isinstance(lists, list):
        return canonical(received)
    plain = [
        [FAILED if _is_failure(effect) else effect for effect in effects]
        for effects in lists
        if isinstance(effects, list)
    ]
    return canonical({**received, "effects": plain})


def _is_failure(effect: object) -> bool:
    return isinstance(effect, dict) and effect.get("kind") == "fail"
