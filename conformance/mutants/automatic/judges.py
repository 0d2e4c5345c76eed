"""The judges of automatic mutants of model and implementation: proofs, exploration, triangle, lock-step.

The work of a judge consists of independent units. A unit returns a complaint, or an empty text. A judge
starts with its smallest units, because they kill most mutants.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from conformance.mutants.automatic.complaints import crash, too_long
from conformance.mutants.automatic.lockstep_scripts import Script, scripts_of
from conformance.mutants.score import sources
from spec.manifest import load_manifest

if TYPE_CHECKING:
    from conformance.drive.oracle import Oracles
    from model.checker.closed_model import ClosedModel
    from model.checker.prove import Assumed, Case
    from spec.stategraph import StateGraph

LIMIT = 200_000
"""A mutated closed model with more states counts as unbounded.

The largest original has a quarter of these.
"""
TOGETHER = 20
"""Number of cases of lock-step in one unit."""


class Unit(NamedTuple):
    """A part of a judge's work."""

    complaint: Callable[[], str]
    """Returns the complaint; empty if there is none."""
    case: "Case | None" = None
    """The symbolic case, if the judge is `proofs`; else None."""


def exploration(folder: str) -> Iterator[Unit]:
    """A unit for each closed model of the folder. Its complaint names the rules that break first."""
    for closed in _closed_models(folder):
        yield Unit(partial(_explored, closed))


def _explored(closed: "ClosedModel") -> str:
    from model.checker.explore import TooManyStatesError, explore
    from model.properties import of_component

    known = of_component(closed.component)
    try:
        found = explore(closed, known, keep_transitions=False, limit=LIMIT).violation
    except TooManyStatesError:
        return too_long(f"unbounded {closed.name}")
    return "" if found is None else " ".join(found.rules)


def proofs(folder: str, assumed: "Assumed") -> Iterator[Unit]:
    """A unit for each symbolic case of the folder. Its complaint names the first rule that z3 refutes.

    `assumed`: stores the invariants of each shape.
    """
    for case in cases_of(folder):
        yield Unit(partial(_refuted, case, assumed), case)


def cases_of(folder: str) -> "list[Case]":
    """The symbolic cases of a folder in `model.proofs`, small states first."""
    from model.proofs import all_cases

    cases = [case for case in all_cases() if folder_of_state(case.state) == folder]
    return sorted(cases, key=lambda case: len(repr(case.state)))


def _refuted(case: "Case", assumed: "Assumed") -> str:
    from model.checker.prove import prove
    from model.checker.vacuity import key_of
    from model.properties import of_component

    known = of_component(case.component)
    matter = {key_of(found) for found in known}  # skips the check of vacuity, which takes a third of the time
    refuted = prove((case,), known, stop_at_first=True, assumed=assumed, mattered=matter).refutations
    return refuted[0].rule if refuted else ""


def triangle(folder: str, dumps: Path) -> Iterator[Unit]:
    """A unit for each model. It has a complaint if the graphs of TLC and of the explorer differ.

    This judge does not use z3's relation, because z3 reads it from the mutant itself.
    """
    from conformance.compare.triangle import compare
    from conformance.components.registry import projection_of

    models = [one for one in load_manifest().values() if one.is_compared(thorough=False)]
    for model in sorted(models, key=lambda one: one.states):
        projection = projection_of(model)._replace(cases=None)
        if folder_of_state(projection.closed_model.state) == folder:
            graph = _graph(model.name, dumps)

            def differs(name: str = model.name, graph: Any = graph, projection: Any = projection) -> str:  # noqa: ANN401
                return "" if compare(name, graph, projection).difference is None else name

            yield Unit(differs)


@cache
def _graph(name: str, dumps: Path) -> "StateGraph":
    from spec.stategraph import state_graph

    return state_graph(load_manifest()[name], kept=dumps)


def lockstep(scripts: Iterable[Script], oracles: "Mapping[str, Oracles]") -> Iterator[Unit]:
    """Units of several cases each. The complaint of a unit is the rule charged at the first divergence.

    `oracles`: the oracles of the model by component, which all units share. Empty if the model is the mutant:
    then each unit makes new ones.
    """
    waiting = iter(scripts)
    while together := tuple(islice(waiting, TOGETHER)):
        yield Unit(partial(_diverges, together, oracles))


