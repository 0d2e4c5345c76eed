"""The state of barrier snapshots on any dataflow: sorts, constants, axioms about them, and fields.

Tasks and channels are elements of sorts without a bound on their number. A channel may also be the input that
a source reads (`is_input`), or the output that a sink writes (`is_output`). Operators are any functions: the
state of a task, and the records that it sends, depend on nothing but its history. Positions count the records
of a channel, or the records that a task has read.

The *run* (`order`, `history`, `read_after`, `sent_after`) records the steps of each task since the start of
the job, without the steps that a restore has undone. No condition of an action depends on the run. The
invariant compares the state machine with the run.
"""

from collections.abc import Mapping

from model.theorem.logic import TRUTH, Formula, Function, Sort, State, Term, both, either, implies, no
from model.theorem.theory import Field, clause

TASK, CHANNEL = Sort("Task"), Sort("Channel")
ID = Sort("Id", is_number=True)
POSITION = Sort("Position", is_number=True)
HISTORY, VALUE = Sort("History"), Sort("Value")

CONSTANTS = (
    Field("source_of", (CHANNEL,), TASK, "the task that sends on the channel"),
    Field("target_of", (CHANNEL,), TASK, "the task that reads the channel"),
    Field("is_input", (CHANNEL,), TRUTH, "a source reads it from outside; no task sends on it"),
    Field("is_output", (CHANNEL,), TRUTH, "a sink writes it to the outside; no task reads it"),
    Field("is_bounded", (CHANNEL,), TRUTH, "the input ends"),
    Field("size", (CHANNEL,), POSITION, "number of records of a bounded input"),
    Field("rank", (TASK,), POSITION, "a number that grows along channels: the dataflow has no cycle"),
    Field("first_history", (TASK,), HISTORY, "the state of a new task"),
    Field("next_history", (HISTORY, CHANNEL, VALUE), HISTORY, "the state after one more record"),
    Field("count", (CHANNEL, HISTORY), POSITION, "number of records that a task sends in the new state"),
    Field("emit", (CHANNEL, HISTORY, POSITION), VALUE, "the records that a task sends in the new state"),
    Field("overtakes", (ID,), TRUTH, "barriers of the checkpoint may overtake records: it is unaligned"),
    Field("stops", (ID,), TRUTH, "the checkpoint is a savepoint with which the job stops"),
    Field("is_savepoint", (ID,), TRUTH, "the completion of a newer checkpoint does not end it"),
    Field("lost", (), VALUE, "the unknown value at positions of a channel that a restore has not filled"),
)
FIELDS = (
    Field("length", (TASK,), POSITION, "run: number of records that the task has read"),
    Field("order", (TASK, POSITION), CHANNEL, "run: the channel from which the task read the record"),
    Field("history", (TASK, POSITION), HISTORY, "run: the task's state after this number of records"),
    Field("read_after", (CHANNEL, POSITION), POSITION, "run: number of records read from it by then"),
    Field("sent_after", (CHANNEL, POSITION), POSITION, "run: number of records sent on it by then"),
    Field("is_up", (), TRUTH, "the job runs, and has not failed"),
    Field("state", (TASK,), HISTORY, "the state of the task"),
    Field("read", (CHANNEL,), POSITION, "the position of the next record to read"),
    Field("sent", (CHANNEL,), POSITION, "the position of the next record to send"),
    Field("value", (CHANNEL, POSITION), VALUE, "the records of the channel"),
    Field("current", (ID,), TRUTH, "the checkpoint began in this execution attempt"),
    Field("passed", (TASK, ID), TRUTH, "the task has taken its snapshot and sent its barriers"),
    Field("cut", (TASK, ID), POSITION, "run: number of records that the task had read at its snapshot"),
    Field("barrier", (CHANNEL, ID), POSITION, "the barrier stands before the record of this position"),
    Field("arrived", (CHANNEL, ID), TRUTH, "the barrier has reached the reader"),
    Field("given_up", (TASK, ID), TRUTH, "the task has given up the alignment"),
    Field("ended", (CHANNEL,), TRUTH, "the reader knows that nothing follows on the channel"),
    Field("finished", (TASK,), TRUTH, "the task has read all and has finished"),
    Field("finished_at", (TASK, ID), TRUTH, "the task had finished when its snapshot was taken"),
    Field("captured", (TASK, ID), HISTORY, "the state that the snapshot's synchronous part copied"),
    Field("captured_offset", (CHANNEL, ID), POSITION, "the reading position that this part copied"),
    Field("kept", (CHANNEL, ID, POSITION), TRUTH, "the record is part of the checkpoint's channel state"),
    Field("kept_value", (CHANNEL, ID, POSITION), VALUE, "the value of the record in the channel state"),
    Field("stored", (TASK, ID), TRUTH, "the snapshot's asynchronous part has ended"),
    Field("saved", (TASK, ID), HISTORY, "the stored state"),
    Field("offset", (CHANNEL, ID), POSITION, "the stored reading position"),
    Field("begun", (ID,), TRUTH, "the coordinator has used the id"),
    Field("pending", (ID,), TRUTH, "the coordinator waits for acknowledgements"),
    Field("acknowledged", (TASK, ID), TRUTH, "the coordinator has the task's acknowledgement"),
    Field("completed", (ID,), TRUTH, "the checkpoint is complete; 0 is the start of the job"),
    Field("latest", (), ID, "the checkpoint that a restore takes"),
    Field("opened_at", (CHANNEL,), POSITION, "the position at which the sink's open transaction begins"),
    Field("first", (CHANNEL, ID), POSITION, "the first position of the transaction closed by the checkpoint"),
    Field("end", (CHANNEL, ID), POSITION, "the position behind this transaction"),
    Field(
        "transaction_of", (CHANNEL, POSITION), ID, "run: the checkpoint that closed the record's transaction"
    ),
    Field("committed", (CHANNEL, ID), TRUTH, "the transaction is committed"),
    Field("times", (CHANNEL, POSITION), POSITION, "how often commits have made the record visible"),
    Field("visible", (CHANNEL, POSITION), VALUE, "the record as readers see it"),
)


