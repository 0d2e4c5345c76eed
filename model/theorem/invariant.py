"""The invariant of barrier snapshots, clause by clause."""

from model.theorem import finished
from model.theorem.dataflow import (
    CHANNEL,
    ID,
    POSITION,
    TASK,
    between_tasks,
    has_reader,
    has_sender,
    is_delivered,
    is_stopping,
)
from model.theorem.logic import Formula, State, Term, both, chosen, either, implies, no
from model.theorem.theory import clause


@clause(TASK, POSITION)
def order(s: State, t: Term, k: Term) -> Formula:
    """Each record was read from a channel of the task, after it had been sent."""
    c = s.order(t, k)
    is_there = implies(has_sender(s, c), s.read_after(c, k) < s.sent(c))
    return implies(both(k >= 0, k < s.length(t)), has_reader(s, c), s.target_of(c) == t, is_there)


@clause(CHANNEL, POSITION)
def reads(s: State, c: Term, k: Term) -> Formula:
    """Each step of a task reads one record, from the channel that `order` names."""
    is_read = chosen(s.order(s.target_of(c), k) == c, 1, 0)
    return implies(
        both(has_reader(s, c), k >= 0, k < s.length(s.target_of(c))),
        s.read_after(c, k + 1) == s.read_after(c, k) + is_read,
    )


@clause(CHANNEL, POSITION)
def sends(s: State, c: Term, k: Term) -> Formula:
    """Each step of a task sends the number of records that its next state determines."""
    t = s.source_of(c)
    return implies(
        both(has_sender(s, c), k >= 0, k < s.length(t)),
        s.sent_after(c, k + 1) == s.sent_after(c, k) + s.count(c, s.history(t, k + 1)),
    )


@clause(TASK, POSITION)
def states(s: State, t: Term, k: Term) -> Formula:
    """The state after each step of a task is its next state, by its state before the step and the record."""
    c = s.order(t, k)
    after = s.next_history(s.history(t, k), c, s.value(c, s.read_after(c, k)))
    return implies(both(k >= 0, k < s.length(t)), s.history(t, k + 1) == after)


@clause(CHANNEL, POSITION, POSITION)
def records(s: State, c: Term, k: Term, p: Term) -> Formula:
    """A channel holds the records that its sender's states determine."""
    t, begin = s.source_of(c), s.sent_after(c, k)
    return implies(
        both(has_sender(s, c), k >= 0, k < s.length(t), begin <= p, p < s.sent_after(c, k + 1)),
        s.value(c, p) == s.emit(c, s.history(t, k + 1), p - begin),
    )


@clause(TASK, CHANNEL)
def beginning(s: State, t: Term, c: Term) -> Formula:
    """The run begins with new tasks, which have neither read nor sent."""
    return both(s.history(t, 0) == s.first_history(t), s.read_after(c, 0) == 0, s.sent_after(c, 0) == 0)


@clause(CHANNEL, POSITION, POSITION)
def reads_grow(s: State, c: Term, j: Term, k: Term) -> Formula:
    """After more steps a task has read at least as many records of a channel."""
    return implies(
        both(has_reader(s, c), j >= 0, j <= k, k <= s.length(s.target_of(c))),
        s.read_after(c, j) <= s.read_after(c, k),
    )


@clause(CHANNEL, POSITION, POSITION)
def sends_grow(s: State, c: Term, j: Term, k: Term) -> Formula:
    """After more steps a task has sent at least as many records on a channel."""
    return implies(
        both(has_sender(s, c), j >= 0, j <= k, k <= s.length(s.source_of(c))),
        s.sent_after(c, j) <= s.sent_after(c, k),
    )


@clause(TASK)
def states_now(s: State, t: Term) -> Formula:
    """The current state of a task is the last state of its run."""
    return both(s.length(t) >= 0, s.state(t) == s.history(t, s.length(t)))


@clause(CHANNEL)
def positions_now(s: State, c: Term) -> Formula:
    """The current positions are those at the end of the run. Every record that was read was sent."""
    return both(
        implies(has_reader(s, c), s.read(c) == s.read_after(c, s.length(s.target_of(c)))),
        implies(has_sender(s, c), s.sent(c) == s.sent_after(c, s.length(s.source_of(c)))),
        implies(between_tasks(s, c), s.read(c) <= s.sent(c)),
    )


@clause(ID)
def ids(s: State, n: Term) -> Formula:
    """The latest checkpoint is the newest completed one.

    Pending ones are newer or savepoints, of this attempt.
    """
    return both(
        s.completed(s.latest()),
        implies(s.completed(n), n <= s.latest(), s.begun(n)),
        implies(s.pending(n), either(s.latest() < n, s.is_savepoint(n)), s.current(n)),
        implies(s.current(n), s.begun(n)),
    )


@clause(TASK, ID)
def begun(s: State, t: Term, n: Term) -> Formula:
    """Snapshots and acknowledgements have begun ids.

    A snapshot is of this attempt or not newer than the latest.
    """
    return both(
        implies(s.passed(t, n), s.begun(n), either(s.current(n), n <= s.latest())),
        implies(either(s.stored(t, n), s.acknowledged(t, n)), s.begun(n)),
    )


