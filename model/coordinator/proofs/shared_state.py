"""The cases of shared files, with any ids of the checkpoints that use them. Rule SUB-12.

A file has a name and no value, so numbers identify files. The cases enumerate the files of an acknowledgement
and the checkpoints that use each file. The ids of these checkpoints are symbols.
"""

from collections.abc import Iterator
from itertools import product

import z3

from model.checker.prove import Case
from model.checker.symbolic import int_term, symbolic_like
from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    JobEnd,
    RestoreRequest,
    StoreFails,
)
from model.coordinator.proofs.coordinator import symbolic_coordinator
from model.coordinator.proofs.failures_and_ends import DIFFERENT, any_id, case_of, of_release
from model.coordinator.shared_state import Registered, SharedState, Use
from model.coordinator.state import Coordinator
from model.events import AFTER, BEFORE, NONE, Event
from model.store.store import CHECKPOINT, Entry

Files = tuple[int, ...]
BROUGHT: tuple[Files, ...] = ((), (1,), (2,), (1, 2))


def file_cases(
    name: str, stored: int, used: Files, brought: Files, *, unclaimed: bool = False
) -> Iterator[Case]:
    """Yields an acknowledgement with the files `brought`, while stored checkpoints use the files `used`.

    `unclaimed`: the coordinator has found some of the files at its start, and must not delete them.
    """
    state = of_release(symbolic_coordinator(1, 1, 0, stored, 2), name)
    uses = tuple(Use(file, entry.checkpoint) for file, entry in zip(used, state.store.entries, strict=False))
    idle = (
        tuple(file for file in (1, 2) if file not in used)
        if state.plan.profile.registers_at_acknowledgement
        else ()
    )
    known = tuple(
        Registered(
            file,
            symbolic_like(0, f"files.{file}.checkpoint"),
            symbolic_like(0, f"files.{file}.first"),
        )
        for file in (*dict.fromkeys(used), *idle)
    )
    found = symbolic_like(0, "files.unclaimed") if unclaimed else NONE
    state = state._replace(shared=SharedState(known, uses, (), found))
    checkpoint = symbolic_like(0, "event.checkpoint")
    events: tuple[Event, ...] = (
        AcknowledgeMessage(0, checkpoint, 0, brought),
        *((any_id("ASYNC_EXCEPTION"), RestoreRequest((True,)), *ends()) if not brought else ()),
    )
    label = f"{stored} stored, {used} used, {brought} brought"
    for event in events:
        yield case_of(label, state, event, *used_in_order(state))


def unseen_cases(name: str) -> Iterator[Case]:
    """Yields events while a durable checkpoint is not in the store, because its addition has failed."""
    known = next(file_cases(name, 1, (1,), (1, 2))).state
    unseen = Entry(symbolic_like(0, "unseen"), CHECKPOINT)
    for fault in (0, BEFORE, AFTER):
        state = known._replace(unseen=(unseen,), fault=fault)
        event = AcknowledgeMessage(0, symbolic_like(0, "event.checkpoint"), 0, (1, 2))
        yield case_of(f"1 unseen, fault {fault}", state, event, *used_in_order(state))
    file_of_unseen = Use(2, unseen.checkpoint)
    users = (*known.shared.completed, Use(1, unseen.checkpoint))
    shared = known.shared._replace(completed=users, unseen=(file_of_unseen,))
    state = known._replace(unseen=(unseen,), shared=shared)
    for recovery in (RestoreRequest((True,)), CoordinatorRestart()):
        yield case_of("1 unseen with files", state, recovery, *used_in_order(state))
    kept = known._replace(plan=known.plan._replace(retains_on_cancellation=True), unseen=(unseen,))
    yield case_of("1 unseen, retained", kept, JobEnd("CANCELED"), *used_in_order(kept))


def aborted_case() -> Case:
    """A restore that aborts a pending checkpoint with one file of its own and one shared file."""
    state = of_release(symbolic_coordinator(2, 1, 0, 0, 1), "2.3")
    (pending,) = state.pending
    pending = pending._replace(type=CHECKPOINT, acknowledged=(True, False), states=(2, 0), shared=((1,), ()))
    registered = Registered(1, pending.checkpoint, symbolic_like(0, "files.1.first"))
    state = state._replace(pending=(pending,), shared=state.shared._replace(registered=(registered,)))
    return case_of(
        "a pending checkpoint has files", state, RestoreRequest((True, True)), *used_in_order(state)
    )


def ends() -> tuple[Event, ...]:
    """The events with which the job or its coordinator ends, or the store fails."""
    return (JobEnd("FINISHED"), JobEnd("SUSPENDED"), CoordinatorRestart(), StoreFails(1))


def used_in_order(state: Coordinator) -> tuple[z3.BoolRef, ...]:
    """The first checkpoint that uses a file is not newer than the last one."""
    terms: list[z3.BoolRef] = []
    for file in state.shared.registered:
        users = [use.checkpoint for use in state.shared.completed if use.handle == file.handle]
        for user in (*users, file.checkpoint):
            terms.append(int_term(file.first) <= int_term(user))
            terms.append(int_term(user) <= int_term(file.checkpoint))
        terms.append(int_term(file.first) >= 1)
        terms.append(int_term(file.checkpoint) < int_term(state.next_id))
    terms.append(int_term(state.shared.unclaimed) >= NONE)
    return tuple(terms)


def all_file_cases() -> Iterator[Case]:
    """All cases of the published proofs."""
    for name in ("2.3", "1.14"):
        for used, brought in product(((), (1,)), BROUGHT[:3]):
            yield from file_cases(name, 1, used, brought)
        yield from unseen_cases(name)
    yield from file_cases("2.3", 1, (1,), (1,), unclaimed=True)
    yield aborted_case()
    for name in DIFFERENT:
        if name not in ("2.3", "1.14"):
            yield from file_cases(name, 1, (1,), ())


def thorough_file_cases() -> Iterator[Case]:
    """The additional cases of a thorough verification: two retained checkpoints. They take minutes."""
    for name, used, brought in product(("2.3", "1.14"), ((), (1,), (1, 1), (1, 2)), BROUGHT):
        for stored in range(max(1, len(used)), 3):
            yield from file_cases(name, stored, used, brought)
    for used in ((1,), (1, 2)):
        yield from file_cases("2.3", 2, used, (1, 2), unclaimed=True)
