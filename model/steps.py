"""One event, one step: the event's class picks the step function. A table, no rule."""

from collections.abc import Callable, Mapping
from typing import Any

from model import (
    alignment,
    alternating,
    buffering,
    channel,
    coordinator,
    exchange,
    inducing,
    inflight,
    network,
    offsets,
    recovery,
    scheduling,
    starting,
    store,
    subtask,
    threads,
    tracking,
    transactions,
)
from model.barriers import Announce, Inject, OptionedBarrier, ReceiveBarrier, RunMail
from model.channel_words import (
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
from model.coordinator_events import CoordinatorRestart, JobEnd, MasterAnswer, StoreFails, TriggerFails
from model.events import (
    AbortNotification,
    AbortOnBarrier,
    AcknowledgeMessage,
    Add,
    Advance,
    AsyncDone,
    AsyncFailed,
    Barrier,
    Cancel,
    Checkpoint,
    Close,
    CompleteNotification,
    Crash,
    DeclineMessage,
    EndOfPartition,
    Event,
    FailTasks,
    Finish,
    Injection,
    JobStatus,
    LatestRequest,
    Record,
    Restore,
    RestoreRequest,
    Shutdown,
    SnapshotRequest,
    Status,
    Step,
    SubsumedNotification,
    TaskStatus,
    TriggerRequest,
    WriteRequest,
)
from model.operator_events import (
    Ended,
    FailingCompletion,
    FailingRestore,
    Induce,
    RestoreOffsets,
    SnapshotOffsets,
    TriggerArrives,
)

Handler = Callable[..., Step[Any]]

HANDLERS: Mapping[str, Mapping[type, Handler]] = {
    "gate": {
        Barrier: alignment.on_barrier,
        Cancel: alignment.on_cancel,
        EndOfPartition: alignment.on_end_of_partition,
        Injection: alignment.on_inject,
    },
    "tracker": {
        Record: tracking.on_record,
        Barrier: tracking.on_barrier,
        Cancel: tracking.on_cancel,
        EndOfPartition: tracking.on_end_of_partition,
    },
    "unaligned": {
        OptionedBarrier: alternating.on_barrier,
        Announce: alternating.on_announce,
        Inject: alternating.on_inject,
        Cancel: alternating.on_cancel,
        EndOfPartition: alternating.on_end_of_partition,
        Advance: alternating.on_advance,
    },
    "channel": {
        Emit: channel.on_emit,
        SendBarrier: channel.on_send_barrier,
        TimeOut: channel.on_time_out,
        AbortAtSender: channel.on_abort,
        Transfer: channel.on_transfer,
        Take: channel.on_take,
        ResumeSender: channel.on_resume,
        BeginPersisting: channel.on_start_persisting,
        EndPersisting: channel.on_stop_persisting,
        MakeUrgent: channel.on_prioritise,
        RestoreChannel: channel.on_restore,
    },
    "threads": {
        ReceiveBarrier: threads.on_receive,
        RunMail: threads.on_mail,
        OptionedBarrier: threads.on_barrier,
        Cancel: threads.on_cancel,
        EndOfPartition: threads.on_end_of_partition,
        Advance: threads.on_advance,
    },
    "subtask": {
        Checkpoint: subtask.on_checkpoint,
        AbortOnBarrier: subtask.on_abort_on_barrier,
        AbortNotification: subtask.on_abort_notification,
        CompleteNotification: subtask.on_complete_notification,
        AsyncDone: subtask.on_async_done,
        AsyncFailed: subtask.on_async_failed,
        SubsumedNotification: subtask.on_subsumed_notification,
        Close: subtask.on_close,
        Status: subtask.on_status,
    },
    "source": {
        TriggerArrives: inducing.on_trigger,
        Induce: inducing.on_induce,
        Ended: inducing.on_ended,
        Status: inducing.on_status,
    },
    "coordinator": {
        TriggerRequest: coordinator.on_trigger,
        AcknowledgeMessage: coordinator.on_acknowledge,
        DeclineMessage: coordinator.on_decline,
        Advance: scheduling.on_advance,
        JobStatus: coordinator.on_job_status,
        TaskStatus: coordinator.on_task_status,
        FailTasks: coordinator.on_fail_tasks,
        RestoreRequest: recovery.on_restore,
        TriggerFails: scheduling.on_trigger_fails,
        MasterAnswer: starting.on_master_answer,
        StoreFails: recovery.on_store_fails,
        CoordinatorRestart: recovery.on_coordinator_restart,
        JobEnd: recovery.on_job_end,
    },
    "store": {
        Add: store.on_add,
        LatestRequest: store.on_latest,
        Shutdown: store.on_shutdown,
    },
    "sink": {
        WriteRequest: transactions.on_write,
        SnapshotRequest: transactions.on_snapshot,
        CompleteNotification: transactions.on_notify_complete,
        AbortNotification: transactions.on_notify_abort,
        Finish: transactions.on_finish,
        Crash: transactions.on_crash,
        Restore: transactions.on_restore,
        FailingCompletion: transactions.on_notify_complete,
        FailingRestore: transactions.on_restore,
        Close: transactions.on_close,
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
    """The step of one component: give the event's fields to the function for its class."""
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


def network_step(inbox: network.Inbox, item: Any) -> Step[Any]:  # noqa: ANN401 - an Item
    """The polled gate takes its items whole."""
    if type(item) is Injection:
        return network.on_inject(inbox, item.checkpoint)
    return network.on_arrival(inbox, item)


def buffer_step(buffer: buffering.Buffer, item: Any) -> Step[Any]:  # noqa: ANN401 - an Item
    """So does the gate that stores."""
    return buffering.on_arrival(buffer, item)


def passage_step(passage: inflight.Passage, event: Any) -> Step[Any]:  # noqa: ANN401 - an Item or a call
    """So does the polled gate of unaligned checkpoints; what is no item goes to the gate at once."""
    if type(event) is Advance or type(event) is Inject:
        return inflight.on_call(passage, event)
    return inflight.on_arrival(passage, event)


def exchange_step(state: exchange.Exchange, event: Event) -> Step[Any]:
    """The tasks at both ends have a word in some events; the others are the channel's."""
    if type(event) is exchange.Recover:
        return exchange.on_recover(state, event.checkpoint)
    if type(event) is BeginPersisting:
        return exchange.on_begin(state, event.checkpoint)
    if type(event) is EndPersisting:
        return exchange.on_give_up(state)
    return exchange.on_event(state, event, HANDLERS["channel"][type(event)](state.channel, *event[:-1]))
