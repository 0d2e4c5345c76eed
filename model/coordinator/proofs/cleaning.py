"""The cases of slow deletions, which last until a later event, by number of deletions. Rule COORD-33."""

from collections.abc import Iterator
from itertools import product

from model.checker.prove import Case
from model.checker.symbolic import symbolic_like
from model.coordinator.events import AcknowledgeMessage, DeclineMessage, Deleted, TriggerRequest
from model.coordinator.proofs.coordinator import symbolic_coordinator
from model.coordinator.proofs.failures_and_ends import case_of, of_release
from model.events import Event

MOST = 2
"""Maximum number of deletions under way. With a limit of one pending checkpoint, two make requests wait."""


def cleaning_cases(name: str, pending: int, queue: int, stored: int, deletions: int) -> Iterator[Case]:
    """Yields a request, an answer of a task, and the end of a deletion, with one task."""
    state = of_release(symbolic_coordinator(1, pending, queue, stored, 1), name)
    state = state._replace(
        plan=state.plan._replace(slow_cleaning=True),
        deletions=tuple(symbolic_like(False, f"deletions.{place}") for place in range(deletions)),
    )
    checkpoint = symbolic_like(0, "event.checkpoint")
    events: tuple[Event, ...] = (
        TriggerRequest(symbolic_like(0, "event.type")),
        DeclineMessage(0, checkpoint, "ASYNC_EXCEPTION"),
        AcknowledgeMessage(0, checkpoint, symbolic_like(0, "event.handle")),
        *((Deleted(),) if deletions else ()),
    )
    for event in events:
        label = f"{pending} pending, {queue} waiting, {stored} stored, {deletions} deletions"
        yield case_of(label, state, event)


def all_cleaning_cases() -> Iterator[Case]:
    """All cases of the published proofs: the newest generation, and one with `counts_empty_deletions`."""
    for name in ("2.3", "1.15"):
        for pending, queue, stored, deletions in product((0, 1), (0, 1), (0, 1), range(MOST + 1)):
            yield from cleaning_cases(name, pending, queue, stored, deletions)
