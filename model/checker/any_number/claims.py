"""The rules that are proved for any number of channels, tasks or other elements, by component.

`barrierspec prove any-number` proves these rules. The proofs use the properties and step functions of the
model, compiled again over ropes (`model.checker.any_number`). The cases of `model.proofs` prove the same
rules in stated sizes.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import z3

from model.checker.any_number.cases import Result, RopeCase, prove
from model.checker.any_number.recompiled_model import Edit, Helpers, Reread
from model.coordinator.proofs import any_number as coordinator
from model.gate.proofs.any_number.aligned import all_aligned_cases, all_history_cases
from model.gate.proofs.any_number.channels import HELPERS as CHANNEL_HELPERS
from model.gate.proofs.any_number.tracking import TRACKED_AT_MOST, all_tracker_cases
from model.gate.proofs.any_number.unaligned import all_unaligned_cases
from model.sink.proofs.any_number import HELPERS as SINK_HELPERS
from model.sink.proofs.any_number import all_sink_cases
from model.store.proofs import any_number as store
from model.subtask.proofs.any_number import FEW, all_subtask_cases
from model.subtask.proofs.any_number import HELPERS as SUBTASK_HELPERS

QUANTIFIERS = "induction over one step, quantifiers over ropes"
SUMS = f"{QUANTIFIERS}, two laws of sums"


class Unbounded(NamedTuple):
    """The rules of one component, for any number of its elements."""

    component: str
    elements: str
    """The elements whose number has no bound."""
    cases: Callable[[Reread], Iterator[RopeCase]]
    method: str = QUANTIFIERS
    bounds: str = ""
    """The sizes that stay bounded, and the omitted behaviour."""
    beyond: frozenset[str] = frozenset()
    """The rules about omitted behaviour only. They do not count as proved, and have no mutants here."""
    variants: frozenset[str] | None = None
    """Ids of the catalogue's mutants that the cases can refute. None: all mutants of the component."""
    few: tuple[z3.BoolRef, ...] = ()
    """Assumptions that make the sizes small. A search tries them first, because z3 decides them sooner."""


UNBOUNDED: Mapping[str, Unbounded] = {
    one.component: one
    for one in (
        Unbounded("gate", "channels", all_aligned_cases, SUMS),
        Unbounded("history", "channels", all_history_cases, SUMS),
        Unbounded(
            "tracker", "channels", all_tracker_cases, SUMS, f"at most {TRACKED_AT_MOST} tracked checkpoints"
        ),
        Unbounded(
            "unaligned",
            "channels",
            all_unaligned_cases,
            SUMS,
            "injections are left out",
            frozenset(("UNAL-22",)),
        ),
        Unbounded("subtask", "running snapshots and remembered aborts", all_subtask_cases, SUMS, few=FEW),
        Unbounded(
            "sink",
            "transactions",
            all_sink_cases,
            SUMS,
            "at most 1 snapshot before an event; restores in which a commit throws are left out",
        ),
        Unbounded(
            "coordinator",
            "tasks",
            coordinator.all_coordinator_cases,
            SUMS,
            coordinator.BOUNDS,
            coordinator.BEYOND,
            coordinator.VARIANTS,
        ),
        Unbounded("store", "retained checkpoints", store.all_store_cases, variants=store.VARIANTS),
    )
}
"""By component: the rules that are proved for any number of its elements."""


def reread(*edits: Edit) -> Reread:
    """Compiles the modules of the model again, so that they take ropes."""
    helpers: dict[str, Helpers] = {
        **CHANNEL_HELPERS,
        **SUBTASK_HELPERS,
        **SINK_HELPERS,
        **coordinator.HELPERS,
        **store.HELPERS,
    }
    return Reread(edits, helpers)


def refute(claim: Unbounded, edit: Edit, rule: str) -> Result:
    """Searches a refutation of a rule in the edited model: first at small sizes, then at all sizes."""
    result = Result(frozenset(), (), 0, 0, 0, 0)
    for sizes in (claim.few, ()) if claim.few else ((),):
        cases = claim.cases(reread(edit))
        smaller = (case._replace(assumptions=(*case.assumptions, *sizes)) for case in cases)
        result = prove(smaller, stop_at={rule})
        if result.refutations:
            break
    return result
