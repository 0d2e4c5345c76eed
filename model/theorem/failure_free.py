"""Shows that a job that never fails can do the same as a run up to a consistent cut.

In this theory the job has no checkpoints and no failures. It executes the tasks one after the other, in the
order of their rank. Each task reads the records in the order of the run. The theory shows that each record is
in the channel when the task reads it, and that states, positions and channels are those of the run. After
each step there is one record less to read. So the job ends, and its output is then that of the run up to the
cut.
"""

from collections.abc import Mapping

from model.theorem.dataflow import (
    AXIOMS,
    CHANNEL,
    CONSTANTS,
    FIELDS,
    HISTORY,
    POSITION,
    TASK,
    VALUE,
    has_reader,
    has_sender,
    reads_from,
    sends_on,
)
from model.theorem.invariant import beginning, reads, reads_grow, records, sends, sends_grow, states
from model.theorem.logic import Formula, Function, State, Term, both, chosen, implies
from model.theorem.theory import Field, Step, Theory, action, clause

RUN = tuple(
    field
    for field in FIELDS
    if field.name in ("length", "order", "history", "read_after", "sent_after", "value")
)
PLAYED = (
    Field("done", (TASK,), POSITION, "number of records that the task has read"),
    Field("state", (TASK,), HISTORY, "the state of the task"),
    Field("read", (CHANNEL,), POSITION, "the position of the next record to read"),
    Field("sent", (CHANNEL,), POSITION, "the position of the next record to send"),
    Field("content", (CHANNEL, POSITION), VALUE, "the records of the channel"),
)


@clause(TASK, POSITION)
def sent_before_the_cut(s: State, t: Term, k: Term) -> Formula:
    """If a task reads a record before the cut, its sender sends the record before the cut."""
    c = s.order(t, k)
    is_there = implies(has_sender(s, c), s.read_after(c, k) < s.sent_after(c, s.length(s.source_of(c))))
    return implies(both(k >= 0, k < s.length(t)), has_reader(s, c), s.target_of(c) == t, is_there)


@clause(TASK)
def lengths(s: State, t: Term) -> Formula:
    """The number of records that a task reads before the cut is never negative."""
    return s.length(t) >= 0


def start(s: State) -> Mapping[str, Function]:
    """Nothing is read or sent; inputs hold the records of the run."""
    return {
        "done": lambda _: 0,
        "state": s.first_history,
        "read": lambda _: 0,
        "sent": lambda _: 0,
        "content": s.value,
    }


def is_due(s: State, t: Term) -> Formula:
    """All tasks of a lower rank have read their last record, and the task has not."""
    ended = s.all(TASK, holds=lambda u: implies(s.rank(u) < s.rank(t), s.done(u) == s.length(u)))
    return both(ended, s.done(t) < s.length(t))


GIVEN = (lengths, sent_before_the_cut, reads, sends, states, records, beginning, reads_grow, sends_grow)
"""The properties of a run up to a cut. `exactly_once` proves them for each completed checkpoint."""


@action(TASK)
def process(s: State, t: Term) -> Step:
    """A task reads the next record in the order of the run, goes to its next state, and sends records."""
    c = s.order(t, s.done(t))
    state = s.next_history(s.state(t), c, s.content(c, s.read(c)))

    def sent(x: Term) -> Term:
        return s.sent(x) + s.count(x, state)

    return Step(
        {"it is the task's turn": is_due(s, t)},
        {
            "done": lambda x: chosen(x == t, s.done(x) + 1, s.done(x)),
            "state": lambda x: chosen(x == t, state, s.state(x)),
            "read": lambda x: chosen(x == c, s.read(x) + 1, s.read(x)),
            "sent": lambda x: chosen(sends_on(s, t, x), sent(x), s.sent(x)),
            "content": lambda x, p: chosen(
                both(sends_on(s, t, x), s.sent(x) <= p, p < sent(x)),
                s.emit(x, state, p - s.sent(x)),
                s.content(x, p),
            ),
        },
    )


@clause(TASK)
def tasks_follow(s: State, t: Term) -> Formula:
    """The state of a task is its state in the run after the same number of records."""
    return both(s.done(t) >= 0, s.done(t) <= s.length(t), s.state(t) == s.history(t, s.done(t)))


@clause(CHANNEL)
def channels_follow(s: State, c: Term) -> Formula:
    """The positions are those of the run after the same number of records."""
    return both(
        implies(has_reader(s, c), s.read(c) == s.read_after(c, s.done(s.target_of(c)))),
        implies(has_sender(s, c), s.sent(c) == s.sent_after(c, s.done(s.source_of(c)))),
    )


@clause(CHANNEL, POSITION)
def records_follow(s: State, c: Term, p: Term) -> Formula:
    """A channel holds the records of the run."""
    return implies(implies(has_sender(s, c), p >= 0, p < s.sent(c)), s.content(c, p) == s.value(c, p))


@clause(TASK)
def never_waits(s: State, t: Term) -> Formula:
    """When it is a task's turn, the next record of the run is in the channel."""
    c = s.order(t, s.done(t))
    return implies(is_due(s, t), reads_from(s, t, c), implies(has_sender(s, c), s.read(c) < s.sent(c)))


@clause(TASK, CHANNEL, POSITION)
def ends_as_the_run(s: State, t: Term, c: Term, p: Term) -> Formula:
    """When all tasks have ended, states, positions and records are those of the run at the cut."""
    ended = s.all(TASK, holds=lambda u: s.done(u) == s.length(u))
    before = s.sent_after(c, s.length(s.source_of(c)))
    return implies(
        ended,
        s.state(t) == s.history(t, s.length(t)),
        implies(has_sender(s, c), s.sent(c) == before),
        implies(both(has_sender(s, c), p >= 0, p < before), s.content(c, p) == s.value(c, p)),
    )


FAILURE_FREE = Theory(
    "failure-free",
    (*CONSTANTS, *RUN),
    PLAYED,
    AXIOMS,
    start,
    (process,),
    (tasks_follow, channels_follow, records_follow),
    (never_waits, ends_as_the_run),
    GIVEN,
    "cut of the run",
)
