"""The protocol composed: sources, one operator, a transactional sink, the coordinator, and failures.

Two or more sources send numbered records over FIFO channels to one operator that counts them; it passes
each on to one sink. A source's state is its offset, the operator's how often it has counted each
record; the sink writes into transactions. Every rule is another room's: gates align
(`model.gate.aligned`), subtasks snapshot (`model.subtask.subtask`), the coordinator counts
(`model.coordinator.coordinator`), the sink commits (`model.sink.two_phase_commit`).
`model.dataflow.composition` carries their effects from one to the other, `model.dataflow.actions` is what
may happen, and what then has to hold are ONCE-01 to ONCE-06 (`model.dataflow.properties`).

What is left out: the asynchronous part of a snapshot ends at once, its delay is the acknowledgement's;
partitions do not end. When attempts fail and messages arrive is the environment's choice
(`model.dataflow.environment`). The same job stands in spec/Dataflow.tla, and their graphs are compared.
"""

from typing import NamedTuple, TypeVar

from model.coordinator import coordinator
from model.coordinator import state as coordinator_state
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
"""By source, by record of that source: how often."""
Item = Record | Barrier | Cancel


class Sent(NamedTuple):
    """An item on its way, with the attempt that sent it (ONCE-06)."""

    attempt: int
    item: Item


Channel = tuple[Sent, ...]
"""What has been sent and not received, oldest first."""


class Wires(NamedTuple):
    """How tasks and coordinator hear of each other; by task. Never changes."""

    slow: tuple[bool, ...]
    """Its answers travel; those of the others arrive at once."""
    hear_complete: tuple[bool, ...]
    """It is told of completed checkpoints; one that commits nothing need not be."""
    hear_abort: tuple[bool, ...]
    """It is told of aborted checkpoints."""


class Tasks(NamedTuple):
    """What an execution attempt holds in memory, which ends with it, and what is on its wires."""

    offsets: tuple[int, ...]
    """By source: how many records it has read."""
    inputs: tuple[Channel, ...]
    """By source: its channel to the operator."""
    gate: Gate
    """Of the operator."""
    counted: Counts
    """The operator's state."""
    output: Channel
    """The operator's channel to the sink."""
    sink_gate: Gate
    subtasks: tuple[Subtask, ...]
    """By task: the sources, then the operator, then the sink."""


class Cut(NamedTuple):
    """What tasks have stored for one checkpoint; a task that has not is as at the beginning."""

    checkpoint: int
    stored: tuple[bool, ...]
    """By task."""
    offsets: tuple[int, ...]
    counted: Counts
    sunk: Counts
    """What the sink had committed or pre-committed, this checkpoint's transaction included."""


class Content(NamedTuple):
    """The records in a transaction that is not committed."""

    transaction: int
    records: Counts


class Dataflow(NamedTuple):
    """The whole job, with what outlives its attempts."""

    wires: Wires
    attempt: int
    """Counts the execution attempts, from 1."""
    restored: int
    """The checkpoint that this attempt was restored from, -1 for the beginning."""
    tasks: Tasks
    coordinator: Coordinator
    messages: Messages
    sink: Sink
    contents: tuple[Content, ...]
    """Ascending by transaction."""
    committed: Counts
    """The committed output."""
    cuts: tuple[Cut, ...]
    """Ascending by checkpoint."""

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
    """A job that runs, before its first record; each source has `records` of them.

    Unless `wires` says otherwise all answers travel, aborts are told to all and completions to the sink.
    """
    plan = Plan(
        (True,) * sources + (False, False),
        timeout=1,
        max_concurrent=max_concurrent,
        profile=profile,
        finished_tasks=profile.goes_on_after_finished_tasks,
    )
    start = beginning(sources, records)
    everybody = (True,) * (sources + 2)
    return Dataflow(
        wires=wires or Wires(everybody, (False,) * (sources + 1) + (True,), everybody),
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
        subtasks=(subtask.new_subtask(max_concurrent),) * (sources + 2),
    )


def all_run(state: Coordinator) -> Coordinator:
    """The coordinator once every task has told that it runs."""
    for task in range(len(state.plan.sources)):
        state = coordinator.on_task_status(state, task, RUNNING).state
    return coordinator.on_job_status(state, RUNNING).state


def operator_of(dataflow: Dataflow) -> int:
    """The operator's position in the plan; the sink's is one more."""
    return len(dataflow.tasks.offsets)


def beginning(sources: int, records: int) -> Cut:
    """The cut before the first record; no task has stored it."""
    nothing = ((0,) * records,) * sources
    return Cut(NONE, (False,) * (sources + 2), (0,) * sources, nothing, nothing)


def cut_of(dataflow: Dataflow, checkpoint: int) -> Cut:
    """What is stored for `checkpoint`; the beginning if nothing is."""
    for cut in dataflow.cuts:
        if cut.checkpoint == checkpoint:
            return cut
    return beginning(len(dataflow.committed), len(dataflow.committed[0]))


def content_of(dataflow: Dataflow, transaction: int) -> Content:
    """The records of an uncommitted transaction; empty before its first."""
    for content in dataflow.contents:
        if content.transaction == transaction:
            return content
    return Content(transaction, beginning(len(dataflow.committed), len(dataflow.committed[0])).sunk)


def counted_once_more(counts: Counts, number: int) -> Counts:
    """The counts with record `number` counted once more; numbers go through the sources one by one."""
    source, index = divmod(number, len(counts[0]))
    return with_element(counts, source, with_element(counts[source], index, counts[source][index] + 1))


def summed(left: Counts, right: Counts) -> Counts:
    """Both together."""
    return tuple(
        tuple(here + there for here, there in zip(*both, strict=True))
        for both in zip(left, right, strict=True)
    )


def with_element(elements: tuple[T, ...], position: int, element: T) -> tuple[T, ...]:
    """The same elements with another one at `position`."""
    return (*elements[:position], element, *elements[position + 1 :])
