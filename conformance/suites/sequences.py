"""The sequences of a suite: as cases that are played step by step, or as frames sent without waiting.

A machine's output is the effects of an event and the state behind it, so the state is compared once behind
each word of the suite: sequences that begin alike are sent one after the other, and what a sequence shares
with the one before it is one batch.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Wire
from conformance.drive import stream
from conformance.drive.lockstep import Case, Played, given
from conformance.drive.oracle import Edge, Node, Oracle
from conformance.drive.plan import Plan
from conformance.suites.alphabet import Alphabet
from conformance.suites.h_method import Suite
from conformance.suites.machine import Word

ORIGIN = "suite"


class _Step(NamedTuple):
    after: Node
    """The state of the model, with the ids by which letters are named."""
    event: Wire
    edge: Edge
    """What must be answered."""


def _paths(alphabet: Alphabet, oracle: Oracle, chosen: Suite) -> Iterator[tuple[list[_Step], int]]:
    """Each sequence with the number of events that it shares with the one before it."""
    read = Oracle(alphabet.component, alphabet.config)
    start = alphabet.start(read)
    path: list[_Step] = []
    before: Word = ()
    for word in chosen.words():
        shared = next(
            (at for at, pair in enumerate(zip(before, word, strict=False)) if pair[0] != pair[1]), 0
        )
        del path[shared:]
        for letter in word[shared:]:
            taken = alphabet.take(read, path[-1].after if path else start, letter)
            assert taken is not None
            event = alphabet.played(taken.event)
            edge = oracle.step(path[-1].edge.after if path else oracle.start, event)
            path.append(_Step(taken.edge.after, event, edge))
        before = word
        yield path, shared


def cases(alphabet: Alphabet, chosen: Suite) -> Iterator[Case]:
    """The sequences as cases."""
    oracle = Oracle(alphabet.component, alphabet.config)
    for path, _ in _paths(alphabet, oracle, chosen):
        yield given(oracle, [step.event for step in path], ORIGIN)


def streamed(
    alphabet: Alphabet, chosen: Suite, adapter: ProcessAdapter, plan: Plan, unseen: set[str]
) -> Played:
    """Play the sequences without waiting for each answer, up to one that is not answered as expected.

    `unseen`: fields of the state that the implementation leaves out. What is found is left to whoever plays
    the rest step by step, so that an implementation that cannot read ahead is not charged with it.
    """
    played = Played()
    oracle = Oracle(alphabet.component, alphabet.config)
    prepare = stream.Prepare(frozenset(oracle.start.observed) - unseen)

    def prepared() -> Iterator[stream.Case]:
        for path, shared in _paths(alphabet, oracle, chosen):
            if not plan.may_go_on():
                return
            edges = [(step.event, step.edge) for step in path]
            yield prepare.case(oracle, edges, list(_batches(path, shared)))

    for case in stream.passing(adapter, prepared()):
        played.cases += 1
        played.steps += len(case.events)
        played.tried.take(alphabet.component, alphabet.config, case.events)
        for edge in oracle.transcript(case.events):
            played.fired.update(edge.rules)
    played.origins[ORIGIN] = played.cases
    return played


def _batches(path: Sequence[_Step], shared: int) -> Iterator[int]:
    """Sizes: the shared events together, the others and those that are refused alone."""
    size = 0
    for at, step in enumerate(path, 1):
        if step.edge.refused is not None and size:
            yield size
            size = 0
        size += 1
        if step.edge.refused is not None or at >= shared:
            yield size
            size = 0
