"""Conforming a released implementation: tours, directed cases and random sequences against its profile.

The model is asked with the release's profile; sequences are played many at once, and where one differs
it is played again step by step. A divergence that is known ends its sequence and is counted; a new one
is shrunk. Known divergences are replayed first: one that is gone is told.
"""

import gc
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random

from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import FAILURES, Applied, Failure, Unsupported, Wire
from conformance.drive import generate
from conformance.drive.around import Transition, ways_around
from conformance.drive.directed import Directed
from conformance.drive.generate_tracking import flood
from conformance.drive.generate_unaligned import MODES as OVERTAKING
from conformance.drive.generate_unaligned import is_savepoint
from conformance.drive.known import (
    Known,
    Signature,
    expected_of,
    expects,
    known_divergences,
    shown_by,
    signature,
)
from conformance.drive.lockstep import Divergence, replay
from conformance.drive.oracle import Edge, Node, Oracle, canonical
from conformance.drive.shrink import shrink
from conformance.drive.stream import Case, Prepare, differing, has_failed
from conformance.verdict import Verdict
from model.components import WireError
from model.profiles import PROFILES

INJECTED = 0.02
"""How often a sequence of mode exactly-once triggers the task itself, where the generation does so.

At level polled only with a new id, as a coordinator does: after an old one Flink resumes all channels, also
those that it goes on holding as blocked, and what waits there comes through.
"""
LENGTH = 40
"""Events of a random sequence at most."""
NODES_AT_ONCE = 150_000
"""So many states of all configurations are remembered; then all are forgotten."""
BATCHES = (1, 2, 3, 5, 8, 13, 21)
"""Sizes of batches: the state is compared after each, so the first ones are short."""
NEW_SHOWN = 4
"""After so many different new divergences the search ends."""
CHANNELS = (2, 3, 1, 4)
OPENINGS: Mapping[str, Wire] = {
    "gate": {"kind": "barrier", "channel": 0, "checkpoint": 1},
    "coordinator": {"kind": "job_status", "status": "RUNNING"},
    "store": {"kind": "latest"},
    "sink": {"kind": "write", "value": 0},
    "failures": {"kind": "success", "checkpoint": 1},
    "channel": {"kind": "transfer"},
}
"""A first event, whose answer shows which fields of the state the release has."""


@dataclass(frozen=True)
class Target:
    """What is conformed: one release in one mode at one level."""

    version: str
    profile: str
    mode: str
    level: str
    after_finish: bool
    """Whether the release can count ended channels as aligned."""
    component: str = "gate"
    """What of the release; of another than a gate `mode` says the same, and there are no levels."""

    @property
    def seed(self) -> str:
        """The same for all releases of a profile, so that they get the same sequences."""
        return f"{self.profile}/{self.mode}/{self.level}"

    def configs(self) -> list[Wire]:
        """The configurations that random sequences go through, in turn."""
        base = {"mode": self.mode, "profile": self.profile, "level": self.level}
        finishes = (True, False) if self.after_finish else (False,)
        extras = EXTRAS.get((self.mode, self.profile, self.level)) or EXTRAS.get((self.mode,), ({},))
        return [
            {**base, "channels": channels, "checkpoints_after_tasks_finish": finish, **extra}
            for channels, finish, extra in product(CHANNELS, finishes, extras)
        ]


EXTRAS: Mapping[tuple[str, ...], tuple[Wire, ...]] = {
    ("alternating",): ({"alignment_timeout_ms": 10}, {"alignment_timeout_ms": 0}),
    ("unaligned",): ({"alignment_timeout_ms": 10},),
    ("exactly-once", "flink-1.9", "polled"): (
        {"alignment_limit_bytes": -1},
        {"alignment_limit_bytes": 32_768},
        {"alignment_limit_bytes": 98_304},
    ),
}
"""Options that belong to a mode, or to a mode of one profile at one level."""


@dataclass
class Conformed:
    """What came of one target."""

    target: Target
    sequences: int = 0
    events: int = 0
    transitions: int = 0
    """Transitions of the small models that tours took, all of them."""
    paths: tuple[int, int, int] | None = None
    """Of the step functions: how many there are, how many the directed cases take, how many no run takes.

    Told at level handler; where what comes on a blocked channel waits, a case may take another path.
    """
    seconds: float = 0.0
    fields: tuple[str, ...] = ()
    """The fields of the state that the release shows."""
    rules: set[str] = field(default_factory=set)
    """The rules that fired in the model."""
    known: Counter[str] = field(default_factory=Counter)
    """Sequences that ended at a known divergence, by its name."""
    gone: list[Known] = field(default_factory=list)
    """Known divergences that are none any more."""
    new: list[Divergence] = field(default_factory=list)
    stopped: Failure | None = None
    """Why nothing more can be said."""

    @property
    def skipped(self) -> bool:
        """The release, or the model of it, does not have this mode or level: nothing was played."""
        return isinstance(self.stopped, Unsupported) and not self.sequences

    @property
    def absent(self) -> bool:
        """The release is older than the mode."""
        return self.target.mode in OVERTAKING and not PROFILES[self.target.profile].has_unaligned

    @property
    def verdict(self) -> Verdict:
        """DIVERGES at a new divergence or at one that is gone."""
        if self.new or self.gone:
            return Verdict.DIVERGES
        return Verdict.UNDETERMINED if self.stopped is not None else Verdict.CONFORMS