@clause(CHANNEL, ID)
def begun_barriers(s: State, c: Term, n: Term) -> Formula:
    """A barrier that has arrived has an id that was begun."""
    return implies(s.arrived(c, n), s.begun(n))


@clause(CHANNEL, ID)
def sent_first(s: State, c: Term, n: Term) -> Formula:
    """A barrier arrives only after its sender has taken the snapshot."""
    return implies(both(between_tasks(s, c), s.current(n), s.arrived(c, n)), s.passed(s.source_of(c), n))


@clause(TASK, ID)
def cuts(s: State, t: Term, n: Term) -> Formula:
    """A snapshot has a place in the run: the number of records that the task had read."""
    return implies(s.passed(t, n), s.cut(t, n) >= 0, s.cut(t, n) <= s.length(t))


@clause(CHANNEL, ID)
def barriers(s: State, c: Term, n: Term) -> Formula:
    """A barrier, and the end of a transaction, stand behind the records sent before the sender's snapshot."""
    return implies(
        both(has_sender(s, c), s.passed(s.source_of(c), n)),
        s.barrier(c, n) == s.sent_after(c, s.cut(s.source_of(c), n)),
        s.end(c, n) == s.barrier(c, n),
    )


@clause(CHANNEL, ID)
def fifo(s: State, c: Term, n: Term) -> Formula:
    """No record behind a barrier is read before the barrier arrives."""
    is_on_its_way = both(between_tasks(s, c), s.current(n), s.passed(s.source_of(c), n), no(s.arrived(c, n)))
    return implies(is_on_its_way, s.read(c) <= s.barrier(c, n))


@clause(CHANNEL, ID)
def blocked(s: State, c: Term, n: Term) -> Formula:
    """While a channel's barrier waits for others, the next record to read is the one behind the barrier."""
    t = s.target_of(c)
    waits = both(s.current(n), s.arrived(c, n), no(s.passed(t, n)), no(s.given_up(t, n)))
    return implies(both(between_tasks(s, c), waits), s.read(c) == s.barrier(c, n))


@clause(CHANNEL, ID)
def consistent(s: State, c: Term, n: Term) -> Formula:
    """A record that the reader had read at its snapshot was sent before the sender's snapshot."""
    is_in = both(between_tasks(s, c), s.passed(s.target_of(c), n), s.passed(s.source_of(c), n))
    return implies(is_in, s.read_after(c, s.cut(s.target_of(c), n)) <= s.barrier(c, n))


@clause(CHANNEL, ID)
def aligned(s: State, c: Term, n: Term) -> Formula:
    """If no barrier overtakes records, a reader had read at its snapshot all records before the barrier.

    If the sender has finished and takes no snapshot, the reader had read all records.
    """
    t, u = s.target_of(c), s.source_of(c)
    read = s.read_after(c, s.cut(t, n))
    return implies(
        both(between_tasks(s, c), s.passed(t, n), no(s.overtakes(n))),
        implies(s.passed(u, n), read == s.barrier(c, n)),
        implies(both(s.current(n), no(s.passed(u, n))), s.finished(u), read == s.sent(c)),
    )


@clause(CHANNEL, ID, POSITION)
def kept(s: State, c: Term, n: Term, p: Term) -> Formula:
    """Records sent before their sender's snapshot, and read or overtaken after their reader's, are kept."""
    t = s.target_of(c)
    is_settled = either(p < s.read(c), both(s.arrived(c, n), p < s.barrier(c, n)))
    is_between = both(s.read_after(c, s.cut(t, n)) <= p, is_settled)
    is_on_its_way = implies(s.arrived(c, n), p < s.barrier(c, n))
    return implies(
        both(between_tasks(s, c), s.current(n), s.passed(t, n), is_between, is_on_its_way),
        s.kept(c, n, p),
        s.kept_value(c, n, p) == s.value(c, p),
    )


@clause(CHANNEL, ID, POSITION)
def channel_state(s: State, c: Term, n: Term, p: Term) -> Formula:
    """The channel state of a completed checkpoint holds all records in flight."""
    is_in_flight = both(s.read_after(c, s.cut(s.target_of(c), n)) <= p, p < s.barrier(c, n))
    return implies(
        both(between_tasks(s, c), s.completed(n), is_in_flight),
        s.kept(c, n, p),
        s.kept_value(c, n, p) == s.value(c, p),
    )


@clause(TASK, ID, ID)
def in_order(s: State, t: Term, m: Term, n: Term) -> Formula:
    """A task takes its snapshots in the order of their ids."""
    return implies(both(s.passed(t, m), s.passed(t, n), m < n), s.cut(t, m) <= s.cut(t, n))


@clause(TASK, ID)
def captured_states(s: State, t: Term, n: Term) -> Formula:
    """A snapshot holds the state at its place in the run."""
    return implies(s.passed(t, n), s.captured(t, n) == s.history(t, s.cut(t, n)))


