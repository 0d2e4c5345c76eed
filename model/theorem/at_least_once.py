"""At-least-once: gates that never block lose no record, but tasks may process a record twice.

The state machine is that of exactly-once, but barriers block no channel. So when a reader takes its snapshot,
its state may include a record behind the barrier. After a restore the sender sends this record again.
`included` counts for each record how often the reader's state includes it. The clauses concern one channel
each. Together they hold along every path of the dataflow.
"""

from collections.abc import Mapping

from model.theorem.actions import (
    abort,
    acknowledge,
    begin,
    complete,
    crash,
    give_up,
    process,
    receive,
    restore,
    snapshot,
    store,
)
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
    is_read_to_the_end,
    start,
)
from model.theorem.finished import ended, finish, finished, receive_end
from model.theorem.invariant import acknowledged, begun, begun_barriers, fifo, ids, sent_first, stored_offsets
from model.theorem.logic import Formula, Function, State, Term, both, chosen, either, implies, no
from model.theorem.theory import Action, Field, Step, Theory, clause

_RUN = ("length", "order", "history", "read_after", "sent_after", "cut")
COUNTED = (
    Field("included", (CHANNEL, POSITION), POSITION, "how often the reader's state includes the record"),
    Field("captured_included", (CHANNEL, ID, POSITION), POSITION, "how often the captured state includes it"),
    Field("saved_included", (CHANNEL, ID, POSITION), POSITION, "how often the stored state includes it"),
)


def counted(found: Action, *without: str, **changes: "Function") -> Action:
    """The action without the guards in `without`, and with these changes of the counts."""

    def step(s: State, *elements: Term) -> Step:
        guards, changed = found.step(s, *elements)
        kept = {name: guard for name, guard in guards.items() if name not in without}
        added = {name: change(s, *elements) for name, change in changes.items()}
        return Step(kept, {**{k: v for k, v in changed.items() if k not in _RUN}, **added})

    return found._replace(step=step)


def _after_processing(s: State, t: Term, c: Term) -> Function:
    position = s.read(c)
    return lambda x, p: s.included(x, p) + chosen(both(x == c, p == position), 1, 0)


def _captured(s: State, t: Term, n: Term) -> Function:
    return lambda x, m, p: chosen(
        both(between_tasks(s, x), s.target_of(x) == t, m == n), s.included(x, p), s.captured_included(x, m, p)
    )


def _saved(s: State, t: Term, n: Term) -> Function:
    return lambda x, m, p: chosen(
        both(between_tasks(s, x), s.target_of(x) == t, m == n),
        s.captured_included(x, m, p),
        s.saved_included(x, m, p),
    )


def _restored_read(s: State) -> Function:
    return lambda x: chosen(between_tasks(s, x), s.barrier(x, s.latest()), s.offset(x, s.latest()))


ACTIONS = (
    counted(process, "the channel is not blocked", included=_after_processing),
    receive,
    counted(snapshot, captured_included=_captured),
    give_up,
    counted(store, saved_included=_saved),
    begin,
    abort,
    acknowledge,
    complete,
    crash,
    receive_end,
    counted(finish, "the open transaction is empty", "all transactions are committed"),
    counted(restore, read=_restored_read, included=lambda s: lambda x, p: s.saved_included(x, s.latest(), p)),
)


@clause(ID)
def aligned_only(s: State, n: Term) -> Formula:
    """No barrier overtakes records."""
    return no(s.overtakes(n))


@clause(CHANNEL)
def read_was_sent(s: State, c: Term) -> Formula:
    """A task reads a record only after the record was sent."""
    return implies(between_tasks(s, c), s.read(c) >= 0, s.read(c) <= s.sent(c))


@clause(CHANNEL, ID)
def barriers_were_sent(s: State, c: Term, n: Term) -> Formula:
    """All records before a barrier were sent."""
    is_sent = both(between_tasks(s, c), s.passed(s.source_of(c), n))
    return implies(is_sent, s.barrier(c, n) >= 0, s.barrier(c, n) <= s.sent(c))


@clause(CHANNEL, ID, ID)
def barriers_in_order(s: State, c: Term, m: Term, n: Term) -> Formula:
    """Barriers stand in the order of their ids."""
    t = s.source_of(c)
    is_sent = both(between_tasks(s, c), s.passed(t, m), s.passed(t, n), m < n)
    return implies(is_sent, s.barrier(c, m) <= s.barrier(c, n))


@clause(CHANNEL, ID)
def arrived_behind(s: State, c: Term, n: Term) -> Formula:
    """A barrier that has arrived lies behind the reading position."""
    is_read = both(between_tasks(s, c), s.current(n), s.arrived(c, n))
    return implies(is_read, s.barrier(c, n) <= s.read(c))


