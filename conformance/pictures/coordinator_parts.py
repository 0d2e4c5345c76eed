"""The pictures of parts of the coordinator: requests, the scheduler, masters, shared files.

Each shows a closed model with only the events of one part.
"""

from conformance.pictures.graph import Closed
from model.coordinator.environment.subject_models import Scope, answers, closed_subject
from model.coordinator.events import AcknowledgeMessage, DeclineMessage, TriggerFails, TriggerRequest
from model.coordinator.profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR
from model.coordinator.state import Coordinator, Plan
from model.coordinator.trigger import MasterAnswer
from model.events import Event
from model.store.store import CHECKPOINT, SAVEPOINT
from model.store.wire import TYPES

_ONE_SOURCE = Plan((True,), timeout=100, max_concurrent=1, profile=NEWEST_COORDINATOR)


def _label(action: str, event: Event) -> str:
    if type(event) is TriggerRequest:
        return "periodic" if event.periodic else TYPES[event.type]
    if type(event) is AcknowledgeMessage:
        return f"ack {event.checkpoint}{' with f' if event.shared else ''}"
    if type(event) is DeclineMessage:
        return f"decline {event.checkpoint}"
    if type(event) is MasterAnswer:
        return f"{'hook' if event.is_hook else 'coordinator'} {'fails' if event.fails else 'done'}"
    return "1 ms" if action == "Advance" else action.lower()


# ---------------------------------------------------------------- requests


def _show_requests(state: Coordinator) -> tuple[str, ...]:
    waiting = [TYPES[request.type][0].upper() for request in state.queue]
    return (
        f"{state.pending[0].checkpoint} pending" if state.pending else "nothing pending",
        f"waits: {' '.join(waiting)}" if waiting else "",
    )


# ---------------------------------------------------------------- the scheduler


def _show_scheduler(state: Coordinator) -> tuple[str, ...]:
    held = f"pause to {state.pause_ends}" if state.pause_ends > state.now else ""
    return (
        f"{state.now} ms · request at {state.scheduler.due}",
        " · ".join(word for word in (*(f"{one.checkpoint} pending" for one in state.pending), held) if word),
    )


# ---------------------------------------------------------------- masters


def _show_masters(state: Coordinator) -> tuple[str, ...]:
    if not state.pending:
        return ("1 complete",) if state.store.entries else ("1 aborted" if state.next_id > 1 else "idle",)
    (pending,) = state.pending
    awaited = [
        name
        for name, done in (
            ("coord.", all(pending.coordinators)),
            ("hook", all(pending.hooks)),
            ("source", all(pending.acknowledged)),
        )
        if not done
    ]
    return ("1 awaits", ", ".join(awaited))


# ---------------------------------------------------------------- shared files


def _show_shared(state: Coordinator) -> tuple[str, ...]:
    uses = {use.checkpoint for use in state.shared.completed}
    kept = ", ".join(f"{one.checkpoint}{'f' * (one.checkpoint in uses)}" for one in state.store.entries)
    known = [f"f since {known.first}, by {known.checkpoint}" for known in state.shared.registered]
    pending = f"{state.pending[0].checkpoint} pending" if state.pending else ""
    return (" · ".join(word for word in (f"kept {kept}" if kept else "", pending) if word) or "idle", *known)


PARTS_OF_COORDINATOR = (
    Closed(
        "requests",
        closed_subject(
            "requests", _ONE_SOURCE._replace(unaligned=True), Scope(ids=3, types=(CHECKPOINT, SAVEPOINT))
        ),
        (TriggerRequest(CHECKPOINT),),
        _show_requests,
        _label,
        lambda action, event: type(event) in (TriggerRequest, AcknowledgeMessage),
    ),
    Closed(
        "scheduler",
        closed_subject(
            "the scheduler",
            _ONE_SOURCE._replace(
                interval=2, initial_delay=1, min_pause=2, timeout=3, profile=COORDINATOR_PROFILES["1.20"]
            ),
            Scope(ids=1, until=4),
        ),
        (),
        _show_scheduler,
        _label,
        lambda action, event: action == "Advance" or type(event) is AcknowledgeMessage,
    ),
    Closed(
        "masters",
        closed_subject("masters", _ONE_SOURCE._replace(coordinators=1, hooks=1), Scope(ids=1, more=answers)),
        (),
        _show_masters,
        _label,
        lambda action, event: type(event) not in (TriggerFails, DeclineMessage),
    ),
    Closed(
        "shared-files",
        closed_subject("shared files", _ONE_SOURCE, Scope(ids=2, files=((), (1,)))),
        (),
        _show_shared,
        _label,
        lambda action, event: type(event) is not DeclineMessage,
    ),
)
"""The pictures of parts of the coordinator, in the order of the page."""
