"""Lock-step: compares the bundled implementation with the model, from seedless runs to Hypothesis.

Seedless runs come first: scenarios of every generation, and a case of each rule wherever it can fire. Tours
take every transition of the small closed models, those of the smallest models also with large ids and late
times. Directed cases take every path that z3 reads in a step function and that a closed model reaches. Seeded
walks have larger ids and more channels. Hypothesis varies the events of walks. A thorough run has directed
cases for the gate of every mode and profile, and z3 tries to prove that no run takes the other paths. Other
runs do this only for gates of the newest profile.
"""

import gc
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from conformance.adapters.bundled import bundled_adapter
from conformance.cases.directed import directed_for, graphs_of
from conformance.cases.hypothesis_machines import Source, run_machine
from conformance.cases.scripts import scripted, tours_of
from conformance.cases.seedless_runs import seedless_runs
from conformance.cases.walks import WalkOptions, walks
from conformance.components.registry import COMPONENTS as REGISTRY
from conformance.divergence import Divergence
from conformance.drive.bounds.values import ALL
from conformance.drive.lockstep import Case, Played
from conformance.drive.loop import drive
from conformance.drive.saved import save
from conformance.drive.shrinking.shrink import shrink
from conformance.generators import generate
from conformance.parts.result import Context, Finding, PartResult, silent, verdict_of
from conformance.report.divergence import phrases
from conformance.report.divergence.description import FoundDivergence, describe
from conformance.rules.coverage import coverage

EXAMPLES = 30
MAPPED = 1_000
"""The maximum number of transitions of graphs whose tours also run with other ids and other times."""
RARELY = (500_000, 20, 20)
"""Thresholds of the garbage collector. By default it often scans the graphs, which have no garbage."""
NO_RULE = "none"
"""The id in reports if the implementation acts although no rule fires in the model."""


class Driven(NamedTuple):
    """The result of one component."""

    numbers: Counter[str]
    fired: frozenset[str]
    findings: tuple[Finding, ...]
    without_jar: str = ""
    """The component, and its profiles with which no released jar is driven; empty if there is none."""


def run(context: Context) -> PartResult:
    """Drive every component in a separate process, until it diverges or all cases are done."""
    context.progress("lock-step: tours, directed cases, walks and Hypothesis")
    components = sorted(generate.COMPONENTS, key=lambda name: (*_LONGEST_FIRST, name).index(name))
    quiet = replace(context, progress=silent)
    with ProcessPoolExecutor(context.processes, initializer=gc.set_threshold, initargs=RARELY) as pool:
        driven = list(pool.map(drive_all, components, [quiet] * len(components)))
    numbers = sum((one.numbers for one in driven), Counter[str]())
    fired = frozenset[str]().union(*(one.fired for one in driven))
    findings = tuple(finding for one in driven for finding in one.findings)
    steps = f"{numbers['steps']:,} steps, all {numbers['transitions']:,} transitions toured"
    without = ", ".join(sorted(one.without_jar for one in driven if one.without_jar))
    paths = phrases.of_paths(numbers["paths"], numbers["paths_hit"], numbers["paths_excluded"])
    return PartResult(
        name="lock-step",
        verdict=verdict_of(findings),
        bound=f"{steps}, {paths}, {len(fired)} rules fired"
        + (f"; no released jar was compared with {without}" if without else ""),
        numbers={**numbers, "rules": len(fired)},
        rules=tuple(sorted(fired)),
        findings=findings,
        again=f"barrierspec verify --only lock-step --seed {context.seed}" + " --thorough" * context.thorough,
    )


def drive_all(component: str, context: Context) -> Driven:
    """Drive one component: seedless runs, tours and directed cases, then walks and Hypothesis."""
    counted: Counter[str] = Counter()
    adapter = bundled_adapter()
    share = 10 if context.quick else 1
    drawn = walks(component, context.seed, WalkOptions(injects=True), maps=ALL)
    walked = islice(drawn, REGISTRY[component].walks // share)
    played = Played()
    for cases in (seedless_runs(component), _scripts(component, counted, thorough=context.thorough), walked):
        drive(cases, adapter, total=played)
    examples = EXAMPLES // min(share, 3)
    if played.divergence is None:
        run_machine(component, adapter, Source(context.seed, examples, injects=True), played)
        counted["examples"] = examples
    counted.update(steps=played.steps, cases=played.cases, pinned=played.origins["seedless"])
    findings = tuple(_findings(component, played, context.build))
    expected = REGISTRY[component].paths_hit
    if not findings and counted["paths_hit"] < expected:
        line = f"{component}: {counted['paths_hit']} paths of the step functions hit, {expected} were before"
        findings = (Finding(None, line),)
    without = " ".join([component, *played.tried.profiles_without_jar]) if played.tried.unseen else ""
    return Driven(counted, frozenset(played.fired), findings, without)


_LONGEST_FIRST = ("coordinator", "gate", "channel", "subtask")


def _scripts(component: str, counted: Counter[str], *, thorough: bool) -> Iterator[Case]:
    """Tours of the closed models of one component, and directed cases. Adds their numbers to `counted`."""
    graphs = list(graphs_of(component))
    toured = [one for graph in graphs for one in tours_of(graph)]
    counted.update(transitions=sum(len(graph.transitions) for graph in graphs), tours=len(toured))
    yield from scripted(toured, "tour")
    small = [one for graph in graphs if len(graph.transitions) <= MAPPED for one in tours_of(graph)]
    for values in ALL if small else ():
        yield from scripted(small, "tour", values)
    for directed in directed_for(component, graphs, thorough=thorough):
        counted.update(paths=directed.paths, paths_hit=directed.hit, paths_excluded=directed.excluded)
        yield from scripted(directed.scripts, "directed")


def _findings(component: str, played: Played, build: Path) -> Iterator[Finding]:
    if played.divergence is not None:
        smallest = shrink(played.divergence, bundled_adapter())
        yield Finding(smallest.rule or NO_RULE, _line(component, smallest), _text(smallest, played, build))
    elif played.stopped is not None:
        yield Finding(None, f"{component}: {played.stopped.describe()}")
    else:
        covered = coverage(component, played.fired, injects=True)
        if not covered.is_full:
            yield Finding(None, f"{component} is under-covered: {covered.describe()}")


def _line(component: str, divergence: Divergence) -> str:
    return f"{component} diverges at step {divergence.step}, {dict(divergence.event)}"


def _text(divergence: Divergence, played: Played, build: Path) -> str:
    """The description of a divergence. Also saves the divergence for replays."""
    found = FoundDivergence(divergence, "barrierspec-impl", "impl", played.steps)
    return describe(found, save(found, None, build / "divergences"))
