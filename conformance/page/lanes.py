"""Where the words of each component stand in a diagram: on a lane, or between two.

A lane is named with the fields of the word: `channel {channel}` is the line of the channel that it names.
What is only worth a mark where the two sides differ is QUIET: bands show it already.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from conformance.adapters.protocol import Wire


class Seat(NamedTuple):
    """Where a word stands: on `lane`, or as an arrow from `source` to it."""

    lane: str
    look: str
    source: str = ""

    def on(self, word: Wire) -> tuple[str, str]:
        """The lane and the source for these fields."""
        return self.lane.format_map(word), self.source.format_map(word)


CHANNEL, GATE = "channel {channel}", "gate"
COORDINATOR, TASK = "coordinator", "{task}"
SUBTASK, WRITER, BELOW = "subtask", "asynchronous part", "downstream"
CHECKPOINT, TRANSACTION = "checkpoint {checkpoint}", "transaction {transaction}"
SENDER, RECEIVER = "sender", "receiver"
OUTSIDE = "system it reads"

Seats = Mapping[str, Seat]

_GATE: Seats = {
    "record": Seat(CHANNEL, "record"),
    "barrier": Seat(CHANNEL, "barrier"),
    "receive_barrier": Seat(CHANNEL, "announce"),
    "announce": Seat(CHANNEL, "announce"),
    "cancel": Seat(CHANNEL, "cancel"),
    "end_of_partition": Seat(CHANNEL, "end"),
    "inject": Seat(GATE, "request"),
    "mail": Seat(GATE, "request"),
    "advance": Seat(GATE, "time"),
    "trigger": Seat(GATE, "trigger"),
    "abort": Seat(GATE, "abort"),
    "fail": Seat(GATE, "fail"),
    "block": Seat(CHANNEL, "block"),
    "resume": Seat(CHANNEL, "resume"),
    "prioritise": Seat(CHANNEL, "request"),
    "process": Seat(CHANNEL, "record"),
    "persist": Seat(CHANNEL, "store"),
}
_SUBTASK: Seats = {
    "checkpoint": Seat(SUBTASK, "request"),
    "abort_on_barrier": Seat(SUBTASK, "abort"),
    "abort_notification": Seat(SUBTASK, "abort", COORDINATOR),
    "complete_notification": Seat(SUBTASK, "complete", COORDINATOR),
    "subsumed_notification": Seat(SUBTASK, "discard", COORDINATOR),
    "async_done": Seat(SUBTASK, "written", WRITER),
    "async_failed": Seat(SUBTASK, "fail", WRITER),
    "status": Seat(SUBTASK, "status"),
    "close": Seat(SUBTASK, "end"),
    "broadcast_barrier": Seat(BELOW, "barrier", SUBTASK),
    "broadcast_cancel": Seat(BELOW, "cancel", SUBTASK),
    "snapshot": Seat(WRITER, "snapshot", SUBTASK),
    "cancel_async": Seat(WRITER, "abort", SUBTASK),
    "acknowledge": Seat(COORDINATOR, "acknowledge", SUBTASK),
    "decline": Seat(COORDINATOR, "decline", SUBTASK),
    "fail": Seat(SUBTASK, "fail"),
}
_COORDINATOR: Seats = {
    "acknowledge": Seat(COORDINATOR, "acknowledge", TASK),
    "decline": Seat(COORDINATOR, "decline", TASK),
    "task_status": Seat(TASK, "status"),
    "trigger_fails": Seat(TASK, "fail"),
    "job_status": Seat(COORDINATOR, "status"),
    "trigger": Seat(COORDINATOR, "request"),
    "advance": Seat(COORDINATOR, "time"),
    "store_fails": Seat(COORDINATOR, "fail"),
    "fail_tasks": Seat(COORDINATOR, "fail"),
    "shutdown": Seat(COORDINATOR, "end"),
    "trigger_task": Seat(TASK, "trigger", COORDINATOR),
    "rejected": Seat(COORDINATOR, "decline"),
    "restore": Seat(COORDINATOR, "request"),
    "restored": Seat(COORDINATOR, "restore"),
    "complete": Seat(COORDINATOR, "complete"),
    "abort": Seat(COORDINATOR, "abort"),
    "discard": Seat(COORDINATOR, "discard"),
    "notify_complete": Seat(TASK, "complete", COORDINATOR),
    "notify_abort": Seat(TASK, "abort", COORDINATOR),
    "notify_subsumed": Seat(TASK, "discard", COORDINATOR),
    "fail": Seat(COORDINATOR, "fail"),
    "fail_job": Seat(COORDINATOR, "fail"),
}
_STORE: Seats = {
    "add": Seat(CHECKPOINT, "complete"),
    "discard": Seat(CHECKPOINT, "discard"),
    "subsumed": Seat(CHECKPOINT, "said"),
}
_SINK: Seats = {
    "write": Seat(TRANSACTION, "record"),
    "begin": Seat(TRANSACTION, "request"),
    "pre_commit": Seat(TRANSACTION, "pre-commit"),
    "commit": Seat(TRANSACTION, "commit"),
    "commit_failed": Seat(TRANSACTION, "fail"),
    "abort_transaction": Seat(TRANSACTION, "abort"),
    "snapshot": Seat("sink", "barrier"),
    "notify_complete": Seat("sink", "complete"),
    "notify_abort": Seat("sink", "abort"),
    "crash": Seat("sink", "fail"),
    "restore": Seat("sink", "restore"),
    "finish": Seat("sink", "end"),
    "close": Seat("sink", "end"),
}
_OFFSETS: Seats = {
    "snapshot": Seat("source", "snapshot"),
    "notify_complete": Seat("source", "complete"),
    "notify_abort": Seat("source", "abort"),
    "crash": Seat("source", "fail"),
    "restore": Seat("source", "restore"),
    "commit_offsets": Seat(OUTSIDE, "commit", "source"),
    "seek": Seat(OUTSIDE, "request", "source"),
}
_SOURCE: Seats = {
    "trigger": Seat("task", "trigger"),
    "induce": Seat("task", "barrier", OUTSIDE),
    "ended": Seat("task", "abort"),
    "status": Seat("task", "status"),
    "answer": Seat(COORDINATOR, "said", "task"),
    "decline": Seat(COORDINATOR, "decline", "task"),
    "fail": Seat("task", "fail"),
}
_CHANNEL: Seats = {
    "emit": Seat(SENDER, "record"),
    "send_barrier": Seat(SENDER, "barrier"),
    "time_out": Seat(SENDER, "time"),
    "abort": Seat(SENDER, "abort"),
    "transfer": Seat(RECEIVER, "said", SENDER),
    "take": Seat(RECEIVER, "request"),
    "resume": Seat(SENDER, "resume"),
    "restore": Seat(RECEIVER, "restore"),
    "start_persisting": Seat(RECEIVER, "request"),
    "stop_persisting": Seat(RECEIVER, "request"),
    "prioritise": Seat(RECEIVER, "request"),
    "record": Seat(GATE, "record", RECEIVER),
    "barrier": Seat(GATE, "barrier", RECEIVER),
    "announce": Seat(GATE, "announce", RECEIVER),
    "store_output": Seat(SENDER, "store"),
    "store_input": Seat(RECEIVER, "store"),
    "lose_output": Seat(SENDER, "fail"),
    "decline": Seat(RECEIVER, "decline"),
}
SEATS: Mapping[str, Seats] = MappingProxyType(
    {
        "gate": _GATE,
        "subtask": _SUBTASK,
        "coordinator": _COORDINATOR,
        "store": _STORE,
        "sink": _SINK,
        "offsets": _OFFSETS,
        "source": _SOURCE,
        "channel": _CHANNEL,
    }
)
"""By component and kind; a kind that is not there stands on the component's own lane as `said`."""