@clause(CHANNEL, ID)
def captured_offsets(s: State, c: Term, n: Term) -> Formula:
    """A snapshot holds the reading positions at its place in the run."""
    t = s.target_of(c)
    is_captured = both(has_reader(s, c), s.passed(t, n))
    return implies(is_captured, s.captured_offset(c, n) == s.read_after(c, s.cut(t, n)))


@clause(TASK, ID)
def stored_states(s: State, t: Term, n: Term) -> Formula:
    """The stored state is the captured state."""
    is_stored = both(s.stored(t, n), either(s.current(n), s.completed(n)))
    return implies(is_stored, s.passed(t, n), s.saved(t, n) == s.captured(t, n))


@clause(CHANNEL, ID)
def stored_offsets(s: State, c: Term, n: Term) -> Formula:
    """The stored reading positions are the captured reading positions."""
    is_stored = both(s.stored(s.target_of(c), n), either(s.current(n), s.completed(n)))
    return implies(both(has_reader(s, c), is_stored), s.offset(c, n) == s.captured_offset(c, n))


@clause(CHANNEL, ID)
def stored_channels(s: State, c: Term, n: Term) -> Formula:
    """A task stores its snapshot only after each of its channels has delivered the barrier or has ended."""
    is_stored = both(between_tasks(s, c), s.current(n), s.stored(s.target_of(c), n))
    return implies(is_stored, is_delivered(s, c, n))


@clause(TASK, ID)
def acknowledged(s: State, t: Term, n: Term) -> Formula:
    """A task that has acknowledged a pending checkpoint has stored its snapshot."""
    return implies(both(s.acknowledged(t, n), s.pending(n)), s.stored(t, n))


@clause(TASK, ID)
def complete(s: State, t: Term, n: Term) -> Formula:
    """Every task has stored its snapshot of a completed checkpoint."""
    return implies(s.completed(n), s.passed(t, n), s.stored(t, n))


@clause(CHANNEL, ID)
def ranges(s: State, c: Term, n: Term) -> Formula:
    """A closed transaction ends before the open one begins."""
    return implies(
        both(s.is_output(c), s.passed(s.source_of(c), n)),
        s.first(c, n) >= 0,
        s.first(c, n) <= s.end(c, n),
        s.end(c, n) <= s.opened_at(c),
    )


@clause(CHANNEL)
def opened(s: State, c: Term) -> Formula:
    """The open transaction begins at or before the position of the next record that the sink sends."""
    return implies(s.is_output(c), s.opened_at(c) >= 0, s.opened_at(c) <= s.sent(c))


@clause(CHANNEL, ID, ID)
def disjoint(s: State, c: Term, m: Term, n: Term) -> Formula:
    """Transactions follow each other without an overlap."""
    t = s.source_of(c)
    return implies(both(s.is_output(c), s.passed(t, m), s.passed(t, n), m < n), s.end(c, m) <= s.first(c, n))


@clause(CHANNEL, POSITION)
def covered(s: State, c: Term, p: Term) -> Formula:
    """Each record before the open transaction lies in a closed one."""
    n = s.transaction_of(c, p)
    return implies(
        both(s.is_output(c), p >= 0, p < s.opened_at(c)),
        s.passed(s.source_of(c), n),
        s.first(c, n) <= p,
        p < s.end(c, n),
    )


@clause(CHANNEL, ID)
def committed(s: State, c: Term, n: Term) -> Formula:
    """The checkpoint that closed a committed transaction is not newer than the latest completed one."""
    is_committed = both(s.is_output(c), s.committed(c, n))
    return implies(is_committed, s.passed(s.source_of(c), n), n <= s.latest())


@clause(CHANNEL, POSITION)
def times(s: State, c: Term, p: Term) -> Formula:
    """A record is visible once if its transaction is committed, else not at all."""
    is_visible = both(p < s.opened_at(c), s.committed(c, s.transaction_of(c, p)))
    return implies(both(s.is_output(c), p >= 0), s.times(c, p) == chosen(is_visible, 1, 0))


@clause(CHANNEL, POSITION)
def visible(s: State, c: Term, p: Term) -> Formula:
    """Every visible record is the record that the run sent at this position."""
    is_visible = both(s.is_output(c), p >= 0, s.times(c, p) > 0)
    return implies(is_visible, s.visible(c, p) == s.value(c, p))


@clause(TASK, ID)
def stopped(s: State, t: Term, n: Term) -> Formula:
    """No task reads a record after its snapshot for a savepoint that stops the job, unless it is aborted."""
    return implies(both(is_stopping(s, n), s.passed(t, n)), s.length(t) == s.cut(t, n))


INVARIANT = (
    order, reads, sends, states, records, beginning, reads_grow, sends_grow, states_now, positions_now,
    ids, begun, begun_barriers, sent_first, cuts, barriers, in_order,
    fifo, blocked, consistent, aligned, kept, channel_state,
    captured_states, captured_offsets, stored_states, stored_offsets, stored_channels, acknowledged, complete,
    ranges, opened, disjoint, covered, committed, times, visible, stopped,
    *finished.INVARIANT,
)  # fmt: skip
