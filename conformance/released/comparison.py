"""Compares a release with the model of its profile: tours, directed cases and random sequences.

`conform` runs the comparison. `Search` makes the sequences of one component and plays them; each component
has a subclass. Many sequences are sent at once. A sequence with a different answer is played again, step by
step. A known divergence ends its sequence and is counted; a new one is shrunk. Known divergences are replayed
first, and one that no longer diverges is a finding.
"""

import gc
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import FAILURES, Applied, Errored, Unsupported, Wire, canonical
from conformance.cases.directed import Directed
from conformance.cases.guided import CANDIDATES, WALKS, Marks, Reached, footprint
from conformance.cases.tours_around_divergences import Transition, ways_around
from conformance.components.gate.tracking_walks import flood
from conformance.divergence import Divergence
from conformance.drive import lockstep as driver
from conformance.drive.loop import Limits, drive
from conformance.drive.oracle import Edge, Node, Oracle
from conformance.drive.shrinking.known_signatures import Signatures
from conformance.drive.stream import Case, Prepare, differing, has_failed
from conformance.generators import generate
from conformance.generators.chooser import Chooser
from conformance.released.known_divergences import known_divergences, shown_by
from conformance.released.results import Conformed, Target
from model.components import WireError

LENGTH = 40
"""Maximum number of events of a random sequence."""
NODES_AT_ONCE = 150_000
"""Maximum number of cached states of all configurations. Above it the cache is emptied."""
BATCHES = (1, 2, 3, 5, 8, 13, 21)
"""Sizes of batches of events. The state is compared after each batch.

The first batches are short, so that an early difference is found early.
"""
NEW_SHOWN = 4
"""The search ends after this number of different new divergences."""
OPENINGS: Mapping[str, Wire] = {
    "gate": {"kind": "barrier", "channel": 0, "checkpoint": 1},
    "coordinator": {"kind": "job_status", "status": "RUNNING"},
    "store": {"kind": "latest"},
    "sink": {"kind": "write", "value": 0},
    "failures": {"kind": "success", "checkpoint": 1},
    "channel": {"kind": "transfer"},
    "subtask": {"kind": "status", "running": True},
    "source": {"kind": "status", "running": True},
}
"""By component: a first event. The answer to it shows the fields of the release's state."""


class Drawn(NamedTuple):
    """The sequences of a release that has shown no divergence, and the states and paths that they reach."""

    basis: Hashable
    """The values that determine the sequences (`Search._basis`)."""
    cases: Sequence[Case]
    transitions: int
    paths: tuple[int, int, int] | None
    reached: Reached
    rules: Counter[str]


class Shared:
    """Passes the sequences of one release to the next ones, so that they are drawn only once.

    The releases are compared one after the other, with the same numbers of sequences and the same seed.
    """

    def __init__(self) -> None:
        self.drawn: Drawn | None = None


def conform(
    adapter: ProcessAdapter,
    target: Target,
    sequences: int,
    *,
    seed: int = 0,
    directed: Directed | None = None,
    tour_nodes: int = 400,
    kind: "Callable[[ProcessAdapter, Target, Conformed], Search]",
) -> Conformed:
    """Play tours, directed cases and random sequences. Returns the result.

    `sequences`: the number of random sequences. `tour_nodes`: the maximum number of states of a toured graph.
    `kind`: makes the search of the target's component.
    """
    begun = time.perf_counter()
    done = Conformed(target)
    scripts: list[tuple[Wire, ...]] = []
    if directed is not None:
        scripts = [(*one.opening, *one.events) for one in directed.scripts]
    if target.mode == "at-least-once":
        scripts.append(flood())
    if directed is not None and target.level == "handler":
        done.paths = (directed.paths, directed.hit, directed.excluded)
    search = kind(adapter, target, done)
    if search.begin() and not search.play_again():
        rounds: tuple[Callable[[], Iterator[Case]], ...] = (
            lambda: search.tours(tour_nodes),
            lambda: search.directed(scripts),
            lambda: search.random(sequences, seed),
        )
        for cases in rounds:
            if not search.play(cases()):
                break
    search.finish()
    done.seconds = time.perf_counter() - begun
    return done


