"""Prepared judges compare the data made with a mutant and without it, and judge in groups of units."""

import os
import signal
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from conformance.mutants.automatic import prepared
from conformance.mutants.automatic.complaints import UNTYPED, Judged, crash, too_long
from conformance.mutants.automatic.coverage import is_alike
from conformance.mutants.automatic.forked import answers
from conformance.mutants.automatic.judges import Judges
from conformance.mutants.automatic.modules import edits, modules
from conformance.mutants.automatic.prepared import CRASHES, Tally, forget, modules_of_the_model
from model.checker.symbolic import symbolic_like
from model.closed_models import closed_models
from model.coordinator.proofs.trigger import beginning_cases
from model.gate.proofs.aligned import gate_cases
from model.store.proofs.store import store_cases
from tests.waiting import until


class Shape(NamedTuple):
    first: int
    rest: tuple[object, ...]


def adds(number):
    return lambda other: number + other


def reader(name):
    return symbolic_like((True, 1, (2, 3)), name)


def ring(value):
    found: list[object] = [value]
    found.append(found)
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Shape(1, ("a", None, True)), Shape(1, ("a", None, True))),
        ({"a": [1, 2]}, {"a": [1, 2]}),
        (adds(1), adds(1)),
        (partial(adds, number=1), partial(adds, number=1)),
        (reader("reader"), reader("reader")),
        (ring(1), ring(1)),
    ],
    ids=["tuple", "dict", "function", "partial", "symbols", "ring"],
)
def test_the_same_data_and_code_are_alike(one, other):
    assert one is not other
    assert is_alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Shape(1, ("a",)), Shape(1, ("b",))),
        (Shape(1, ()), (1, ())),
        (1, True),
        ((1, 2), (1, 2, 3)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (adds(1), adds(2)),
        (lambda: 1, lambda: 1),
        (partial(adds, number=1), partial(adds, number=2)),
        (reader("one"), reader("other")),
        (ring(1), ring(2)),
        (object(), object()),
    ],
    ids=["value", "class", "bool", "length", "order", "bound", "code", "partial", "symbols", "ring", "any"],
)  # fmt: skip
def test_other_data_and_other_code_are_not_alike(one, other):
    assert not is_alike(one, other)


def test_cases_and_closed_models_that_are_made_twice_are_alike():
    """If they differed, every mutant that runs while they are made would be judged again."""
    for made in (partial(store_cases, 1, 2), partial(gate_cases, 2), beginning_cases, closed_models):
        forget()
        before = [*made()]
        forget()
        assert is_alike(before, [*made()])


def test_groups_of_units_find_what_all_units_together_find(monkeypatch):
    """The result is the first rule, or else the first crash. Crashes are counted through all groups."""
    monkeypatch.setattr(prepared, "is_refused", lambda *_: False)

    def found(complaints, size):
        tally, ran = Tally(), []

        def unit(complaint):
            return prepared.Unit(lambda: ran.append(complaint) or complaint), 0

        for begin in range(0, len(complaints), size):
            if not tally.is_over:
                group = [unit(one) for one in complaints[begin : begin + size]]
                tally = prepared._tallied(None, "", group, tally, first=True)
        return tally.complaint, len(ran)

    crashes = [crash("IndexError")] * (CRASHES + 10)
    for size in (1, 2, 7, 100):
        assert found(["", crash("KeyError"), "COORD-01", "COORD-02"], size) == ("COORD-01", 3)
        assert found(["", *crashes], size) == (crashes[0], CRASHES + 11)
        assert found(crashes, size) == (crashes[0], CRASHES)
        assert found(["", too_long("here"), "COORD-01"], size) == (too_long("here"), 2)
        assert found(["", ""], size) == ("", 2)


def test_mypy_runs_once_for_all_judges(monkeypatch):
    requested = []
    monkeypatch.setattr(prepared, "is_refused", lambda *_: requested.append(1))
    units = [(prepared.Unit(lambda: crash("TypeError")), 0)] * 3
    found = prepared._tallied(None, "", units, Tally(), first=True)
    again = prepared._tallied(None, "", units, Tally(is_typed=found.is_typed), first=True)

    assert found == again == Tally(crash("TypeError"), 3, is_typed=True)
    assert len(requested) == 1


def test_a_crash_before_the_first_unit_runs_mypy(monkeypatch, tmp_path):
    """It runs in its own process, because a judge limits the memory and the time of its process."""
    edit = next(one for one in edits("model") if one.id.startswith("model.offsets."))
    judges = Judges("model", "offsets", tmp_path)
    monkeypatch.setattr(judges, "units", lambda _: [0 + "text"])
    monkeypatch.setattr(prepared, "is_refused", lambda *_: True)

    def judged(before):
        given = (edit, "text", judges, "proofs", before)
        (tally,) = answers(
            lambda *given: given[-1].send(prepared._tallied_all(*given[:-1], first=False)), given
        )
        return tally.complaint

    assert (judged(Tally()), judged(Tally(is_typed=True))) == (UNTYPED, crash("TypeError"))


def test_mypy_checks_surviving_mutants_with_swapped_arguments():
    """In Python `True` is equal to 1, so no judge detects that a number and a boolean are swapped."""
    text = dict(modules("model"))["model.dataflow.dataflow"]
    swapped = next(one for one in edits("model") if one.after == "aligned.new_gate(True, 1)")
    survivor = Judged(swapped, {"proofs": ""})

    assert prepared._examined(survivor, swapped.apply(text), [], {}).complaints == {"mypy": UNTYPED}
    assert prepared._examined(survivor, text, [], {}) is survivor


def test_every_component_of_the_model_is_loaded_before_units_are_made():
    names = {*modules_of_the_model()}

    assert {"model", "model.gate.aligned", "model.coordinator.proofs.reached_shapes"} <= names
    assert not any(name.startswith("model.theorem") for name in names)


def test_a_judge_is_killed_with_the_processes_that_it_has_forked():
    judging = answers(_waits_for_another, ())
    other, begun = next(judging), time.monotonic()
    judging.close()
    until(lambda: not Path(f"/proc/{other}").exists(), possible=lambda: time.monotonic() < begun + 30)


def test_an_edit_without_an_outcome_in_time_is_abandoned():
    """The report counts it among the edits for which the time was too short."""
    assert next(answers(_waits_for_another, (), until=time.monotonic()), None) is None


def _waits_for_another(found):
    """A judge that waits for another judge, which never ends, and sends its process number."""
    for process in answers(_never_ends, ()):
        found.send(process)


def _never_ends(found):
    found.send(os.getpid())
    signal.pause()
