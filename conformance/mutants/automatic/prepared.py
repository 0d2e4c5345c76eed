"""Judges the mutants of one folder in forks of a process that has loaded all modules and run all units once.

That process computes all data that no mutant changes: the cases, their invariants, closed models, graphs, and
the answers of the model. It runs each unit of a judge once without an edit, and records which statements the
unit runs and how long it takes. A fork applies the edit of one mutant, and runs only the units that run the
edited statement. The process prepares units in groups, at their first use: the first group kills most
mutants.
"""

import gc
import sys
import time
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from conformance import machine
from conformance.mutants.automatic.complaints import UNTYPED, Judged, crash, is_by_rule, is_crash
from conformance.mutants.automatic.coverage import Marks, Places, is_alike, place_of
from conformance.mutants.automatic.equivalent import Pairs, changed, same_paths
from conformance.mutants.automatic.forked import SECONDS, answers, forget, limited
from conformance.mutants.automatic.judges import Judges, Unit
from conformance.mutants.automatic.modules import LAYERS, modules
from conformance.mutants.automatic.mypy_refusals import is_refused
from conformance.mutants.automatic.operators import Edit
from conformance.mutants.source_edit import install_text

SLOWER = 10
"""A unit with a mutant may take SLOWER times as long as with the original, plus LEAST."""
LEAST = 5.0
"""In seconds."""
NO_ANSWER = crash("no answer")
"""The complaint if the process of a judge sends no result: out of memory, a crash of z3, a hang."""
PATIENCE = 3600
"""Seconds without an outcome after which a folder is given up."""
CRASHES = 25
"""If its first CRASHES units all crash, a judge ends. Only with the option `first`."""
_PRELOADED = ("conformance.adapters.bundled", "conformance.compare.triangle", "conformance.drive.loop")
"""Modules that units import. They are loaded together with the model, so that no mutant changes them."""
_NOT_PRELOADED = ("checker", "theorem")
"""Folders of the model that only check or prove. They are not loaded in advance."""
_OURS = ("model.", "impl.", "conformance.", "spec.")
GROUP = 1.0
"""Processor seconds of the units in a group. A group is prepared when the first mutant needs it."""


class Run(NamedTuple):
    """The run of a unit without an edit."""

    unit: Unit
    places: Places
    """The places in the code that the unit runs."""
    seconds: float


class Tally(NamedTuple):
    """The findings so far of one judge about a mutant."""

    complaint: str = ""
    """The first complaint by a rule, with which the judge ends. Until then, that of the first crash."""
    units: int = 0
    """Number of units that have run."""
    goes_on: bool = False
    """Whether a unit has run to its end without a complaint."""
    is_over: bool = False
    """Whether the judge has ended, so that no further unit runs."""
    is_typed: bool = False
    """Whether a unit of this or an earlier judge has crashed, and mypy has accepted the edit."""


class Found(NamedTuple):
    """The findings of a judge about a mutant."""

    complaint: str
    runs: list[Run] | None
    """The runs of units that run the edit, up to the last needed one. None if the edit changes the units."""
    is_typed: bool
    """As `Tally.is_typed`."""