OWN: Mapping[str, str] = MappingProxyType(
    {"gate": GATE, "source": "task", "offsets": "source", "channel": RECEIVER}
)
"""The lane of a component for what has no other; that of its name if it is not here."""

QUIET: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "gate": frozenset({"block", "resume", "process", "start_persisting", "stop_persisting"}),
        "coordinator": frozenset({"acknowledged"}),
    }
)
"""Effects that get a mark only where the sides differ."""


def seat_of(component: str, word: Wire) -> tuple[str, str, str]:
    """Lane, source (empty: none) and look of an event or effect; fields that are missing do not matter."""
    seats = SEATS.get(component, {})
    seat = seats.get(str(word.get("kind")))
    own = OWN.get(component, component)
    if seat is None:
        return own, "", "said"
    try:
        lane, source = seat.on(word)
    except KeyError:  # an event outside the protocol may lack anything
        return own, "", seat.look
    return lane, source, seat.look


def first_lanes(component: str, config: Wire) -> list[str]:
    """The lanes that a configuration has from the beginning; others come with what names them."""
    match component:
        case "gate":
            return [*(f"channel {channel}" for channel in range(config.get("channels", 1))), GATE]
        case "coordinator":
            return [COORDINATOR, *(str(task["id"]) for task in config.get("tasks", ()))]
        case "subtask":
            return [COORDINATOR, SUBTASK, WRITER, BELOW]
        case "channel":
            return [SENDER, RECEIVER, GATE]
        case "store":
            return ["store"]
        case "sink":
            return ["sink"]
        case "offsets":
            return ["source", OUTSIDE]
        case "source":
            return [COORDINATOR, "task", OUTSIDE]
    return [component]
