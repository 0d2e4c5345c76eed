"""The cases of a job that starts from a savepoint, with any claim mode. Rules COORD-37, COORD-38, SUB-13.

The id of the savepoint is a symbol. The cases enumerate the claim modes. At most two checkpoints are stored,
in the newest generation and in one without claim modes. No file is shared.
"""

from collections.abc import Iterator
from itertools import product

import z3

from model.checker.prove import Case
from model.checker.symbolic import any_word, int_term, symbolic_like
from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    JobEnd,
    RestoreRequest,
    TriggerRequest,
)
from model.coordinator.proofs.closed import ENDS, is_word
from model.coordinator.proofs.coordinator import symbolic_coordinator
from model.coordinator.proofs.failures_and_ends import case_of, of_release
from model.coordinator.state import CLAIM, LEGACY, NO_CLAIM
from model.coordinator.trigger import MasterAnswer
from model.events import Event
from model.store.store import SAVEPOINT, Entry

MOST = 2
"""Maximum number of stored checkpoints. The store retains one or two."""


def claim_cases(
    name: str, mode: int, pending: int, queue: int, stored: int, *, hooks: int = 0
) -> Iterator[Case]:
    """Yields the events that start, complete or restore a checkpoint or end the job, with one task."""
    state = of_release(symbolic_coordinator(1, pending, queue, 0, 1, max(1, stored)), name)
    entries = tuple(
        Entry(symbolic_like(0, f"store.{place}"), symbolic_like(0, f"store.{place}.type"))
        for place in range(stored)
    )
    savepoint = symbolic_like(0, "plan.savepoint")
    state = state._replace(
        plan=state.plan._replace(savepoint=(savepoint,), claim_mode=mode, hooks=hooks),
        store=state.store._replace(entries=entries),
    )
    if hooks:
        begun = state.pending[0]
        state = state._replace(
            master=begun.checkpoint,
            pending=(begun._replace(hooks=(symbolic_like(False, "hook"),)), *state.pending[1:]),
        )
    known = [int_term(savepoint) >= 1]
    known += [z3.And(int_term(one.type) >= 0, int_term(one.type) <= SAVEPOINT) for one in entries]
    checkpoint, status = symbolic_like(0, "event.checkpoint"), any_word("event.status")
    events: tuple[Event, ...] = (
        TriggerRequest(symbolic_like(0, "event.type")),
        DeclineMessage(0, checkpoint, "ASYNC_EXCEPTION"),
        AcknowledgeMessage(0, checkpoint, symbolic_like(0, "event.handle")),
        RestoreRequest((True,)),
        CoordinatorRestart(),
        JobEnd(status),
        *((MasterAnswer(0, checkpoint, True, False),) if hooks else ()),
    )
    for event in events:
        ends = (z3.Or(*(is_word(status, end) for end in ENDS)),) if type(event) is JobEnd else ()
        label = (
            f"savepoint in mode {mode}, {pending} pending, {queue} waiting, {stored} stored, {hooks} hooks"
        )
        yield case_of(label, state, event, *known, *ends)


def all_claim_cases() -> Iterator[Case]:
    """All cases of the published proofs."""
    for name, mode in (("2.3", CLAIM), ("2.3", NO_CLAIM), ("2.3", LEGACY), ("1.14", LEGACY)):
        for pending, queue, stored in product((0, 1), (0, 1), range(MOST + 1)):
            if queue <= pending:  # COORD-03: no request waits that could start
                yield from claim_cases(name, mode, pending, queue, stored)
        yield from claim_cases(name, mode, 1, 0, 1, hooks=1)