class Prepared:
    """The judges of a folder, and the statements that each of their units runs."""

    def __init__(self, layer: str, folder: str, judges: Judges, edits: Iterable[Edit]) -> None:
        """`edits`: the edits to judge. Only the runs of their statements are recorded."""
        self._files = machine.HOME / LAYERS[layer] / folder
        self._judges = judges
        sources = {name: text for name, text in modules(layer) if name.split(".")[-2] == folder}
        self._marks = Marks(sources, frozenset(map(self._place_of, edits)))
        for name in sources:
            import_module(name)
        for name in (*_PRELOADED, *modules_of_the_model()):
            import_module(name)
        self._loaded = 0
        """Number of loaded modules of this project."""
        self._settled: set[tuple[str, int]] = set()
        """The places that ran while modules were loaded or invariants computed. No fork runs them again."""
        self._taken()
        self.complaint = ""
        """The complaint about the folder without an edit; empty if there is none so far."""
        self._units: dict[str, tuple[list[Unit], Places]] = {}
        """By judge: its units, and the places that ran while the units were made."""
        self._groups: dict[str, list[list[Run]]] = {}
        """By judge: the groups that have been prepared."""
        self._waiting: dict[str, Iterator[list[Run]]] = {}
        """By judge: the groups that have not been prepared."""

    def judged(self, edit: Edit, text: str, *, first: bool) -> Judged | None:
        """Judge the mutant with this text. Returns None if a new process must judge it.

        A new process is needed if the edit changes more than functions, or if its place ran while modules
        were loaded or invariants computed.
        """
        place = self._place_of(edit)
        if place in self._settled or not next(answers(_changes_functions, (edit, text)), False):
            return None
        found: list[Found] = []
        for judge in self._judges.names:
            typed = Tally(is_typed=any(one.is_typed for one in found))
            found.append(self._found_by(judge, edit, text, typed, first=first))
            if place in self._settled or self.complaint:
                return None
            if found[-1].complaint == UNTYPED:
                return Judged(edit, {"mypy": UNTYPED})
            if first and is_by_rule(found[-1].complaint):
                break
        complaints = (one.complaint for one in found)
        judged = Judged(
            edit,
            dict(zip(self._judges.names, complaints, strict=False)),
            is_run=any(one.runs is None or one.runs for one in found),
        )
        runs = found[0].runs
        cases = None if runs is None else [run.unit.case for run in runs]
        return _examined(judged, text, cases, self._judges.assumed)

    def _found_by(self, judge: str, edit: Edit, text: str, tally: Tally, *, first: bool) -> Found:
        """The findings of a judge about a mutant. Ends early if a new process must judge the mutant."""
        units, making = self._units_of(judge)
        place, no_answer = self._place_of(edit), tally._replace(complaint=NO_ANSWER, is_over=True)
        if place in making and not next(answers(_remakes, (edit, text, units, self._judges, judge)), False):
            given = (edit, text, self._judges, judge, tally, first)
            tally = next(answers(_judge_remade, given), no_answer)
            return Found(tally.complaint, None, tally.is_typed)
        ran: list[Run] = []
        for group in self._groups_of(judge):
            if place in self._settled or self.complaint:
                break
            if runs := [run for run in group if place in run.places]:
                ran += runs
                tally = next(answers(_judge, (edit, text, runs, tally, first)), no_answer)
            if tally.is_over:
                break
        return Found(tally.complaint, ran, tally.is_typed)

    def _units_of(self, judge: str) -> tuple[list[Unit], Places]:
        """The units of a judge, and the places that ran while they were made."""
        if judge not in self._units:
            if judge == "lock-step" and self._judges.scripts is None:
                self._judges.scripts = next(answers(_unchanged_scripts, (self._judges,), PATIENCE))
            units = [*self._judges.units(judge)]
            self._units[judge] = units, self._taken()
        return self._units[judge]

    def _groups_of(self, judge: str) -> Iterator[list[Run]]:
        """The units of a judge in groups, each of which is prepared when the first mutant needs it."""
        groups = self._groups.setdefault(judge, [])
        waiting = self._waiting.setdefault(judge, self._prepared(judge))
        yield from groups
        for group in waiting:
            groups.append(group)
            yield group

    def _prepared(self, judge: str) -> Iterator[list[Run]]:
        """Yields the groups of a judge. Prepares each group: runs its units without an edit."""
        group: list[Run] = []
        for unit in self._units_of(judge)[0]:
            self._assume(unit)
            self._settled |= self._taken()
            group.append(self._run(unit))
            if sum(run.seconds for run in group) >= GROUP:
                yield _for_forks(group)
                group = []
        yield _for_forks(group)

    def _taken(self) -> Places:
        """The places that ran since the last call. Adds them to `_settled` if a module was loaded."""
        found = self._marks.taken()
        if (loaded := sum(name.startswith(_OURS) for name in sys.modules)) != self._loaded:
            self._loaded = loaded
            self._settled |= found
        return found

    def _place_of(self, edit: Edit) -> tuple[str, int]:
        return place_of(edit, self._files / f"{edit.module.rsplit('.', 1)[-1]}.py")

    def _assume(self, unit: Unit) -> None:
        """Store the invariants of the shape of a case, and the names of the fields that they read."""
        if (case := unit.case) is None:
            return
        from model.checker.prove import assume_invariants
        from model.properties import of_component
        from model.registry import Start

        assumed, shape = self._judges.assumed, f"{case.component} {case.state!r}"
        if type(case.event) is not Start and shape not in assumed:
            reads = assumed.reads[shape] = {}
            assumed[shape] = assume_invariants(case.state, of_component(case.component), None, reads)

    def _run(self, unit: Unit) -> Run:
        forget()
        begun = time.process_time()
        self.complaint = self.complaint or unit.complaint()
        return Run(unit, self._taken(), time.process_time() - begun)


