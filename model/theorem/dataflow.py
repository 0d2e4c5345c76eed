"""The state of barrier snapshots on any dataflow: sorts, constants, fields, and what is assumed.

Tasks and channels are elements of sorts without a bound on their number. A channel also represents what a
source reads (`is_input`) or what a sink writes (`is_output`). Operators are functions without assumptions:
the state of a task is a function of its history, and so are the records that it sends. Positions count the
records of a channel, or the records that a task has read.

The *run* (`order`, `history`, `read_after`, `sent_after`) records the steps of each task since the start of
the job, without the steps that a restore has undone. No action reads the run. The invariant compares the
state machine with it.
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
    Field("size", (CHANNEL,), POSITION, "how many records a bounded input has"),
    Field("rank", (TASK,), POSITION, "a number that grows along channels: the dataflow has no cycle"),
    Field("first_history", (TASK,), HISTORY, "the state of a new task"),
    Field("next_history", (HISTORY, CHANNEL, VALUE), HISTORY, "the state after one more record"),
    Field("count", (CHANNEL, HISTORY), POSITION, "how many records the task sends when it reaches the state"),
    Field("emit", (CHANNEL, HISTORY, POSITION), VALUE, "the records that it then sends"),
    Field("overtakes", (ID,), TRUTH, "barriers of the checkpoint may overtake records: it is unaligned"),
    Field("stops", (ID,), TRUTH, "the checkpoint is a savepoint with which the job stops"),
    Field("is_savepoint", (ID,), TRUTH, "the completion of a newer checkpoint does not end it"),
    Field("lost", (), VALUE, "what is read where nothing was stored"),
)
FIELDS = (
    Field("length", (TASK,), POSITION, "run: how many records the task has read"),
    Field("order", (TASK, POSITION), CHANNEL, "run: from which channel it read each"),
    Field("history", (TASK, POSITION), HISTORY, "run: its state after that many records"),
    Field("read_after", (CHANNEL, POSITION), POSITION, "run: how many were of this channel"),
    Field("sent_after", (CHANNEL, POSITION), POSITION, "run: how many records it had sent on this channel"),
    Field("is_up", (), TRUTH, "the job runs, and is not failed"),
    Field("state", (TASK,), HISTORY, "the state of the task"),
    Field("read", (CHANNEL,), POSITION, "the position of the next record to read"),
    Field("sent", (CHANNEL,), POSITION, "the position of the next record to send"),
    Field("value", (CHANNEL, POSITION), VALUE, "the records of the channel"),
    Field("current", (ID,), TRUTH, "the checkpoint began in this execution attempt"),
    Field("passed", (TASK, ID), TRUTH, "the task has taken its snapshot and sent its barriers"),
    Field("cut", (TASK, ID), POSITION, "run: how many records it had read then"),
    Field("barrier", (CHANNEL, ID), POSITION, "the barrier stands before the record of this position"),
    Field("arrived", (CHANNEL, ID), TRUTH, "the barrier has reached the reader"),
    Field("given_up", (TASK, ID), TRUTH, "the task has given the alignment up"),
    Field("ended", (CHANNEL,), TRUTH, "the reader knows that nothing follows on the channel"),
    Field("finished", (TASK,), TRUTH, "the task has read all and has finished"),
    Field("finished_at", (TASK, ID), TRUTH, "the task had finished when its snapshot was taken"),
    Field("captured", (TASK, ID), HISTORY, "the state that the snapshot's synchronous part took"),
    Field("captured_offset", (CHANNEL, ID), POSITION, "the reading position that it took"),
    Field("kept", (CHANNEL, ID, POSITION), TRUTH, "the record is part of the channel's state"),
    Field("kept_value", (CHANNEL, ID, POSITION), VALUE, "the record as it was kept"),
    Field("stored", (TASK, ID), TRUTH, "the snapshot's asynchronous part has ended"),
    Field("saved", (TASK, ID), HISTORY, "the stored state"),
    Field("offset", (CHANNEL, ID), POSITION, "the stored reading position"),
    Field("begun", (ID,), TRUTH, "the coordinator has used the id"),
    Field("pending", (ID,), TRUTH, "the coordinator waits for acknowledgements"),
    Field("acknowledged", (TASK, ID), TRUTH, "the coordinator has the task's acknowledgement"),
    Field("completed", (ID,), TRUTH, "the checkpoint is complete; 0 is the start of the job"),
    Field("latest", (), ID, "the checkpoint that a restore takes"),
    Field("opened_at", (CHANNEL,), POSITION, "where the open transaction of a sink begins"),
    Field("first", (CHANNEL, ID), POSITION, "where the transaction begins that the checkpoint closed"),
    Field("end", (CHANNEL, ID), POSITION, "where it ends"),
    Field(
        "transaction_of", (CHANNEL, POSITION), ID, "run: the checkpoint that closed the record's transaction"
    ),
    Field("committed", (CHANNEL, ID), TRUTH, "the transaction is committed"),
    Field("times", (CHANNEL, POSITION), POSITION, "how often a commit made the record visible"),
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
    """The barrier has arrived, or none is to come because the channel has ended."""
    return either(s.arrived(c, n), s.ended(c))


def is_stopping(s: State, n: Term) -> Formula:
    """The job stops with the savepoint: it is pending or complete, and was not aborted."""
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