def _diverges(scripts: tuple[Script, ...], kept: "Mapping[str, Oracles]") -> str:
    from conformance.adapters.bundled import bundled_adapter
    from conformance.adapters.protocol import Crashed, Made
    from conformance.drive.lockstep import Case, given
    from conformance.drive.loop import drive
    from conformance.drive.oracle import Oracles
    from model.components import WireError

    oracles = kept or {script.component: Oracles(script.component) for script in scripts}
    adapter, cases = bundled_adapter(), list[Case]()
    for one in scripts:
        try:
            oracle = oracles[one.component].of(one.config)
        except WireError:
            if isinstance(adapter.new(one.component, one.config), Made):
                return "configuration accepted"
        else:
            cases.append(given(oracle, one.events)._replace(plays_on=True))
    played = drive(cases, adapter)
    if (found := played.divergence) is not None:
        return crash(found.got.how) if isinstance(found.got, Crashed) else found.rule or "no rule"
    if played.skipped:
        return f"not offered: {played.skipped[0]}"
    return "" if played.stopped is None else f"not made: {played.stopped.describe()}"


PLAYED: Mapping[str, tuple[str, ...]] = {"dataflow": (), "store": ("store", "coordinator")}
"""The components that lock-step plays for a folder. A folder that is not listed plays its own component.

The coordinator uses the modules of the store, too. The dataflow has no adapter.
"""
JUDGES: Mapping[str, tuple[str, ...]] = {
    "spec": ("TLC",),
    "model": ("proofs", "exploration", "triangle", "lock-step"),
    "impl": ("lock-step",),
}
"""The judges of each layer, in the order of the report. Only lock-step runs the implementation."""


class Judges:
    """The judges of a layer and folder. Their units are made at the first use."""

    def __init__(self, layer: str, folder: str, dumps: Path) -> None:
        self.names = JUDGES[layer]
        self._folder = folder
        self._dumps = dumps
        self.scripts: list[Script] | None = None
        """The scripts of lock-step; None until their first use."""
        self._oracles: dict[str, Oracles] = {}

    @cached_property
    def assumed(self) -> "Assumed":
        """The invariants of each shape. They are made at the first use, because this loads the protocol."""
        from model.checker.prove import Assumed

        return Assumed()

    def record(self, *, keeps: bool) -> None:
        """Make the scripts of lock-step, or read stored ones that were made of the same sources.

        `keeps`: whether to store the model's answers to them, too. Requires that the model is not the mutant.
        """
        from conformance.drive.oracle import Oracles
        from model.components import WireError

        file = self._dumps / f"scripts-{self._folder}-{sources()}.json"
        if not file.is_file():
            self._dumps.mkdir(parents=True, exist_ok=True)
            part = file.with_suffix(f".{os.getpid()}")
            part.write_bytes(orjson.dumps([tuple(one) for one in self._played()]))
            part.replace(file)
        self.scripts = [
            Script(component, config, tuple(events))
            for component, config, events in orjson.loads(file.read_bytes())
        ]
        for script in self.scripts if keeps else ():
            oracles = self._oracles.setdefault(script.component, Oracles(script.component))
            with suppress(WireError):  # the model refuses the configuration
                oracles.of(script.config).transcript(script.events)

    def units(self, judge: str) -> Iterator[Unit]:
        """The units of a judge."""
        folder = self._folder
        match judge:
            case "proofs":
                return proofs(folder, self.assumed)
            case "exploration":
                return exploration(folder)
            case "triangle":
                return triangle(folder, self._dumps)
            case _:
                return lockstep(self._played() if self.scripts is None else self.scripts, self._oracles)

    def _played(self) -> Iterator[Script]:
        for component in PLAYED.get(self._folder, (self._folder,)):
            yield from scripts_of(component)


def _closed_models(folder: str) -> "Iterable[ClosedModel]":
    from model.closed_models import closed_models
    from model.dataflow.environment import SHORT, closed_dataflow

    if folder == "dataflow":
        return map(closed_dataflow, SHORT)
    return [closed for closed in closed_models() if folder_of_state(closed.state) == folder]


def folder_of_state(state: object) -> str:
    """The folder of `model/` that declares the records of a component's state."""
    return type(state).__module__.split(".")[1]
