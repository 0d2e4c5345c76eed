"""The state of the composed protocol: sources, one operator, a transactional sink, the coordinator.

Sources send numbered records over FIFO channels to one operator, which counts them and sends each one to one
sink. The state of a source is its offset. The state of the operator is its count of each record. The sink
writes records into transactions. Other modules hold the steps of the components: gates align
(`model.gate.aligned`), subtasks take snapshots (`model.subtask.subtask`), the coordinator collects
acknowledgements (`model.coordinator.coordinator`), and the sink commits (`model.sink.two_phase_commit`).
`model.dataflow.composition` passes their effects to other components. `model.dataflow.actions` holds the
actions. `model.dataflow.properties` holds the rules of the composition, ONCE-01 to ONCE-06.

In this model the asynchronous part of a snapshot takes no time; only the acknowledgement may be late.
Partitions do not end. The environment decides when attempts fail and messages arrive
(`model.dataflow.environment`). spec/dataflow/Dataflow.tla specifies the same job. The suite compares the two
state graphs.
"""

from typing import NamedTuple, TypeVar

from model.coordinator import state as coordinator_state
from model.coordinator.generations import coordinator_steps
from model.coordinator.profiles import NEWEST_COORDINATOR, CoordinatorProfile
from model.coordinator.state import RUNNING, Coordinator, Plan
from model.dataflow.messages import Messages
from model.events import NONE
from model.gate import aligned
from model.gate.aligned import Gate
from model.gate.events import Barrier, Cancel, Record
from model.sink import two_phase_commit
from model.sink.two_phase_commit import Sink
from model.store.store import latest
from model.subtask import subtask
from model.subtask.subtask import Subtask

T = TypeVar("T")

Counts = tuple[tuple[int, ...], ...]
"""By source, and by record of this source: how often the record occurs."""
Item = Record | Barrier | Cancel


class Sent(NamedTuple):
    """An item in a channel, with the attempt that sent it (ONCE-06)."""

    attempt: int
    item: Item


Channel = tuple[Sent, ...]
"""The items that were sent and have not been received, oldest first."""


class Wires(NamedTuple):
    """The connections between tasks and the coordinator, by task. No step changes them."""

    slow: tuple[bool, ...]
    """Whether the task's answers travel as messages. If not, an answer arrives at once."""
    notified_complete: tuple[bool, ...]
    """Whether the coordinator notifies the task of completed checkpoints.

    Only a task that commits needs it.
    """
    notified_abort: tuple[bool, ...]
    """Whether the coordinator notifies the task of aborted checkpoints."""


class Tasks(NamedTuple):
    """The volatile state of an execution attempt, and the items in its channels."""

    offsets: tuple[int, ...]
    """By source: number of records that it has read."""
    inputs: tuple[Channel, ...]
    """By source: its channel to the operator."""
    gate: Gate
    """The gate of the operator."""
    counted: Counts
    """The state of the operator: its count of each record."""
    output: Channel
    """The operator's channel to the sink."""
    sink_gate: Gate
    subtasks: tuple[Subtask, ...]
    """By task: the sources, then the operator, then the sink."""


class Cut(NamedTuple):
    """The stored parts of one checkpoint. A task that has not stored its part has its initial state here."""

    checkpoint: int
    stored: tuple[bool, ...]
    """By task: whether it has stored its part."""
    offsets: tuple[int, ...]
    counted: Counts
    sunk: Counts
    """Records that the sink has committed or pre-committed, including this checkpoint's transaction."""


class Content(NamedTuple):
    """The records in a transaction that is not committed."""

    transaction: int
    records: Counts


class Dataflow(NamedTuple):
    """The whole job, including the state that remains after an attempt has ended."""

    wires: Wires
    attempt: int
    """The number of the execution attempt, from 1."""
    restored: int
    """The checkpoint from which this attempt was restored; -1 for the initial state."""
    tasks: Tasks
    coordinator: Coordinator
    messages: Messages
    sink: Sink
    contents: tuple[Content, ...]
    """The contents of transactions that are not committed, ascending by transaction."""
    committed: Counts
    """The committed output."""
    cuts: tuple[Cut, ...]
    """The stored checkpoints, ascending by id."""

    @property
    def completed(self) -> int:
        """The checkpoint that the coordinator would restore; -1 before the first."""
        return latest(self.coordinator.store)


