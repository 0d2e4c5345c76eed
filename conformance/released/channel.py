"""Conforming a released channel: its sender and its receiver, with a network that the harness plays.

As `conformance.released.gate` does it for gates. A task sends the barrier of a checkpoint once; a
second one is left out, here and in the toured models.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from conformance.adapters.protocol import Wire
from conformance.cases.tours_around_divergences import Transition
from conformance.drive.oracle import Node, Oracle
from conformance.drive.stream import Case, has_failed
from conformance.released.results import Target
from conformance.released.sequences import LENGTH, Search

IDS = 2
"""Checkpoints of the toured model."""
ROOM = 2
"""Items at either end of the toured model, before more are sent or carried."""
ALIGNMENTS = ("unaligned", "timeout", "aligned")


@dataclass(frozen=True)
class ChannelTarget(Target):
    """The channel of one release."""

    def configs(self) -> list[Wire]:
        """A channel has nothing to configure."""
        return [{"profile": self.profile}]


def target(version: str, profile: str) -> ChannelTarget:
    """What is conformed of a release."""
    return ChannelTarget(version, profile, "channel", "", after_finish=True, component="channel")


class Sent:
    """The barriers that were sent in this attempt."""

    def __init__(self) -> None:
        """None yet."""
        self._ids: set[int] = set()

    def allows(self, event: Wire) -> bool:
        """The event is not the second barrier of a checkpoint; the first one is remembered."""
        if event["kind"] == "restore":
            self._ids.clear()
        if event["kind"] != "send_barrier":
            return True
        known = event["checkpoint"] in self._ids
        self._ids.add(event["checkpoint"])
        return not known


class ChannelSearch(Search):
    """Tours of a small model, directed cases, and random sequences."""

    def transitions(self, oracle: Oracle, nodes: int) -> Iterator[Transition]:
        """See `transitions_of`."""
        return transitions_of(oracle, nodes)

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """With no barrier sent before."""
        return alphabet(observed, 0)

    def directed(self, scripts: Iterable[Sequence[Wire]]) -> Iterator[Case]:
        """Given sequences, those of this module before them."""
        return super().directed((*SCRIPTS, *scripts))

    draws = 100 * LENGTH

    def keeps(self) -> Callable[[Wire, Wire, Wire], bool]:
        """One barrier of each checkpoint."""
        sent = Sent()
        return lambda config, observed, event: sent.allows(event)


# ---------------------------------------------------------------- the small model


def transitions_of(oracle: Oracle, nodes: int) -> Iterator[Transition]:
    """Breadth first, as far as the first `nodes` states go; the newest barrier sent is part of a state."""
    first = (oracle.key(oracle.start), 0)
    numbers: dict[Hashable, int] = {first: 0}
    queue: deque[tuple[Node, int]] = deque([(oracle.start, 0)])
    while queue:
        node, newest = queue.popleft()
        source = numbers[oracle.key(node), newest]
        for event in alphabet(node.observed, newest):
            edge = oracle.step(node, event)
            if edge.refused is not None:
                continue
            later = _newest(event, newest)
            key = (oracle.key(edge.after), later)
            if key not in numbers:
                if len(numbers) >= nodes:
                    continue
                numbers[key] = len(numbers)
                queue.append((edge.after, later))
            yield Transition(source, event, numbers[key], has_failed(edge))


def _newest(event: Wire, newest: int) -> int:
    if event["kind"] == "send_barrier":
        return int(event["checkpoint"])
    return 0 if event["kind"] == "restore" else newest


def alphabet(observed: Wire, newest: int) -> Iterator[Wire]:
    """The events of the toured model: barriers in order, all else with any id."""
    if len(observed["output"]) < ROOM:
        yield {"kind": "emit", "value": 7}
        for checkpoint in range(newest + 1, IDS + 1):
            for alignment in ALIGNMENTS:
                yield {"kind": "send_barrier", "checkpoint": checkpoint, "alignment": alignment}
    if len(observed["input"]) < ROOM:
        yield {"kind": "transfer"}
    yield {"kind": "take"}
    yield {"kind": "resume"}
    for kind in ("time_out", "abort", "start_persisting", "stop_persisting", "prioritise"):
        yield from ({"kind": kind, "checkpoint": checkpoint} for checkpoint in range(1, IDS + 1))
    yield {"kind": "restore", "input": [5, 6], "output": [7]}


# ---------------------------------------------------------------- directed cases


def script(text: str) -> tuple[Wire, ...]:
    """Events by their letters below; a number is a record or a checkpoint."""
    return tuple(_event(word[0], int(word[1:] or 0)) for word in text.split())


_PLAIN = {"x": "transfer", "t": "take", "r": "resume"}
_SENT = {"u": "unaligned", "a": "aligned", "f": "forced-aligned", "w": "timeout"}
_OF = {"b": "start_persisting", "s": "stop_persisting", "p": "prioritise", "o": "time_out", "g": "abort"}


def _event(letter: str, number: int) -> Wire:
    if letter == "e":
        return {"kind": "emit", "value": number}
    if letter in _SENT:
        return {"kind": "send_barrier", "checkpoint": number, "alignment": _SENT[letter]}
    if letter in _OF:
        return {"kind": _OF[letter], "checkpoint": number}
    return {"kind": _PLAIN[letter]}


SCRIPTS = tuple(
    script(text)
    for text in (
        "e1 e2 u1 x t x x t t",  # overtaken at the sender
        "e1 e2 x x u1 x b1 t t t s1",  # at the receiver
        "b1 e1 x e2 u1 x x t t t s1",  # at both, the snapshot first
        "e1 w1 e2 x x t p1 b1 t t r x s1",  # asked for at the receiver
        "e1 w1 e2 o1 x x x t t t",  # the time is out at the sender
        "e1 w1 g1 x x r w2 w3 o3",  # given up, and lost to a newer one
        "e1 a1 x x e2 u2 x r x x b2 t t t",  # an unaligned one behind an aligned one
        "w1 x b1 e1 x r x t t t s1",  # in order, while the snapshot has begun
        "b1 w2 x t p2 b1 b2 t s2",  # a newer one has come
        "f1 x b1 r e1 x s1 t t",
    )
)
"""Each way that a barrier can go, once."""