class Search(ABC):
    """Makes the sequences of one target, plays them, and sorts divergences into known and new ones."""

    length = LENGTH
    tries = LENGTH
    """Maximum number of events drawn for a random sequence, including events that are then left out."""
    batches = BATCHES

    def __init__(
        self, adapter: ProcessAdapter, target: Target, done: Conformed, shared: Shared | None = None
    ) -> None:
        """`shared`: receives the sequences for later releases; None: they are for this release alone."""
        self._adapter = adapter
        self._target = target
        self._done = done
        self._oracles: dict[bytes, Oracle] = {}
        self._signatures = Signatures(adapter)
        self._prepare = Prepare(frozenset())
        self._reached = Reached(WALKS)
        self._rules: Counter[str] = Counter()
        """By rule: the number of steps in which it fired, up to a divergence."""
        self._compared = 0
        """In the sequence that is now played step by step: the number of events before its divergence."""
        self._shared = shared
        self._cases: list[Case] = []
        """All sequences of this release, if they are shared."""

    def begin(self) -> bool:
        """Find the fields of the state, and replay the known divergences.

        Returns False if the model or the release does not support the target.
        """
        config = self._target.configs()[0]
        try:
            self._oracle(config)
        except WireError as refused:
            older = "not in this release" if self._done.absent else "the model"
            self._done.stopped = Unsupported(f"{older}: {refused}")
            return False
        made = self._adapter.new(self._target.component, config)
        first = OPENINGS[self._target.component]
        answer = made if isinstance(made, FAILURES) else self._adapter.apply([first])
        if not isinstance(answer, Applied):
            self._done.stopped = answer
            return False
        self._done.fields = tuple(sorted(answer.state))
        self._prepare = Prepare(frozenset(answer.state))
        target = self._target
        for known in known_divergences():
            if known.holds_for(target.version, target.mode, target.level):
                divergence = shown_by(known, target.level, self._adapter, target.profile)
                if divergence is None:
                    self._done.gone.append(known)
                else:
                    self._signatures.add(known.name, divergence)
        return True

    def play(self, cases: Iterator[Case]) -> bool:
        """Play cases until none is left or the search is over. Returns False if the search is over.

        NEW_SHOWN new divergences end the search. So does an event that the release does not offer, because
        no sequence with this event can be compared.
        """
        played = drive(self._different(cases), self._adapter, Limits(is_known=self._may_continue, stops=1))
        missing = Errored(f"it does not offer {played.skipped[0]}") if played.skipped else None
        self._done.stopped = self._done.stopped or played.stopped or missing
        return self._done.stopped is None and len(self._done.new) < NEW_SHOWN

    def _different(self, cases: Iterator[Case]) -> Iterator[driver.Case]:
        """Yield the cases in which an answer differs, to play them step by step. Counts all cases."""
        for case in differing(self._adapter, self._counted(cases)):
            if not isinstance(case, Case):
                self._done.stopped = case
                return
            self._compared = len(case.events)
            yield driver.given(case.oracle, case.events, "released")
            if self._compared < len(case.events):
                steps = list(zip(case.events, case.oracle.transcript(case.events), strict=True))
                self._reached.retract(footprint(case.oracle, steps))
                self._reached.add(footprint(case.oracle, steps[: self._compared]))
                for _, edge in steps[self._compared :]:
                    self._rules.subtract(edge.rules)

    def _counted(self, cases: Iterator[Case]) -> Iterator[Case]:
        for case in cases:
            self._done.sequences += 1
            self._done.events += len(case.events)
            if self._shared is not None:
                self._cases.append(case)
            yield case

    def play_again(self) -> bool:
        """Play the sequences of an earlier release. Returns False if there are none that fit this release."""
        drawn = None if self._shared is None else self._shared.drawn
        if drawn is None or drawn.basis != self._basis():
            return False
        done = self._done
        done.transitions, done.paths = drawn.transitions, drawn.paths
        self._reached, self._rules = drawn.reached, Counter(drawn.rules)
        if not self.play(iter(drawn.cases)):  # some sequences were not compared
            done.transitions, done.paths = 0, None
            self._reached, self._rules = Reached(WALKS), Counter()
        return True

    def _basis(self) -> Hashable:
        """The values that determine the sequences, if the release shows no divergence."""
        return self._target.draws, self._done.fields, tuple(sorted(self._signatures.names.values()))

    def _share(self) -> None:
        """Pass the sequences to later releases, unless a divergence or a failure may have changed them."""
        done, shared = self._done, self._shared
        if shared is None:
            return
        shared.drawn = None
        if done.stopped is None and not (done.known or done.new or done.gone):
            shared.drawn = Drawn(
                self._basis(), self._cases, done.transitions, done.paths, self._reached, Counter(self._rules)
            )

    def _may_continue(self, divergence: Divergence) -> bool:
        """Count a known divergence, or record a new one. Returns whether the search continues."""
        self._compared = len(divergence.events) - 1
        name, smallest = self._signatures.place(divergence)
        if name is not None:
            self._done.known[name] += 1
        elif smallest is not None:
            self._done.new.append(smallest)
        return len(self._done.new) < NEW_SHOWN

    # ------------------------------------------------------------ sequences

    def tours(self, nodes: int) -> Iterator[Case]:
        """Yield tours over every transition of the small state graphs, of at most `nodes` states each."""
        for config in self.small():
            oracle = self._oracle(config)
            transitions = list(self.transitions(oracle, nodes))
            self._done.transitions += len(transitions)
            for way in ways_around(transitions, LENGTH):
                yield self._case(oracle, way, (1,) * len(way))

    def small(self) -> list[Wire]:
        """The configurations whose state graphs are toured."""
        return self._target.configs()[:1]

    def transitions(self, oracle: Oracle, nodes: int) -> Iterator[Transition]:
        """Yield the transitions of one state graph, breadth first."""
        for source, event, target, edge in edges_of(oracle, nodes, self.alphabet):
            yield Transition(source, event, target, self.is_suspect(event, edge))

    @abstractmethod
    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """Yield the events that a tour tries in a state. The model refuses those that cannot occur."""

    def is_suspect(self, event: Wire, edge: Edge) -> bool:
        """Whether the sequence must end after this answer."""
        return has_failed(edge)

    def directed(self, scripts: Iterable[Sequence[Wire]]) -> Iterator[Case]:
        """Yield the given sequences, each in every configuration that `fitting` returns."""
        for script in scripts:
            for config in self.fitting(script):
                yield self._case(self._oracle(config), script, (1,) * len(script))

    def fitting(self, script: Sequence[Wire]) -> list[Wire]:
        """The configurations in which a given sequence is played: only the first one of `small`."""
        return self.small()[:1]

    def random(self, count: int, seed: int) -> Iterator[Case]:
        """Yield `count` random sequences. The configurations take turns.

        Each is the best of CANDIDATES drawn sequences: its new states, transitions, pairs and paths have the
        greatest weight.
        """
        configs = self._target.configs()
        for number in range(count):
            config = configs[number % len(configs)]
            rng = Random(f"{seed}/{self._target.seed}/{number}")
            oracle = self._oracle(config)
            walks = [self._walk(oracle, config, rng) for _ in range(CANDIDATES)]
            steps, marks = self._reached.choose([(walk, footprint(oracle, walk)) for walk in walks])
            yield self._made(oracle, steps, self.batches, marks)

    def chooser(self, config: Wire, rng: Random) -> Chooser:
        """A function that draws random events for one sequence."""
        return generate.chooser(self._target.component, config, rng)

    def allows(self, config: Wire) -> "Callable[[Wire, Wire], bool]":
        """A function for one sequence: whether an event may occur in an observable state."""
        return lambda observed, event: True

    def _walk(self, oracle: Oracle, config: Wire, rng: Random) -> list[tuple[Wire, Edge]]:
        """One random sequence, without events that the profile or `allows` refuses."""
        choose, allows = self.chooser(config, rng), self.allows(config)
        edges: list[tuple[Wire, Edge]] = []
        node = oracle.start
        for _ in range(self.tries):
            event = choose(node.observed)
            if event is None or len(edges) == self.length:
                break
            edge = oracle.step(node, event)
            if edge.refused is None and allows(node.observed, event):
                edges.append((event, edge))
                node = edge.after
                if has_failed(edge):
                    break
        return edges

    def _case(self, oracle: Oracle, events: Sequence[Wire], batches: Sequence[int]) -> Case:
        """A given sequence, without events that the profile refuses."""
        edges: list[tuple[Wire, Edge]] = []
        node = oracle.start
        for event in events:
            edge = oracle.step(node, event)
            if edge.refused is None:
                edges.append((event, edge))
                node = edge.after
                if has_failed(edge):
                    break
        return self._made(oracle, edges, batches, footprint(oracle, edges))

    def _made(
        self, oracle: Oracle, edges: Sequence[tuple[Wire, Edge]], batches: Sequence[int], marks: Marks
    ) -> Case:
        """Make a case to send, and count the marks that it reaches and the rules that fire."""
        self._reached.add(marks)
        for _, edge in edges:
            self._rules.update(edge.rules)
        return self._prepare.case(oracle, edges, batches)

    def _oracle(self, config: Wire) -> Oracle:
        key = canonical(config)
        oracle = self._oracles.get(key)
        if oracle is None:
            oracle = self._oracles[key] = Oracle(self._target.component, config)
        if sum(known.remembered for known in self._oracles.values()) > NODES_AT_ONCE:
            for known in self._oracles.values():
                known.forget()
            gc.collect()  # the nodes are in reference cycles
        return oracle

    def finish(self) -> None:
        """Collect the rules of the compared steps, and the states and paths that were reached."""
        self._share()
        self._done.reached = self._reached.values()
        self._done.rules |= {rule for rule, steps in self._rules.items() if steps > 0}


