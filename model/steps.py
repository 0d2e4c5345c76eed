"""The step function for the class of each event: a table without rules."""

from collections.abc import Callable, Mapping
from typing import Any

from model.channel import channel, exchange
from model.channel.events import (
    AbortAtSender,
    BeginPersisting,
    Emit,
    EndPersisting,
    MakeUrgent,
    RestoreChannel,
    ResumeSender,
    SendBarrier,
    Take,
    TimeOut,
    Transfer,
)
from model.channel.generations import channel_steps
from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    FailTasks,
    JobEnd,
    JobStatus,
    MasterAnswer,
    RestoreRequest,
    StoreFails,
    TaskStatus,
    TriggerFails,
    TriggerRequest,
)
from model.coordinator.generations import coordinator_steps
from model.events import AbortNotification, Advance, Close, CompleteNotification, Crash, Event, Status, Step
from model.gate import (
    buffering,
    polled_gate,
    polled_unaligned_gate,
    two_threads,
)
from model.gate.events import Barrier, Cancel, EndOfPartition, Injection, Record
from model.gate.generations import aligned_steps, tracking_steps
from model.gate.unaligned_events import Announce, Inject, OptionedBarrier, ReceiveBarrier, RunMail
from model.gate.unaligned_generations import unaligned_steps
from model.offsets import offsets
from model.offsets.events import RestoreOffsets, SnapshotOffsets
from model.sink import two_phase_commit
from model.sink.events import (
    FailingCompletion,
    FailingRestore,
    Finish,
    Restore,
    SnapshotRequest,
    WriteRequest,
)
from model.sink.generations import finish
from model.source import source_task
from model.source.events import Ended, Induce, TriggerArrives
from model.source.generations import source_steps
from model.store import store
from model.store.events import Add, LatestRequest, Shutdown
from model.store.generations import store_steps
from model.subtask.events import AbortOnBarrier, AsyncDone, AsyncFailed, Checkpoint, SubsumedNotification
from model.subtask.generations import subtask_steps

Handler = Callable[..., Step[Any]]


def _of_generation(steps_of: Callable[[Any], object], names: Mapping[type, str]) -> Mapping[type, Handler]:
    """By event, the step of the state's generation. `names`: by event, the name of the step."""

    def handler(name: str) -> Handler:
        return lambda state, *fields: getattr(steps_of(state), name)(state, *fields)

    return {event: handler(name) for event, name in names.items()}