def modules_of_the_model() -> Iterator[str]:
    """The names of all modules of the model except those that only check or prove."""
    home = machine.HOME
    for file in sorted((home / "model").rglob("*.py")):
        name, *rest = file.relative_to(home).with_suffix("").parts
        if rest[0] not in _NOT_PRELOADED and rest[-1] != "__main__":
            yield ".".join([name, *rest]).removesuffix(".__init__")


def _for_forks(group: list[Run]) -> list[Run]:
    """Return the group, and exclude its objects from garbage collection, so that forks do not copy them."""
    gc.collect()
    gc.freeze()
    return group


def serve(layer: str, folder: str, edits: Iterable[Edit], dumps: Path, first: bool, found: Any) -> None:  # noqa: ANN401 - a connection
    """Send each edit with its outcome, or None; or send None with a complaint about the unedited folder."""
    texts = dict(modules(layer))
    judges = Judges(layer, folder, dumps)
    left = [*edits]
    if layer == "impl":  # not loaded yet, so a fork can load it with an edit
        judges.record(keeps=True)
        outside = [edit for edit in left if ":module:" in edit.id]
        for edit in outside:
            found.send((edit, judge_anew(edit, edit.apply(texts[edit.module]), judges, first=first)))
        left = [edit for edit in left if edit not in outside]
    prepared = Prepared(layer, folder, judges, left)
    for edit in left:
        judged = prepared.judged(edit, edit.apply(texts[edit.module]), first=first)
        if prepared.complaint:
            found.send((None, prepared.complaint))
            return
        found.send((edit, judged))


def judge_anew(edit: Edit, text: str, judges: Judges, *, first: bool) -> Judged:
    """Judge one mutant in processes that load the mutated module and run all units.

    For a mutant of the model, lock-step plays the scripts of the unchanged model.
    """
    found: list[Tally] = []
    for judge in judges.names:
        if judge == "lock-step" and edit.module.startswith("model.") and judges.scripts is None:
            judges.scripts = next(answers(_unchanged_scripts, (judges,), PATIENCE))
        before = Tally(is_typed=any(one.is_typed for one in found))
        given = (edit, text, judges, judge, before, first)
        found.append(next(answers(_judge_anew, given), before._replace(complaint=NO_ANSWER)))
        if found[-1].complaint == UNTYPED:
            return Judged(edit, {"mypy": UNTYPED})
        if first and is_by_rule(found[-1].complaint):
            break
    judged = Judged(edit, dict(zip(judges.names, (one.complaint for one in found), strict=False)))
    return _examined(judged, text, None, {})


def _examined(judged: Judged, text: str, cases: Any, assumed: Any) -> Judged:  # noqa: ANN401 - as in `_prove`
    """The outcome after two more checks of a survivor: mypy may reject it, or z3 may prove it equivalent.

    mypy checks only edits of swap-arguments: no other operator exchanges values of different types.
    """
    edit = judged.edit
    if judged.survives and edit.operator == "swap-arguments" and is_refused(edit, text):
        return Judged(edit, {"mypy": UNTYPED})
    if judged.survives and edit.module.startswith("model.") and cases != []:
        for same in answers(_prove, (edit, text, cases, assumed)):
            return judged._replace(same_paths=same)
    return judged


def _unchanged_scripts(judges: Judges, found: Any) -> None:  # noqa: ANN401 - a connection
    """Send the scripts of lock-step from the unchanged model. A mutant would draw other events."""
    judges.record(keeps=False)
    found.send(judges.scripts)