def has_sender(s: State, c: Term) -> Formula:
    """A task sends on the channel."""
    return no(s.is_input(c))


def has_reader(s: State, c: Term) -> Formula:
    """A task reads the channel."""
    return no(s.is_output(c))


def between_tasks(s: State, c: Term) -> Formula:
    """The channel leads from one task to another."""
    return both(has_sender(s, c), has_reader(s, c))


def sends_on(s: State, t: Term, c: Term) -> Formula:
    """The task sends on the channel."""
    return both(has_sender(s, c), s.source_of(c) == t)


def reads_from(s: State, t: Term, c: Term) -> Formula:
    """The task reads the channel."""
    return both(has_reader(s, c), s.target_of(c) == t)


def is_delivered(s: State, c: Term, n: Term) -> Formula:
    """The barrier has arrived, or the channel has ended, so that none will arrive."""
    return either(s.arrived(c, n), s.ended(c))


def is_stopping(s: State, n: Term) -> Formula:
    """The checkpoint is a savepoint that stops the job, and it is pending or complete."""
    return both(s.stops(n), s.current(n), either(s.pending(n), s.completed(n)))


def is_read_to_the_end(s: State, c: Term, position: Term) -> Formula:
    """The position is the end of a bounded input."""
    return both(s.is_bounded(c), position == s.size(c))


@clause(CHANNEL)
def acyclic(s: State, c: Term) -> Formula:
    """The rank grows along each channel between tasks."""
    return implies(between_tasks(s, c), s.rank(s.source_of(c)) < s.rank(s.target_of(c)))


@clause(CHANNEL)
def one_end_outside(s: State, c: Term) -> Formula:
    """No channel is both an input and an output of the job."""
    return no(both(s.is_input(c), s.is_output(c)))


@clause(CHANNEL, HISTORY)
def counts(s: State, c: Term, h: Term) -> Formula:
    """A task sends no negative number of records."""
    return s.count(c, h) >= 0


@clause(ID)
def stops_aligned(s: State, n: Term) -> Formula:
    """A savepoint that stops the job is aligned."""
    return implies(s.stops(n), no(s.overtakes(n)))


AXIOMS = (acyclic, one_end_outside, counts, stops_aligned)


def start(s: State) -> Mapping[str, Function]:
    """A new job: nothing is read or sent; checkpoint 0 holds the states of new tasks."""
    numbers = (
        "length read_after sent_after read sent cut barrier captured_offset offset opened_at first end times"
    )
    relations = "current given_up ended finished finished_at kept pending acknowledged committed"
    return {
        **dict.fromkeys(numbers.split(), lambda *_: 0),
        **dict.fromkeys(relations.split(), lambda *_: False),
        "latest": lambda: 0,
        "is_up": lambda: True,
        "state": s.first_history,
        **dict.fromkeys(("history", "captured", "saved"), lambda t, _: s.first_history(t)),
        **dict.fromkeys(("begun", "completed"), lambda n: n == 0),
        **dict.fromkeys(("passed", "arrived", "stored"), lambda _, n: n == 0),
    }