HANDLERS: Mapping[str, Mapping[type, Handler]] = {
    "gate": _of_generation(
        aligned_steps,
        {
            Barrier: "on_barrier",
            Cancel: "on_cancel",
            EndOfPartition: "on_end_of_partition",
            Injection: "on_inject",
        },
    ),
    "tracker": _of_generation(
        tracking_steps,
        {
            Record: "on_record",
            Barrier: "on_barrier",
            Cancel: "on_cancel",
            EndOfPartition: "on_end_of_partition",
        },
    ),
    "unaligned": _of_generation(
        unaligned_steps,
        {
            OptionedBarrier: "on_barrier",
            Announce: "on_announce",
            Inject: "on_inject",
            Cancel: "on_cancel",
            EndOfPartition: "on_end_of_partition",
            Advance: "on_advance",
        },
    ),
    "channel": {
        **_of_generation(channel_steps, {SendBarrier: "on_send_barrier", Transfer: "on_transfer"}),
        Emit: channel.on_emit,
        TimeOut: channel.on_time_out,
        AbortAtSender: channel.on_abort,
        Take: channel.on_take,
        ResumeSender: channel.on_resume,
        BeginPersisting: channel.on_start_persisting,
        EndPersisting: channel.on_stop_persisting,
        MakeUrgent: channel.on_prioritise,
        RestoreChannel: channel.on_restore,
    },
    "threads": {
        ReceiveBarrier: two_threads.on_receive,
        RunMail: two_threads.on_mail,
        OptionedBarrier: two_threads.on_barrier,
        Cancel: two_threads.on_cancel,
        EndOfPartition: two_threads.on_end_of_partition,
        Advance: two_threads.on_advance,
    },
    "subtask": _of_generation(
        subtask_steps,
        {
            Checkpoint: "on_checkpoint",
            AbortOnBarrier: "on_abort_on_barrier",
            AbortNotification: "on_abort_notification",
            CompleteNotification: "on_complete_notification",
            AsyncDone: "on_async_done",
            AsyncFailed: "on_async_failed",
            SubsumedNotification: "on_subsumed_notification",
            Close: "on_close",
            Status: "on_status",
        },
    ),
    "source": {
        **_of_generation(source_steps, {TriggerArrives: "on_trigger", Induce: "on_induce"}),
        Ended: source_task.on_ended,
        Status: source_task.on_status,
    },
    "coordinator": _of_generation(
        coordinator_steps,
        {
            TriggerRequest: "on_trigger",
            AcknowledgeMessage: "on_acknowledge",
            DeclineMessage: "on_decline",
            Advance: "on_advance",
            JobStatus: "on_job_status",
            TaskStatus: "on_task_status",
            FailTasks: "on_fail_tasks",
            RestoreRequest: "on_restore",
            TriggerFails: "on_trigger_fails",
            MasterAnswer: "on_master_answer",
            StoreFails: "on_store_fails",
            CoordinatorRestart: "on_coordinator_restart",
            JobEnd: "on_job_end",
        },
    ),
    "store": {
        **_of_generation(store_steps, {Add: "on_add"}),
        LatestRequest: store.on_latest,
        Shutdown: store.on_shutdown,
    },
    "sink": {
        WriteRequest: two_phase_commit.on_write,
        SnapshotRequest: two_phase_commit.on_snapshot,
        CompleteNotification: two_phase_commit.on_notify_complete,
        AbortNotification: two_phase_commit.on_notify_abort,
        Finish: finish,
        Crash: two_phase_commit.on_crash,
        Restore: two_phase_commit.on_restore,
        FailingCompletion: two_phase_commit.on_notify_complete,
        FailingRestore: two_phase_commit.on_restore,
        Close: two_phase_commit.on_close,
    },
    "offsets": {
        SnapshotOffsets: offsets.on_snapshot,
        CompleteNotification: offsets.on_notify_complete,
        AbortNotification: offsets.on_notify_abort,
        Crash: offsets.on_crash,
        RestoreOffsets: offsets.on_restore,
    },
}


def step_of(component: str) -> Callable[[Any, Event], Step[Any]]:
    """The step of one component: it passes the event's fields to the function of its class."""
    if component == "network":
        return network_step
    if component == "buffer":
        return buffer_step
    if component == "passage":
        return passage_step
    if component == "exchange":
        return exchange_step
    handlers = HANDLERS[component]

    def step(state: Any, event: Event) -> Step[Any]:  # noqa: ANN401 - any component's state
        return handlers[type(event)](state, *event[:-1])

    return step


def network_step(inbox: polled_gate.Inbox, item: Any) -> Step[Any]:  # noqa: ANN401 - an Item
    """The step of the polled gate, which takes items whole."""
    if type(item) is Injection:
        return polled_gate.on_inject(inbox, item.checkpoint)
    return polled_gate.on_arrival(inbox, item)


def buffer_step(buffer: buffering.Buffer, item: Any) -> Step[Any]:  # noqa: ANN401 - an Item
    """The step of the gate that stores items."""
    return buffering.on_arrival(buffer, item)


def passage_step(passage: polled_unaligned_gate.Passage, event: Any) -> Step[Any]:  # noqa: ANN401 - an Item or a call
    """The step of the polled gate of unaligned checkpoints; a call goes to the gate at once."""
    if type(event) is Advance or type(event) is Inject:
        return polled_unaligned_gate.on_call(passage, event)
    return polled_unaligned_gate.on_arrival(passage, event)


def exchange_step(state: exchange.Exchange, event: Event) -> Step[Any]:
    """The step of a channel between two tasks: the tasks take some events, the channel the others."""
    if type(event) is exchange.Recover:
        return exchange.on_recover(state, event.checkpoint)
    if type(event) is BeginPersisting:
        return exchange.on_begin(state, event.checkpoint)
    if type(event) is EndPersisting:
        return exchange.on_give_up(state)
    return exchange.on_event(state, event, HANDLERS["channel"][type(event)](state.channel, *event[:-1]))