def conform(
    adapter: ProcessAdapter,
    target: Target,
    sequences: int,
    *,
    seed: int = 0,
    directed: Directed | None = None,
    tour_nodes: int = 400,
    kind: "type[Search] | None" = None,
) -> Conformed:
    """Play tours, `directed` cases and so many random sequences."""
    begun = time.perf_counter()
    done = Conformed(target)
    scripts: list[tuple[Wire, ...]] = []
    if directed is not None:
        scripts = [(*one.opening, *one.events) for one in directed.scripts]
    if target.mode == "at-least-once":
        scripts.append(flood())
    if directed is not None and target.level == "handler":
        done.paths = (directed.paths, directed.hit, directed.excluded)
    search = (kind or Search)(adapter, target, done)
    if search.begin():
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


class Search:
    """One target under way: what is known of it, what was seen, and the sequences that it gets."""

    def __init__(self, adapter: ProcessAdapter, target: Target, done: Conformed) -> None:
        self._adapter = adapter
        self._target = target
        self._done = done
        self._oracles: dict[bytes, Oracle] = {}
        self._names: dict[Signature, str] = {}
        self._seen: set[Signature] = set()
        self._prepare = Prepare(frozenset())

    def begin(self) -> bool:
        """See what the release shows, and replay what is known of it; False if it does not answer."""
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
                divergence = shown_by(known, target.level, self._adapter)
                if divergence is None:
                    self._done.gone.append(known)
                else:
                    self._names[signature(divergence)] = known.name
        return True

    def play(self, cases: Iterator[Case]) -> bool:
        """Play cases until there are no more, or too many diverge; False if the search is over."""
        for case in differing(self._adapter, self._counted(cases)):
            if not isinstance(case, Case):
                self._done.stopped = case
                return False
            self._judge(case)
            if self._done.stopped is not None or len(self._done.new) >= NEW_SHOWN:
                return False
        return True

    def _counted(self, cases: Iterator[Case]) -> Iterator[Case]:
        for case in cases:
            self._done.sequences += 1
            self._done.events += len(case.events)
            yield case

    def _judge(self, case: Case) -> None:
        played = replay(case.oracle, self._adapter, case.events)
        if played.divergence is None:
            self._done.stopped = played.stopped
            return
        looks = signature(played.divergence)
        if looks in self._names:
            self._done.known[self._names[looks]] += 1
        elif looks not in self._seen:
            self._seen.add(looks)
            smallest = shrink(played.divergence, self._adapter)
            shown = signature(smallest)
            name = self._names.get(shown)
            if name is not None:
                self._names[looks] = name
                self._done.known[name] += 1
            elif shown == looks or shown not in self._seen:
                self._seen.add(shown)
                self._done.new.append(smallest)

    # ------------------------------------------------------------ sequences

    def tours(self, nodes: int) -> Iterator[Case]:
        """Tours over every transition of the small state graphs of the profile, event by event."""
        for config in self._target.configs():
            if config["channels"] > 3:
                continue
            oracle = self._oracle(config)
            transitions = [
                Transition(source, event, target, self._is_suspect(event, edge))
                for source, event, target, edge in edges_of(oracle, nodes)
            ]
            self._done.transitions += len(transitions)
            for way in ways_around(transitions, LENGTH):
                yield self._case(oracle, way, (1,) * len(way))

    def _is_suspect(self, event: Wire, edge: Edge) -> bool:
        """The model answers as it does where a known divergence shows."""
        return any(expects(looks) == expected_of(self._target.mode, event, edge) for looks in self._names)

    def directed(self, scripts: Iterable[Sequence[Wire]]) -> Iterator[Case]:
        """Given sequences, in every configuration with enough channels."""
        for script in scripts:
            named = [event["channel"] for event in script if "channel" in event]
            for config in self._target.configs():
                if max(named, default=0) < config["channels"] <= 3:
                    yield self._case(self._oracle(config), script, (1,) * len(script))

    def random(self, count: int, seed: int) -> Iterator[Case]:
        """So many random sequences, through the configurations in turn."""
        configs = self._target.configs()
        for number in range(count):
            config = configs[number % len(configs)]
            rng = Random(f"{seed}/{self._target.seed}/{number}")
            yield self._walk(self._oracle(config), config, rng)

    def _walk(self, oracle: Oracle, config: Wire, rng: Random) -> Case:
        choose = generate.chooser("gate", config, rng)
        edges: list[tuple[Wire, Edge]] = []
        node = oracle.start
        for _ in range(LENGTH):
            event = choose(node.observed)
            if event is None:
                break
            if config["mode"] == "exactly-once" and rng.random() < INJECTED:
                near = node.observed["current"] + rng.randrange(3) - 1
                if near > node.observed["current"] or config["level"] == "handler":
                    event = {"kind": "inject", "checkpoint": max(0, near)}
            edge = oracle.step(node, event)
            if edge.refused is not None:
                continue
            edges.append((event, edge))
            node = edge.after
            if has_failed(edge):
                break
        return self._prepare.case(oracle, edges, BATCHES)

    def _case(self, oracle: Oracle, events: Sequence[Wire], batches: Sequence[int]) -> Case:
        """A given sequence, without what the profile refuses."""
        edges: list[tuple[Wire, Edge]] = []
        node = oracle.start
        for event in events:
            edge = oracle.step(node, event)
            if edge.refused is None:
                edges.append((event, edge))
                node = edge.after
                if has_failed(edge):
                    break
        return self._prepare.case(oracle, edges, batches)

    def _oracle(self, config: Wire) -> Oracle:
        key = canonical(config)
        oracle = self._oracles.get(key)
        if oracle is None:
            oracle = self._oracles[key] = Oracle(self._target.component, config)
        if sum(known.remembered for known in self._oracles.values()) > NODES_AT_ONCE:
            self.finish()
            for known in self._oracles.values():
                known.forget()
            gc.collect()  # nodes know their neighbours, in cycles
        return oracle

    def finish(self) -> None:
        """Gather the rules that fired from what the oracles have walked."""
        for oracle in self._oracles.values():
            self._done.rules |= oracle.fired()


