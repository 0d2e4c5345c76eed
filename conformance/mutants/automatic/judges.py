"""The judges of automatic mutants: proofs, exploration, triangle, lock-step and TLC, each by itself.

A judge stops at its first complaint and returns it. It starts with what is small, as most mutants fall there.
All but TLC run in a process that has loaded the mutated module.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from spec.manifest import load_manifest
from spec.modules import STANDARD, module_text

LIMIT = 200_000
"""A closed model with more nodes than this has no bound any more: the largest has a quarter."""
SECONDS = 300
"""Time limit of TLC for one model."""
UNPARSED = "no TLA+"
"""Of an edit that is no mutant."""
WALKS = 300
"""Seeded walks of lock-step, before the tours."""
SEED = 20261121


def exploration(folder: str) -> str:
    """The first rules that are broken in a closed model of the folder."""
    from model.checker.explore import TooManyStatesError, explore
    from model.properties import of_component

    for closed in _closed_models(folder):
        try:
            found = explore(
                closed, of_component(closed.component), keep_transitions=False, limit=LIMIT
            ).violation
        except TooManyStatesError:
            return f"unbounded: {closed.name}"
        if found is not None:
            return " ".join(found.rules)
    return ""


def proofs(folder: str) -> str:
    """The first rule that z3 refutes in a case of the folder."""
    from model.checker.prove import prove
    from model.proofs import all_cases
    from model.properties import PROPERTIES

    cases = [case for case in all_cases() if _folder_of(case.state) == folder]
    cases.sort(key=lambda case: len(repr(case.state)))
    refuted = prove(cases, PROPERTIES, stop_at_first=True).refutations
    return refuted[0].rule if refuted else ""


def triangle(folder: str, dumps: Path) -> str:
    """The first model whose graph differs between TLC and the explorer; z3 reads the mutant itself."""
    from conformance.compare.triangle import compare
    from conformance.components.registry import projection_of
    from spec.stategraph import state_graph

    models = [one for one in load_manifest().values() if one.is_compared(thorough=False)]
    for model in sorted(models, key=lambda one: one.states):
        projection = projection_of(model)
        if _folder_of(projection.closed_model.state) == folder:
            graph = state_graph(model, kept=dumps)
            if compare(model.name, graph, projection._replace(cases=None)).difference is not None:
                return model.name
    return ""


def lockstep(folder: str) -> str:
    """The rule at the first divergence of the bundled implementation from the model."""
    from spec.vocabulary import vocabulary

    if folder not in vocabulary():
        return ""  # the composition has no adapter
    from conformance.adapters.bundled import bundled_adapter
    from conformance.cases.directed import graphs_of
    from conformance.cases.pinned_runs import pinned_runs
    from conformance.cases.scripts import scripted, tours_of
    from conformance.cases.walks import walks
    from conformance.drive.loop import drive

    toured = (one for graph in graphs_of(folder) for one in tours_of(graph))
    adapter = bundled_adapter()
    cases: Iterable[Any]
    for cases in (
        pinned_runs(folder),
        islice(walks(folder, SEED, injects=True), WALKS),
        scripted(toured, "tour"),
    ):
        played = drive(cases, adapter)
        if played.divergence is not None:
            return played.divergence.rule or "no rule"
        if played.stopped is not None:
            return f"stopped: {played.stopped.describe()}"
    return ""


JUDGES: Mapping[str, Callable[[str, Path], str]] = {
    "proofs": lambda folder, _: proofs(folder),
    "exploration": lambda folder, _: exploration(folder),
    "triangle": triangle,
    "lock-step": lambda folder, _: lockstep(folder),
}
"""Of mutants of the model, by name, in the order of the table; a complaint of nothing is empty."""


def tlc(module: str, text: str) -> str:
    """The first definition that TLC finds violated in a model that reads this text of a module.

    The pinned numbers of states are not compared: only the rules, and what TLC cannot evaluate.
    """
    from spec.tlc import TlcTimeoutError, job_of, run, specification
    from spec.tool_output import Location, TlcError, UnparsedError

    models = [one for one in load_manifest().values() if one.violates is None and not one.thorough]
    with specification() as folder:
        (folder / f"{module}.tla").write_text(text, "utf-8")
        for model in sorted(models, key=lambda one: one.states):
            if module in read_by(model.module):
                try:
                    found = run(job_of(model), folder, timeout=SECONDS).violated
                except TlcTimeoutError:
                    return f"unbounded: {model.name}"
                except UnparsedError:
                    return UNPARSED
                except TlcError:
                    return f"crash: {model.name}"
                if found is not None:
                    return (
                        f"line {found.line} of {found.module}" if isinstance(found, Location) else str(found)
                    )
    return ""


@cache
def read_by(module: str) -> frozenset[str]:
    """The modules that TLC reads for one: itself, and what it extends or instantiates."""
    text = module_text(module)
    lines = re.findall(r"^EXTENDS (.*)|INSTANCE (\w+)", text, re.MULTILINE)
    named = {name for line in lines for name in re.findall(r"\w+", " ".join(line))} - {*STANDARD}
    return frozenset({module}).union(*map(read_by, named))


def _closed_models(folder: str) -> Iterable[Any]:
    from model.closed_models import closed_models
    from model.dataflow.environment import SHORT, closed_dataflow

    if folder == "dataflow":
        return map(closed_dataflow, SHORT)
    return [closed for closed in closed_models() if _folder_of(closed.state) == folder]


def _folder_of(state: object) -> str:
    """The folder of `model/` that declares the records of a component's state."""
    return type(state).__module__.split(".")[1]