@clause(CHANNEL, POSITION)
def read_is_included(s: State, c: Term, p: Term) -> Formula:
    """Every record that was read is part of the reader's state, once or more often."""
    return both(
        s.included(c, p) >= 0,
        implies(both(between_tasks(s, c), p >= 0, p < s.read(c)), s.included(c, p) >= 1),
    )


@clause(CHANNEL, ID, POSITION)
def captured_is_included(s: State, c: Term, n: Term, p: Term) -> Formula:
    """A snapshot includes all records before the barrier, or all records of a finished sender without one."""
    u = s.source_of(c)
    is_included = s.captured_included(c, n, p) >= 1
    return both(
        s.captured_included(c, n, p) >= 0,
        implies(
            both(between_tasks(s, c), s.passed(s.target_of(c), n)),
            implies(both(s.passed(u, n), p >= 0, p < s.barrier(c, n)), is_included),
            implies(
                both(s.current(n), no(s.passed(u, n))),
                s.finished(u),
                implies(both(p >= 0, p < s.sent(c)), is_included),
            ),
        ),
    )


@clause(CHANNEL, ID, POSITION)
def saved_is_captured(s: State, c: Term, n: Term, p: Term) -> Formula:
    """The stored state equals the captured state."""
    is_stored = both(s.stored(s.target_of(c), n), either(s.current(n), s.completed(n)))
    return both(
        s.saved_included(c, n, p) >= 0,
        implies(
            both(between_tasks(s, c), is_stored), s.saved_included(c, n, p) == s.captured_included(c, n, p)
        ),
    )


@clause(CHANNEL, ID)
def finished_snapshots(s: State, c: Term, n: Term) -> Formula:
    """A task that had finished at its snapshot had read all records, and their senders had finished too."""
    t, u = s.target_of(c), s.source_of(c)
    return implies(
        both(has_reader(s, c), s.passed(t, n), s.finished_at(t, n)),
        implies(s.is_input(c), is_read_to_the_end(s, c, s.captured_offset(c, n))),
        implies(between_tasks(s, c), s.passed(u, n), s.finished_at(u, n)),
    )


@clause(TASK, ID)
def stored_after_passing(s: State, t: Term, n: Term) -> Formula:
    """A task stores its snapshot only after it has taken the snapshot."""
    return implies(both(s.stored(t, n), either(s.current(n), s.completed(n))), s.passed(t, n))


@clause(TASK, ID)
def all_stored(s: State, t: Term, n: Term) -> Formula:
    """Every task has stored its snapshot of a completed checkpoint."""
    return implies(s.completed(n), s.passed(t, n), s.stored(t, n))


@clause(CHANNEL, POSITION)
def nothing_is_lost(s: State, c: Term, p: Term) -> Formula:
    """Every record up to the reading position is part of the reader's state, whatever has failed."""
    return implies(both(between_tasks(s, c), p >= 0, p < s.read(c)), s.included(c, p) >= 1)


@clause(CHANNEL, ID, POSITION)
def snapshots_lose_nothing(s: State, c: Term, n: Term, p: Term) -> Formula:
    """A completed checkpoint includes every record that was sent before its sender's snapshot."""
    is_before = both(p >= 0, p < s.barrier(c, n))
    return implies(both(between_tasks(s, c), s.completed(n), is_before), s.saved_included(c, n, p) >= 1)


@clause(CHANNEL, POSITION)
def all_read_at_the_end(s: State, c: Term, p: Term) -> Formula:
    """When all tasks have finished, all inputs are read, and every record is part of its reader's state."""
    return implies(
        s.all(TASK, holds=s.finished),
        implies(s.is_input(c), is_read_to_the_end(s, c, s.read(c))),
        implies(both(between_tasks(s, c), p >= 0, p < s.sent(c)), s.included(c, p) >= 1),
    )


def counted_start(s: State) -> Mapping[str, Function]:
    """A new job: nothing is read, and no state includes a record."""
    return {**start(s), **dict.fromkeys((field.name for field in COUNTED), lambda *_: 0)}


AT_LEAST_ONCE = Theory(
    "at-least-once",
    CONSTANTS,
    (*FIELDS, *COUNTED),
    (*AXIOMS, aligned_only),
    counted_start,
    ACTIONS,
    (
        ids, begun, begun_barriers, sent_first, fifo, acknowledged,
        read_was_sent, barriers_were_sent, barriers_in_order, arrived_behind,
        read_is_included, captured_is_included, saved_is_captured, stored_after_passing, all_stored,
        stored_offsets, ended, finished, finished_snapshots,
    ),
    (nothing_is_lost, snapshots_lose_nothing, all_read_at_the_end),
)  # fmt: skip