def _changes_functions(edit: Edit, text: str, found: Any) -> None:  # noqa: ANN401 - a connection
    """Send whether the edit changes functions and nothing else."""
    found.send(bool(_pairs(edit, text)))


def _pairs(edit: Edit, text: str) -> Pairs:
    try:
        return changed(import_module(edit.module), text)
    except Exception:  # noqa: BLE001 - the mutant cannot be loaded
        return ()


def _judge(edit: Edit, text: str, runs: list[Run], before: Tally, first: bool, found: Any) -> None:  # noqa: ANN401
    """Run these units with the mutant, and send the findings."""
    _change(edit, text)
    units = [(run.unit, LEAST + SLOWER * run.seconds) for run in runs]
    found.send(_tallied(edit, text, units, before, first=first))


def _remakes(edit: Edit, text: str, units: list[Unit], judges: Judges, judge: str, found: Any) -> None:  # noqa: ANN401
    """Send whether the mutant makes the same units of a judge as the original."""
    _change(edit, text)
    found.send(limited(lambda: is_alike(units, [*judges.units(judge)])) is True)


def _judge_remade(
    edit: Edit,
    text: str,
    judges: Judges,
    judge: str,
    before: Tally,
    first: bool,
    found: Any,  # noqa: ANN401
) -> None:
    """Send the findings of the units that the mutant itself makes."""
    _change(edit, text)
    found.send(_tallied_all(edit, text, judges, judge, before, first=first))


def _change(edit: Edit, text: str) -> None:
    """Replace the code of this process's functions by the mutant's code."""
    for original, mutated in _pairs(edit, text):
        original.__code__, original.__defaults__ = mutated.__code__, mutated.__defaults__
    forget()


def _judge_anew(
    edit: Edit,
    text: str,
    judges: Judges,
    judge: str,
    before: Tally,
    first: bool,
    found: Any,  # noqa: ANN401
) -> None:
    install_text(edit.module, text)
    found.send(_tallied_all(edit, text, judges, judge, before, first=first))


def _tallied_all(edit: Edit, text: str, judges: Judges, judge: str, before: Tally, *, first: bool) -> Tally:
    """The findings of all units of a judge. The mutant may crash before the first unit."""

    def tallied() -> Tally:
        return _tallied(edit, text, ((unit, SECONDS) for unit in judges.units(judge)), before, first=first)

    found = limited(tallied)
    if isinstance(found, Tally):
        return found
    return _with_complaint(edit, text, before, str(found))._replace(is_over=True)


def _tallied(
    edit: Edit, text: str, units: Iterable[tuple[Unit, float]], before: Tally, *, first: bool
) -> Tally:
    """The findings in `before` and of these units. `units`: each with its limit in seconds; 0: no limit.

    The complaint is UNTYPED if a unit crashes before a rule is broken, and mypy rejects the edit.
    """
    tally = before
    for unit, seconds in units:
        if first and tally.units == CRASHES and not tally.goes_on:
            return tally._replace(is_over=True)
        complaint = str(limited(unit.complaint, seconds) if seconds else unit.complaint())
        tally = tally._replace(units=tally.units + 1)
        if is_by_rule(complaint):
            return tally._replace(complaint=complaint, is_over=True)
        tally = _with_complaint(edit, text, tally, complaint)._replace(goes_on=tally.goes_on or not complaint)
        if tally.complaint == UNTYPED or complaint.startswith("too long"):
            return tally._replace(is_over=True)
    return tally


def _with_complaint(edit: Edit, text: str, tally: Tally, complaint: str) -> Tally:
    """The tally with a further complaint. At the first crash mypy checks the edit, and may reject it."""
    if not is_crash(complaint) or tally.is_typed:
        return tally._replace(complaint=tally.complaint or complaint)
    if is_refused(edit, text):
        return tally._replace(complaint=UNTYPED)
    return tally._replace(complaint=tally.complaint or complaint, is_typed=True)


def _prove(edit: Edit, text: str, cases: Any, assumed: Any, found: Any) -> None:  # noqa: ANN401
    forget()
    same = limited(lambda: same_paths(edit, text, cases, assumed), SECONDS)
    found.send(same if isinstance(same, int) else 0)