def edges_of(
    oracle: Oracle,
    nodes: int,
    alphabet: Callable[[Wire, Wire], Iterator[Wire]],
    remember: Callable[[Wire, int], int] = lambda event, memory: memory,
) -> Iterator[tuple[int, Wire, int, Edge]]:
    """Yield the transitions of a state graph, breadth first: source, event, target and answer.

    `nodes`: the maximum number of states. `remember` takes an event and the memory before it, and returns the
    memory after it. The memory is a number that encodes facts that the model's state lacks. It is a part of a
    node, and `alphabet` receives it in the observable state, as `memory`.
    """
    numbers: dict[Hashable, int] = {(oracle.key(oracle.start), 0): 0}
    queue: deque[tuple[Node, int]] = deque([(oracle.start, 0)])
    while queue:
        node, memory = queue.popleft()
        source = numbers[oracle.key(node), memory]
        for event in alphabet(oracle.config, {**node.observed, "memory": memory}):
            edge = oracle.step(node, event)
            if edge.refused is not None:
                continue
            after = remember(event, memory)
            key = (oracle.key(edge.after), after)
            if key not in numbers:
                if len(numbers) >= nodes:
                    continue
                numbers[key] = len(numbers)
                if not has_failed(edge):
                    queue.append((edge.after, after))
            yield source, event, numbers[key], edge
