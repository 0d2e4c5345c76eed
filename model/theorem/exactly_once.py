"""The theorem: barrier snapshots of any dataflow give exactly-once. Any task may fail at any time."""

from functools import partial

from model.theorem import finished
from model.theorem.actions import ACTIONS
from model.theorem.dataflow import (
    AXIOMS,
    CHANNEL,
    CONSTANTS,
    FIELDS,
    ID,
    POSITION,
    TASK,
    between_tasks,
    has_reader,
    start,
)
from model.theorem.failure_free import GIVEN
from model.theorem.invariant import INVARIANT
from model.theorem.logic import Formula, State, Term, both, implies, no
from model.theorem.theory import Theory, clause


@clause(CHANNEL, ID)
def consistent_cut(s: State, c: Term, n: Term) -> Formula:
    """A completed checkpoint is a consistent cut: records read before it were sent before it."""
    return implies(
        both(between_tasks(s, c), s.completed(n)),
        s.read_after(c, s.cut(s.target_of(c), n)) <= s.sent_after(c, s.cut(s.source_of(c), n)),
    )


@clause(CHANNEL, ID)
def nothing_in_flight(s: State, c: Term, n: Term) -> Formula:
    """An aligned checkpoint has no channel state: records sent before it were read before it."""
    return implies(
        both(between_tasks(s, c), s.completed(n), no(s.overtakes(n))),
        s.read_after(c, s.cut(s.target_of(c), n)) == s.sent_after(c, s.cut(s.source_of(c), n)),
    )


@clause(ID)
def cut_of_the_run(s: State, n: Term) -> Formula:
    """A record read before the cut was sent before it, so the cut is the end of a run without failures."""
    # `failure_free` assumes these clauses and no others
    cut = s.after({"length": lambda t: s.cut(t, n)})
    return implies(s.completed(n), *(s.all(*found.of, holds=partial(found.holds, cut)) for found in GIVEN))


@clause()
def run_until_now(s: State) -> Formula:
    """A task reads only records that were sent, so the whole run is a run without failures."""
    return both(*(s.all(*found.of, holds=partial(found.holds, s)) for found in GIVEN))


@clause(TASK, CHANNEL, ID, POSITION)
def snapshot_of_the_run(s: State, t: Term, c: Term, n: Term, p: Term) -> Formula:
    """A completed checkpoint holds each task's state, reading positions and records in flight at the cut."""
    reader = s.target_of(c)
    first_in_flight = s.read_after(c, s.cut(reader, n))
    is_in_flight = both(between_tasks(s, c), first_in_flight <= p, p < s.barrier(c, n))
    return implies(
        s.completed(n),
        s.saved(t, n) == s.history(t, s.cut(t, n)),
        implies(has_reader(s, c), s.offset(c, n) == first_in_flight),
        implies(is_in_flight, s.kept(c, n, p), s.kept_value(c, n, p) == s.value(c, p)),
    )


@clause(CHANNEL, POSITION)
def visible_once(s: State, c: Term, p: Term) -> Formula:
    """The output holds records of the run before the latest completed checkpoint, each at most once."""
    before = s.sent_after(c, s.cut(s.source_of(c), s.latest()))
    return implies(
        both(s.is_output(c), p >= 0),
        s.times(c, p) <= 1,
        implies(s.times(c, p) > 0, p < before, s.visible(c, p) == s.value(c, p)),
    )


@clause(CHANNEL, ID, POSITION)
def nothing_left_out(s: State, c: Term, n: Term, p: Term) -> Formula:
    """After the commits of a completed checkpoint, every record before it is visible once."""
    t = s.source_of(c)
    all_committed = s.all(ID, holds=lambda m: implies(both(m <= n, s.passed(t, m)), s.committed(c, m)))
    is_before = both(p >= 0, p < s.sent_after(c, s.cut(t, n)))
    return implies(both(s.is_output(c), s.completed(n), all_committed, is_before), s.times(c, p) == 1)


@clause(TASK, CHANNEL, ID)
def stops_at_the_savepoint(s: State, t: Term, c: Term, n: Term) -> Formula:
    """When the savepoint that stops the job completes, no task has read or sent a record after it."""
    return implies(
        both(s.completed(n), s.stops(n), s.current(n)),
        s.length(t) == s.cut(t, n),
        implies(s.is_output(c), s.sent(c) == s.sent_after(c, s.cut(s.source_of(c), n))),
        implies(between_tasks(s, c), s.read(c) == s.sent(c)),
    )


THEOREM = (
    consistent_cut, nothing_in_flight, cut_of_the_run, snapshot_of_the_run,
    visible_once, nothing_left_out, stops_at_the_savepoint, *finished.THEOREM, run_until_now,
)  # fmt: skip
EXACTLY_ONCE = Theory(
    "exactly-once", CONSTANTS, FIELDS, AXIOMS, start, (*ACTIONS, *finished.ACTIONS), INVARIANT, THEOREM
)
