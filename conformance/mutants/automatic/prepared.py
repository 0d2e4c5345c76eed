"""Judging the mutants of one folder in processes that are forked from one that has loaded and run everything.

What a mutant cannot change is made once: the cases, their invariants, closed models, graphs, the answers of
the model. Each unit of a judge runs once without an edit, which shows the statements that it runs and the
time that it takes. A mutant is a change of code in a forked process, judged by the units that run its edit.
"""

import gc
import sys
import time
from collections.abc import Iterable
from functools import _lru_cache_wrapper, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from conformance import machine
from conformance.mutants.automatic.complaints import Judged, is_by_rule
from conformance.mutants.automatic.coverage import Marks, Places, place_of
from conformance.mutants.automatic.equivalent import changed, same_paths
from conformance.mutants.automatic.forked import SECONDS, answers, limited
from conformance.mutants.automatic.judges import Judges, Unit
from conformance.mutants.automatic.modules import LAYERS, modules
from conformance.mutants.automatic.operators import Edit
from conformance.mutants.source_edit import install_text

SLOWER = 10
"""A mutant may take this number of times as long as the original, plus the seconds that follow."""
LEAST = 5.0
CRASHES = 25
"""With `first`, a judge whose first units all crash tries no more of them."""


class Run(NamedTuple):
    """A unit, as it ran without an edit."""

    unit: Unit
    places: Places
    """The places in the code that the unit runs."""
    seconds: float


class Prepared:
    """The judges of a folder, and what each of their units runs."""

    def __init__(self, layer: str, folder: str, judges: Judges, edits: Iterable[Edit]) -> None:
        """`edits`: those that will be judged; only their statements report that they run."""
        self._files = machine.HOME / LAYERS[layer] / folder
        self._judges = judges
        sources = {name: text for name, text in modules(layer) if name.split(".")[-2] == folder}
        self._marks = Marks(sources, frozenset(map(self._place_of, edits)))
        for name in sources:
            import_module(name)
        names = [judge for judge in judges.names if judge != "lock-step"]
        units = {judge: [*judges.units(judge)] for judge in names}
        self._assume(units.get("proofs", []))
        self._early = self._marks.taken()
        if layer == "model":
            judges.record(keeps=False)
        units["lock-step"] = [*judges.units("lock-step")]
        self.complaint = ""
        """The complaint about the folder without an edit; empty: none."""
        self._runs = {judge: [*map(self._run, some)] for judge, some in units.items()}
        gc.collect()
        gc.freeze()

    def judged(self, edit: Edit, text: str, *, first: bool) -> Judged | None:
        """The mutant with this text; None if it must be judged where nothing is prepared.

        That is what changes more than functions, or a statement that ran while the judges were prepared.
        """
        place = self._place_of(edit)
        if place in self._early:
            return None
        runs = {judge: [run for run in some if place in run.places] for judge, some in self._runs.items()}
        is_function, *found = answers(_judge, (edit, text, runs, first))
        if not is_function:
            return None
        if not any(runs.values()):
            return Judged(edit, dict.fromkeys(self._judges.names, ""), is_run=False)
        judged = of_answers(edit, found, self._judges.names, first=first)
        cases = [run.unit.case for run in runs.get("proofs", []) if run.unit.case is not None]
        if judged.survives and cases:
            for same in answers(_prove, (edit, text, cases, self._judges.assumed)):
                return judged._replace(same_paths=same)
        return judged

    def _place_of(self, edit: Edit) -> tuple[str, int]:
        return place_of(edit, self._files / f"{edit.module.rsplit('.', 1)[-1]}.py")

    def _assume(self, units: Iterable[Unit]) -> None:
        from model.checker.prove import assume_invariants
        from model.properties import of_component
        from model.registry import Start

        for case in (unit.case for unit in units):
            if case is not None and type(case.event) is not Start:
                shape = f"{case.component} {case.state!r}"
                if shape not in self._judges.assumed:
                    known = of_component(case.component)
                    self._judges.assumed[shape] = assume_invariants(case.state, known)

    def _run(self, unit: Unit) -> Run:
        forget()
        self._marks.taken()
        begun = time.process_time()
        self.complaint = self.complaint or unit.complaint()
        return Run(unit, self._marks.taken(), time.process_time() - begun)


