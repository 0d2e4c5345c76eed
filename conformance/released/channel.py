"""Tests the channel of a release: its sender and its receiver, with a network that the harness simulates.

A task sends the barrier of a checkpoint once. So neither the sequences nor the toured models send it again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from conformance.adapters.protocol import Wire
from conformance.cases.tours_around_divergences import Transition
from conformance.drive.oracle import Oracle
from conformance.drive.stream import Case, has_failed
from conformance.released.comparison import LENGTH, Search, edges_of
from conformance.released.results import Target

IDS = 2
"""The highest checkpoint id of the toured model."""
ITEMS = 2
"""Maximum number of items at either end of the toured model."""
ALIGNMENTS = ("unaligned", "timeout", "aligned")


@dataclass(frozen=True)
class ChannelTarget(Target):
    """The channel of one release."""

    def configs(self) -> list[Wire]:
        """The one configuration: a channel has only its profile."""
        return [{"profile": self.profile}]


def target(version: str, profile: str) -> ChannelTarget:
    """The target for a release."""
    return ChannelTarget(version, profile, "channel", "", after_finish=True, component="channel")


class Sent:
    """Remembers the barriers that a sequence has sent in the current attempt."""

    def __init__(self) -> None:
        """No barrier was sent yet."""
        self._ids: set[int] = set()

    def allows(self, event: Wire) -> bool:
        """Whether the event may be sent: False for a second barrier of a checkpoint. Remembers the first."""
        if event["kind"] == "restore":
            self._ids.clear()
        if event["kind"] != "send_barrier":
            return True
        known = event["checkpoint"] in self._ids
        self._ids.add(event["checkpoint"])
        return not known


class ChannelSearch(Search):
    """Tours of a small model, directed cases, and random sequences."""

    tries = 50 * LENGTH

    def transitions(self, oracle: Oracle, nodes: int) -> Iterator[Transition]:
        """As in `Search`. The id of the newest sent barrier is a part of each node."""
        for source, event, to, edge in edges_of(oracle, nodes, self.alphabet, _newest):
            yield Transition(source, event, to, has_failed(edge))

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """The events of the toured model, as in the function `alphabet`."""
        return alphabet(observed, observed["memory"])

    def allows(self, config: Wire) -> Callable[[Wire, Wire], bool]:
        """As in `Search`: no second barrier of a checkpoint."""
        sent = Sent()
        return lambda observed, event: sent.allows(event)

    def directed(self, scripts: Iterable[Sequence[Wire]]) -> Iterator[Case]:
        """The sequences of this module, then the given ones."""
        return super().directed((*SCRIPTS, *scripts))


# ---------------------------------------------------------------- the small model


def _newest(event: Wire, newest: int) -> int:
    if event["kind"] == "send_barrier":
        return int(event["checkpoint"])
    return 0 if event["kind"] == "restore" else newest


def alphabet(observed: Wire, newest: int) -> Iterator[Wire]:
    """The events of the toured model. Ids of barriers ascend; the other events may have any id."""
    if len(observed["output"]) < ITEMS:
        yield {"kind": "emit", "value": 7}
        for checkpoint in range(newest + 1, IDS + 1):
            for alignment in ALIGNMENTS:
                yield {"kind": "send_barrier", "checkpoint": checkpoint, "alignment": alignment}
    if len(observed["input"]) < ITEMS:
        yield {"kind": "transfer"}
    yield {"kind": "take"}
    yield {"kind": "resume"}
    for kind in ("time_out", "abort", "start_persisting", "stop_persisting", "prioritise"):
        yield from ({"kind": kind, "checkpoint": checkpoint} for checkpoint in range(1, IDS + 1))
    yield {"kind": "restore", "input": [5, 6], "output": [7]}


# ---------------------------------------------------------------- directed cases


def script(text: str) -> tuple[Wire, ...]:
    """The events of a text of words. A word is a letter of the tables below, and a record or a checkpoint."""
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
        "e1 e2 u1 x t x x t t",  # the barrier overtakes records at the sender
        "e1 e2 x x u1 x b1 t t t s1",  # overtakes at the receiver
        "b1 e1 x e2 u1 x x t t t s1",  # overtakes at both ends, after the snapshot has begun
        "e1 w1 e2 x x t p1 b1 t t r x s1",  # the receiver prioritises the barrier
        "e1 w1 e2 o1 x x x t t t",  # the barrier's time-out passes at the sender
        "e1 w1 g1 x x r w2 w3 o3",  # the checkpoint is aborted; the next one is replaced by a newer one
        "e1 a1 x x e2 u2 x r x x b2 t t t",  # an unaligned barrier behind an aligned one
        "w1 x b1 e1 x r x t t t s1",  # the barrier arrives in order, after the snapshot has begun
        "b1 w2 x t p2 b1 b2 t s2",  # a newer barrier arrives
        "f1 x b1 r e1 x s1 t t",
    )
)
"""A sequence for each way in which a barrier can pass the channel."""
