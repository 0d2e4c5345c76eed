"""Lock-step: the bundled implementation beside the model, from pinned runs to Hypothesis.

Pinned runs come first: the scenarios of every generation, and a case of each rule wherever it can fire. Tours
take every transition of the small closed models; directed cases take every path that z3 reads in a step
function and that a closed model reaches; seeded walks go on with larger ids and more channels; Hypothesis
looks where the others did not. A thorough run has directed cases for the gate of every mode and profile, and
asks z3 about the paths without one; the others do so for the gates of the newest.
"""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from conformance.adapters.bundled import bundled_adapter
from conformance.cases.directed import aimed, graphs_of
from conformance.cases.hypothesis_machines import run_machine
from conformance.cases.pinned_runs import play_pinned
from conformance.cases.tours import tours
from conformance.cases.walks import walks
from conformance.drive.lockstep import Divergence, Played, replay
from conformance.drive.oracle import Oracle
from conformance.drive.shrink import shrink
from conformance.generators import generate
from conformance.parts.result import Context, Finding, PartResult, verdict_of
from conformance.report.divergence import phrases
from conformance.report.divergence.saved import save
from conformance.report.divergence.story import Telling, tell
from conformance.rules.coverage import coverage
from model.checker.explore import Graph
from model.script import Script, script

WALKS = {
    "gate": 2500,
    "channel": 300,
    "subtask": 1000,
    "coordinator": 700,
    "store": 500,
    "sink": 500,
    "offsets": 300,
    "source": 300,
}
EXAMPLES = 30
PATHS_HIT = {"gate": 794, "channel": 269, "subtask": 190, "coordinator": 214, "store": 17, "offsets": 26}
"""How many of the paths that z3 reads the closed models take, at least; a number that falls is a finding."""
NO_RULE = "none"
"""Charged where the implementation acts although the model says that no rule fires."""


class Driven(NamedTuple):
    """What came of one component."""

    numbers: Counter[str]
    fired: frozenset[str]
    findings: tuple[Finding, ...]


def run(context: Context) -> PartResult:
    """Drive every component until it diverges or all is done, each in a process of its own."""
    context.say("lock-step: tours, directed cases, walks and Hypothesis")
    components = sorted(generate.COMPONENTS, key=_LONGEST_FIRST.index)
    quiet = replace(context, say=_nobody)
    with ProcessPoolExecutor(context.processes) as pool:
        driven = list(pool.map(drive, components, [quiet] * len(components)))
    numbers = sum((one.numbers for one in driven), Counter[str]())
    fired = frozenset[str]().union(*(one.fired for one in driven))
    findings = tuple(finding for one in driven for finding in one.findings)
    steps = f"{numbers['steps']:,} steps, all {numbers['transitions']:,} transitions toured"
    paths = phrases.of_paths(numbers["paths"], numbers["paths_hit"], numbers["paths_excluded"])
    return PartResult(
        name="lock-step",
        verdict=verdict_of(findings),
        bound=f"{steps}, {paths}, {len(fired)} rules fired",
        numbers={**numbers, "rules": len(fired)},
        rules=tuple(sorted(fired)),
        findings=findings,
        again=f"barrierspec verify --only lock-step --seed {context.seed}" + " --thorough" * context.thorough,
    )


def drive(component: str, context: Context) -> Driven:
    """One component: pinned runs, tours and directed cases, then walks and Hypothesis."""
    numbers: Counter[str] = Counter()
    played = play_pinned(component, bundled_adapter())
    numbers.update(pinned=played.cases)
    if played.divergence is None:
        played.add(_tour(component, numbers, thorough=context.thorough))
    if played.divergence is None:
        _walk(component, context, played, numbers)
    numbers.update(steps=played.steps, cases=played.cases)
    findings = tuple(_findings(component, played, context.build))
    wanted = PATHS_HIT.get(component, 0)
    if not findings and numbers["paths_hit"] < wanted:
        line = f"{component}: {numbers['paths_hit']} paths of the step functions hit, {wanted} were before"
        findings = (Finding(None, line),)
    return Driven(numbers, frozenset(played.fired), findings)


_LONGEST_FIRST = ("coordinator", "gate", "channel", "subtask", "sink", "store", "offsets", "source")


def _nobody(what: str) -> None:
    """A process of its own tells nobody what it is doing."""


def _tour(component: str, numbers: Counter[str], *, thorough: bool) -> Played:
    """Tours and directed cases over the closed models of one component."""
    played = Played()
    adapter = bundled_adapter()
    graphs = list(graphs_of(component))
    scripts: list[Script] = []
    for graph in graphs:
        scripts += _tours_of(graph)
        numbers["transitions"] += len(graph.transitions)
    numbers["tours"] += len(scripts)
    for directed in aimed(component, graphs, thorough=thorough):
        scripts += directed.scripts
        numbers["paths"] += directed.paths
        numbers["paths_hit"] += directed.hit
        numbers["paths_excluded"] += directed.excluded
    oracles: dict[str, Oracle] = {}
    for one in scripts:
        oracle = oracles.setdefault(repr(one.config), Oracle(one.component, one.config))
        played.add(replay(oracle, adapter, (*one.opening, *one.events)))
        if played.divergence is not None:
            break
    return played


def _tours_of(graph: Graph) -> Iterator[Script]:
    edges = [(edge.source, edge.event, edge.target) for edge in graph.transitions]
    for way in tours(0, edges):
        yield script(graph.closed, way)


def _walk(component: str, context: Context, played: Played, numbers: Counter[str]) -> None:
    """Seeded walks and Hypothesis."""
    adapter = bundled_adapter()
    share = 10 if context.quick else 1
    walked, _ = walks(component, adapter, context.seed, WALKS[component] // share, injects=True)
    played.add(walked)
    if played.divergence is None:
        examples = EXAMPLES // min(share, 3)
        found = run_machine(component, adapter, context.seed, examples, injects=True)
        played.add(found.played)
        numbers["examples"] += examples


def _findings(component: str, played: Played, build: Path) -> Iterator[Finding]:
    if played.divergence is not None:
        smallest = shrink(played.divergence, bundled_adapter())
        yield Finding(smallest.rule or NO_RULE, _line(component, smallest), _told(smallest, played, build))
    elif played.stopped is not None:
        yield Finding(None, f"{component}: {played.stopped.describe()}")
    else:
        covered = coverage(component, played.fired, injects=True)
        if not covered.is_full:
            yield Finding(None, f"{component} is under-covered: {covered.describe()}")


def _line(component: str, divergence: Divergence) -> str:
    return f"{component} diverges at step {divergence.step}, {dict(divergence.event)}"


def _told(divergence: Divergence, played: Played, build: Path) -> str:
    """The story of a divergence, saved so that it can be played again."""
    telling = Telling(divergence, "barrierspec-impl", "impl", played.steps)
    return tell(telling, save(telling, None, build / "divergences"))
