"""Plays the sequences of a suite: step by step as cases, or as a stream of frames sent without waiting.

The output of a machine consists of the effects of an event and the state after it. So it is enough to compare
each state once, after the word that leads to it. Sequences with a common beginning follow each other. The
beginning that a sequence shares with the previous one is sent as one batch.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Adapter, Wire
from conformance.drive import stream
from conformance.drive.crashes import Crashes
from conformance.drive.lockstep import Case, Played, given
from conformance.drive.loop import drive, is_over
from conformance.drive.oracle import Edge, Node, Oracle
from conformance.drive.plan import Plan
from conformance.suites.alphabet import Alphabet
from conformance.suites.h_method import Suite
from conformance.suites.machine import Word

ORIGIN = "suite"


class _Step(NamedTuple):
    after: Node
    """The state of the model, with ids near START, from which letters are defined."""
    event: Wire
    before: Node
    """The state of the model before the event, with the ids that are sent."""
    edge: Edge
    """The expected answer."""


class SuitePlay:
    """Plays one suite: as a stream while all answers are as expected, otherwise step by step.

    After a known crash at a transition of the model's machine, later sequences through this transition are
    left out.
    """

    def __init__(self, alphabet: Alphabet, chosen: Suite, plan: Plan, unseen: set[str]) -> None:
        """`unseen`: fields of the state that the implementation leaves out."""
        self.played = Played()
        """The counts of the played sequences, and their divergence."""
        self._alphabet, self._machine, self._plan = alphabet, chosen.machine, plan
        self._crashes = plan.crashes or Crashes()
        self._oracle = Oracle(alphabet.component, alphabet.config)
        self._prepare = stream.Prepare(frozenset(self._oracle.start.observed) - unseen)
        self._crashed: set[tuple[int, int]] = set()
        """The transitions with a known crash, as pairs of a state and a letter."""
        self._left: Iterator[Word] = chosen.words()

    def play(self, adapter: Adapter, streams: ProcessAdapter | None) -> ProcessAdapter | None:
        """Play the suite. Returns `streams`, or None after a difference that is not a known crash.

        A sequence with a difference is played again step by step, because the difference does not count if
        the implementation only cannot read ahead.
        """
        while streams is None or not self._stream(streams):
            crash = self._crashes.last
            limits = self._plan.limits._replace(batch=1)
            drive(self._one_by_one(is_streamed=streams is not None), adapter, limits, self.played)
            if self._crashes.last is crash or is_over(self.played) or self.played.ended_early:
                return None
        return streams

    def _stream(self, adapter: ProcessAdapter) -> bool:
        """Play the remaining sequences as a stream. Returns whether all answers were as expected."""
        sent: deque[Word] = deque()

        def prepared() -> Iterator[stream.Case]:
            for word, path, shared in self.paths():
                sent.append(word)
                if not self._plan.may_go_on():
                    return
                edges = [(step.event, step.edge) for step in path]
                yield self._prepare.case(self._oracle, edges, list(_batches(path, shared)))

        for case in stream.passing(adapter, prepared()):
            sent.popleft()
            self.played.cases += 1
            self.played.steps += len(case.events)
            self.played.tried.take(self._alphabet.component, self._alphabet.config, case.events)
            for edge in self._oracle.transcript(case.events):
                self.played.fired.update(edge.rules)
            self._crashes.send(self._oracle, case.events)
        self.played.origins[ORIGIN] = self.played.cases
        self._left = chain(sent, self._left)
        return not sent

    def _one_by_one(self, *, is_streamed: bool) -> Iterator[Case]:
        """The remaining sequences as cases. With `is_streamed` only up to the next known crash."""
        for word, path, _ in self.paths():
            crash = self._crashes.last
            yield given(self._oracle, [step.event for step in path], ORIGIN)
            if self._crashes.last is not None and self._crashes.last is not crash:
                *_, transition = zip(self._states(word), word[: self._crashes.last.step], strict=False)
                self._crashed.add(transition)
                if is_streamed:
                    return

    def _states(self, word: Word) -> Iterator[int]:
        """The state of the machine before each letter."""
        state = 0
        for letter in word:
            yield state
            step = self._machine.rows[state][letter]
            assert step is not None
            state = step.target

    def paths(self) -> Iterator[tuple[Word, list[_Step], int]]:
        """Yields each sequence with its steps, and the number of events shared with the previous one."""
        alphabet, oracle = self._alphabet, self._oracle
        read = Oracle(alphabet.component, alphabet.config)
        start = alphabet.start(read)
        path: list[_Step] = []
        before: Word = ()
        played: Word = ()
        for word in self._left:
            if self._crashed and not self._crashed.isdisjoint(zip(self._states(word), word, strict=True)):
                continue
            del path[_shared(before, word) :]
            for letter in word[len(path) :]:
                taken = alphabet.take(read, path[-1].after if path else start, letter)
                assert taken is not None
                event = alphabet.played(taken.event)
                node = path[-1].edge.after if path else oracle.start
                path.append(_Step(taken.edge.after, event, node, oracle.step(node, event)))
            before = word
            if any(self._crashes.are_expected(alphabet.config, *step[1:]) for step in path):
                continue
            yield word, path, _shared(played, word)
            played = word


def _shared(before: Word, word: Word) -> int:
    """The length of the common beginning of two words."""
    return next((at for at, pair in enumerate(zip(before, word, strict=False)) if pair[0] != pair[1]), 0)


def _batches(path: Sequence[_Step], shared: int) -> Iterator[int]:
    """The sizes of the batches: one for the shared events, and one for each further or refused event."""
    size = 0
    for at, step in enumerate(path, 1):
        if step.edge.refused is not None and size:
            yield size
            size = 0
        size += 1
        if step.edge.refused is not None or at >= shared:
            yield size
            size = 0