def new_dataflow(
    sources: int,
    records: int,
    *,
    max_concurrent: int,
    retain: int,
    profile: CoordinatorProfile = NEWEST_COORDINATOR,
    wires: Wires | None = None,
) -> Dataflow:
    """A running job before its first record. Each source has `records` records.

    With the default `wires`, all answers travel as messages. The coordinator notifies all tasks of aborts,
    and only the sink of completions.
    """
    plan = Plan(
        (True,) * sources + (False, False),
        timeout=1,
        max_concurrent=max_concurrent,
        profile=profile,
        finished_tasks=profile.after_finish_by_default,
    )
    start = beginning(sources, records)
    every_task = (True,) * (sources + 2)
    return Dataflow(
        wires=wires or Wires(every_task, (False,) * (sources + 1) + (True,), every_task),
        attempt=1,
        restored=NONE,
        tasks=deployed(start, max_concurrent),
        coordinator=all_run(coordinator_state.new_coordinator(plan, retain)),
        messages=(),
        sink=two_phase_commit.new_sink(),
        contents=(),
        committed=start.sunk,
        cuts=(),
    )


def deployed(cut: Cut, max_concurrent: int) -> Tasks:
    """The tasks of a new attempt, each with its state from `cut`."""
    sources = len(cut.offsets)
    return Tasks(
        offsets=cut.offsets,
        inputs=((),) * sources,
        gate=aligned.new_gate(sources, True),
        counted=cut.counted,
        output=(),
        sink_gate=aligned.new_gate(1, True),
        subtasks=(subtask.new_subtask(max_concurrent, restored=cut.checkpoint),) * (sources + 2),
    )


def all_run(state: Coordinator) -> Coordinator:
    """The coordinator after every task has reported that it runs."""
    steps = coordinator_steps(state)
    for task in range(len(state.plan.sources)):
        state = steps.on_task_status(state, task, RUNNING).state
    return steps.on_job_status(state, RUNNING).state


def operator_of(dataflow: Dataflow) -> int:
    """The position of the operator in the plan. The sink has the next position."""
    return len(dataflow.tasks.offsets)


def beginning(sources: int, records: int) -> Cut:
    """The cut before the first record. No task has stored it."""
    nothing = ((0,) * records,) * sources
    return Cut(NONE, (False,) * (sources + 2), (0,) * sources, nothing, nothing)


def cut_of(dataflow: Dataflow, checkpoint: int) -> Cut:
    """The stored cut of `checkpoint`. If there is none, the initial cut."""
    for cut in dataflow.cuts:
        if cut.checkpoint == checkpoint:
            return cut
    return beginning(len(dataflow.committed), len(dataflow.committed[0]))


def content_of(dataflow: Dataflow, transaction: int) -> Content:
    """The records of an uncommitted transaction. Empty before its first record."""
    for content in dataflow.contents:
        if content.transaction == transaction:
            return content
    return Content(transaction, beginning(len(dataflow.committed), len(dataflow.committed[0])).sunk)


def counted_once_more(counts: Counts, number: int) -> Counts:
    """The counts with record `number` counted once more. Records are numbered source by source."""
    source, index = divmod(number, len(counts[0]))
    return with_element(counts, source, with_element(counts[source], index, counts[source][index] + 1))


def summed(left: Counts, right: Counts) -> Counts:
    """The sum of both counts."""
    return tuple(
        tuple(here + there for here, there in zip(*both, strict=True))
        for both in zip(left, right, strict=True)
    )


def with_element(elements: tuple[T, ...], position: int, element: T) -> tuple[T, ...]:
    """The elements with `element` at `position`."""
    return (*elements[:position], element, *elements[position + 1 :])