# ---------------------------------------------------------------- small state graphs


def alphabet(config: Wire, observed: Wire) -> Iterator[Wire]:
    """The events of the small models: ids 1 to 3 (2 for three channels), a record where it is taken."""
    channels = config["channels"]
    ids = range(1, 4 if channels < 3 else 3)
    polled = config["level"] == "polled"
    if config["mode"] == "exactly-once":
        known = observed.get("current", -1) if polled else -1
        yield from ({"kind": "inject", "checkpoint": checkpoint} for checkpoint in ids if checkpoint > known)
    alignments: tuple[Wire, ...] = ({},)
    if config["mode"] == "unaligned":
        alignments = ({"alignment": "unaligned"},)
    if config["mode"] == "alternating":
        alignments = ({}, {"alignment": "unaligned"}, {"alignment": "timeout"})
        yield {"kind": "advance", "ms": config["alignment_timeout_ms"] + 1}
    threaded = config["mode"] == "unaligned" and PROFILES[config["profile"]].network_starts
    if threaded:
        yield {"kind": "mail"}
    typed = config["mode"] in OVERTAKING and PROFILES[config["profile"]].type_decides
    for channel in range(channels):
        if polled and channel in observed.get("blocked", ()):
            continue  # what waits in the network has no bound
        for checkpoint in ids:
            for alignment in ({"savepoint": True},) if typed and is_savepoint(checkpoint) else alignments:
                yield {"kind": "barrier", "channel": channel, "checkpoint": checkpoint, **alignment}
            yield {"kind": "cancel", "channel": channel, "checkpoint": checkpoint}
            if threaded:
                received = {"channel": channel, "checkpoint": checkpoint, "alignment": "unaligned"}
                yield {"kind": "receive_barrier", **received}
            if config["mode"] == "alternating" and not typed:
                announced = {"channel": channel, "checkpoint": checkpoint, "alignment": "timeout"}
                yield {"kind": "announce", **announced}
        if polled:
            yield {"kind": "record", "channel": channel, "value": 1}
        yield {"kind": "end_of_partition", "channel": channel}


def graph(oracle: Oracle, nodes: int) -> Iterator[tuple[int, Wire, int]]:
    """Transitions of the state graph, breadth first, as far as the first `nodes` states go."""
    return ((source, event, target) for source, event, target, _ in edges_of(oracle, nodes))


def edges_of(
    oracle: Oracle, nodes: int, events: Callable[[Wire, Wire], Iterator[Wire]] | None = None
) -> Iterator[tuple[int, Wire, int, Edge]]:
    """The same with what the model answers; `events` in place of a gate's alphabet."""
    numbers: dict[Hashable, int] = {oracle.key(oracle.start): 0}
    queue: deque[Node] = deque([oracle.start])
    while queue:
        node = queue.popleft()
        source = numbers[oracle.key(node)]
        for event in (events or alphabet)(oracle.config, node.observed):
            edge = oracle.step(node, event)
            if edge.refused is not None:
                continue
            key = oracle.key(edge.after)
            if key not in numbers:
                if len(numbers) >= nodes:
                    continue
                numbers[key] = len(numbers)
                if not has_failed(edge):
                    queue.append(edge.after)
            yield source, event, numbers[key], edge