def serve(layer: str, folder: str, edits: Iterable[Edit], dumps: Path, first: bool, found: Any) -> None:  # noqa: ANN401 - a connection
    """Send the complaint of the folder without an edit, and each edit with its outcome or None."""
    texts = dict(modules(layer))
    judges = Judges(layer, folder, dumps)
    left = [*edits]
    if layer == "impl":  # the scripts need no implementation: it is loaded with an edit outside of functions
        judges.record(keeps=True)
        outside = [edit for edit in left if ":module:" in edit.id]
        for edit in outside:
            found.send((edit, judge_anew(edit, edit.apply(texts[edit.module]), judges, first=first)))
        left = [edit for edit in left if edit not in outside]
    prepared = Prepared(layer, folder, judges, left)
    found.send((None, prepared.complaint))
    for edit in left if not prepared.complaint else ():
        found.send((edit, prepared.judged(edit, edit.apply(texts[edit.module]), first=first)))


def unchanged_scripts(layer: str, folder: str, dumps: Path, found: Any) -> None:  # noqa: ANN401 - a connection
    """Send the scripts of lock-step: with a mutant of the model loaded, other events would be drawn."""
    judges = Judges(layer, folder, dumps)
    judges.record(keeps=False)
    found.send(judges.scripts)


def judge_anew(edit: Edit, text: str, judges: Judges, *, first: bool) -> Judged:
    """Judge one mutant in a process that loads the mutated module, and runs everything."""
    found = [*answers(_judge_anew, (edit, text, judges, first))]
    judged = of_answers(edit, found, judges.names, first=first)
    if edit.module.startswith("model.") and judged.survives:
        for same in answers(_prove, (edit, text, None, {})):
            return judged._replace(same_paths=same)
    return judged


def of_answers(edit: Edit, found: list[str], names: Iterable[str], *, first: bool) -> Judged:
    """The outcome of a mutant by the answers of its judges; one that does not answer has crashed."""
    names = tuple(names)
    if len(found) < len(names) and not (first and found and is_by_rule(found[-1])):
        found.append("crash: no answer")  # out of memory, a crash of z3, or a hang
    return Judged(edit, dict(zip(names, found, strict=False)))


def forget() -> None:
    """Drop what functions of the model and of the implementation have kept of earlier calls."""
    for one in _keeping(len(sys.modules)):
        one.cache_clear()


@lru_cache(maxsize=1)
def _keeping(_modules: int) -> tuple["_lru_cache_wrapper[Any]", ...]:
    """The functions that keep what they returned, among all modules that are loaded by now."""
    return tuple(
        one
        for name, module in list(sys.modules.items())
        if name.startswith(("model.", "impl."))
        for one in vars(module).values()
        if isinstance(one, _lru_cache_wrapper)
    )


def _judge(edit: Edit, text: str, runs: dict[str, list[Run]], first: bool, found: Any) -> None:  # noqa: ANN401
    try:
        pairs = changed(import_module(edit.module), text)
    except Exception:  # noqa: BLE001 - it cannot be loaded
        pairs = ()
    found.send(bool(pairs))
    for original, mutated in pairs:
        original.__code__, original.__defaults__ = mutated.__code__, mutated.__defaults__
    forget()
    for some in runs.values() if pairs else ():
        timed = ((run.unit, LEAST + SLOWER * run.seconds) for run in some)
        complaint = _first_complaint(timed, first=first)
        found.send(complaint)
        if first and is_by_rule(complaint):
            break


def _judge_anew(edit: Edit, text: str, judges: Judges, first: bool, found: Any) -> None:  # noqa: ANN401
    install_text(edit.module, text)
    for judge in judges.names:

        def complains(judge: str = judge) -> str:
            return _first_complaint(((unit, SECONDS) for unit in judges.units(judge)), first=first)

        complaint = limited(complains)
        found.send(complaint)
        if first and is_by_rule(complaint):
            break


def _first_complaint(units: Iterable[tuple[Unit, float]], *, first: bool) -> str:
    """The first complaint by a rule; if there is none, of the first crash or time-out."""
    other, goes_on = "", False
    for number, (unit, seconds) in enumerate(units):
        if first and number == CRASHES and not goes_on:
            break
        complaint = limited(unit.complaint, seconds) if seconds else unit.complaint()
        if is_by_rule(complaint):
            return str(complaint)
        other = other or complaint
        goes_on = goes_on or not complaint
        if complaint.startswith("too long"):
            break
    return str(other)


def _prove(edit: Edit, text: str, cases: Any, assumed: Any, found: Any) -> None:  # noqa: ANN401
    forget()
    same = limited(lambda: same_paths(edit, text, cases, assumed), SECONDS)
    found.send(same if isinstance(same, int) else 0)
