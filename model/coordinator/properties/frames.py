"""The frames of the coordinator: the fields that each event can change, and its effects in their order.

A frame permits every change and effect of at least one generation. The properties of this folder restrict
them further.
"""

from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    Deleted,
    FailTasks,
    IoFails,
    JobEnd,
    JobStatus,
    RestoreRequest,
    StoreFails,
    TaskStatus,
    TriggerFails,
    TriggerRequest,
)
from model.coordinator.trigger import MasterAnswer
from model.event_frames import Frame
from model.events import Advance
from model.registry import Registry

COORDINATOR_FRAMES = Registry("coordinator")

_ABORT = "(abort fail_job? discard_state* fail_job? notify_abort* notify_coordinator* fail_job?)"
_LEAVES = f"rejected fail_job? | fail_job | trigger_master+ | trigger_task+ | {_ABORT}"
_TURNS = f"({_LEAVES})*"
_SUSPENDS = f"(rejected | fail | {_ABORT})*"
_DELETES = "(discard discard_state*)*"
_STORED = f"discard_state* complete? {_ABORT}* (notify_complete notify_subsumed*)* notify_coordinator*"
_NOT_STORED = "abort? (discard discard_state*)? fail_job? notify_abort* notify_coordinator*"
_NOT_WRITTEN = _ABORT
_COMPLETES = f"complete? ({_DELETES} {_STORED} | ({_NOT_STORED} | {_NOT_WRITTEN}) (fail | fail_job)?)"

_STATUSES = "tasks_run tasks_finished tasks_reached"
_TURN = "pending master outlived queue next_id failures deletions io"
_REQUEST = f"{_TURN} scheduler.due scheduler.postponed"
_SCHEDULER = f"{_TURN} scheduler"
_COMPLETION = f"{_REQUEST} store.entries shared fault unseen pause_ends"

COORDINATOR_FRAMES.frames({
    JobStatus: Frame("COORD-12", f"status {_SCHEDULER}", f"{_SUSPENDS} {_TURNS}"),
    TaskStatus: Frame(
        "COORD-26", f"{_STATUSES} {_SCHEDULER}", f"{_SUSPENDS} {_TURNS}"
    ),
    FailTasks: Frame(
        "COORD-12", f"status {_STATUSES} {_SCHEDULER}", f"{_SUSPENDS} {_TURNS}"
    ),
    TriggerRequest: Frame("COORD-13", f"{_REQUEST} scheduler.runs", f"{_SUSPENDS} fail_job? {_TURNS}"),
    TriggerFails: Frame("COORD-24", _TURN, f"({_ABORT} {_TURNS})?"),
    AcknowledgeMessage: Frame(
        "COORD-08", _COMPLETION, f"acknowledged? discard_state* | acknowledged {_COMPLETES} {_TURNS}"
    ),
    DeclineMessage: Frame("COORD-09", _REQUEST, f"({_ABORT} {_TURNS})?"),
    MasterAnswer: Frame(
        "COORD-23", _COMPLETION, f"{_ABORT}? {_TURNS} | trigger_master* | trigger_task+ {_COMPLETES} {_TURNS}"
    ),
    Advance: Frame("COORD-10", f"now {_REQUEST}", f"({_ABORT} | {_LEAVES})*"),
    StoreFails: Frame("COORD-20", "fault"),
    IoFails: Frame("COORD-34", "io"),
    Deleted: Frame("COORD-33", _REQUEST, _TURNS),
    RestoreRequest: Frame(
        "ONCE-04", f"shared {_SCHEDULER}", f"fail | {_ABORT}* restored {_SUSPENDS} {_TURNS}"
    ),
    CoordinatorRestart: Frame(
        "COORD-22",
        f"status {_STATUSES} {_SCHEDULER} pause_ends store.entries unseen shared open regional.consecutive",
    ),
    JobEnd: Frame(
        "COORD-25",
        "pending master outlived queue failures deletions scheduler.runs scheduler.due scheduler.postponed "
        "store.entries shared unseen open",
        f"rejected* {_ABORT}* {_DELETES} discard_state*",
    ),
})  # fmt: skip
