"""The actions of barrier snapshots: steps of tasks, of the coordinator and of sinks, and failures.

The actions happen in any order that their conditions permit. Real gates and coordinators show only some of
these orders: they abort only when they must, and begin a checkpoint when an interval has passed. A statement
about all orders holds for these too.

The argument `s` is a state, `t` a task, `c` and `x` are channels, `n` and `m` are checkpoint ids, and `p` is
a position in a channel.

Source of the actions: Carbone et al., Lightweight Asynchronous Snapshots for Distributed Dataflows, 2015;
unaligned barriers: Flink's FLIP-76; transactions: Flink's TwoPhaseCommitSinkFunction.
"""

from model.theorem.dataflow import (
    CHANNEL,
    ID,
    TASK,
    between_tasks,
    has_reader,
    has_sender,
    is_delivered,
    is_stopping,
    reads_from,
    sends_on,
)
from model.theorem.logic import Formula, Function, State, Term, both, chosen, either, implies, no
from model.theorem.theory import Step, action


def added(relation: Function, *element: Term) -> Function:
    """The relation that also holds for this element."""
    return lambda *other: either(are_equal(element, other), relation(*other))


def are_equal(left: tuple[Term, ...], right: tuple[Term, ...]) -> Formula:
    """The elements at the same positions are equal."""
    return both(*(one == other for one, other in zip(left, right, strict=True)))


def is_read_by(s: State, t: Term, c: Term) -> Formula:
    """The task reads the channel, and another task sends on it."""
    return both(has_sender(s, c), reads_from(s, t, c))


@action(TASK, CHANNEL)
def process(s: State, t: Term, c: Term) -> Step:
    """A task reads the next record of a channel, goes to its next state, and sends records."""
    position, k = s.read(c), s.length(t)
    state = s.next_history(s.state(t), c, s.value(c, position))

    def sent(x: Term) -> Term:
        return s.sent(x) + s.count(x, state)

    def is_persisted(n: Term) -> Formula:
        return both(between_tasks(s, c), s.current(n), s.passed(t, n), no(s.arrived(c, n)))

    def is_now(x: Term, n: Term, p: Term) -> Formula:
        return both(x == c, p == position, is_persisted(n))

    return Step(
        {
            "the job runs": s.is_up(),
            "the task reads the channel": reads_from(s, t, c),
            "a record is there": chosen(
                s.is_input(c), either(no(s.is_bounded(c)), position < s.size(c)), position < s.sent(c)
            ),
            "no barrier stands before it": s.all(
                ID,
                holds=lambda n: no(
                    both(
                        between_tasks(s, c),
                        s.current(n),
                        s.passed(s.source_of(c), n),
                        no(s.arrived(c, n)),
                        s.barrier(c, n) == position,
                    )
                ),
            ),
            "the channel is not blocked": s.all(
                ID,
                holds=lambda n: no(
                    both(s.current(n), s.arrived(c, n), no(s.passed(t, n)), no(s.given_up(t, n)))
                ),
            ),
            "a source does not read behind a savepoint that stops": either(
                no(s.is_input(c)), s.all(ID, holds=lambda n: no(both(is_stopping(s, n), s.passed(t, n))))
            ),
        },
        {
            "length": lambda x: chosen(x == t, k + 1, s.length(x)),
            "order": lambda x, i: chosen(both(x == t, i == k), c, s.order(x, i)),
            "history": lambda x, i: chosen(both(x == t, i == k + 1), state, s.history(x, i)),
            "read_after": lambda x, i: chosen(
                both(reads_from(s, t, x), i == k + 1), s.read(x) + chosen(x == c, 1, 0), s.read_after(x, i)
            ),
            "sent_after": lambda x, i: chosen(
                both(sends_on(s, t, x), i == k + 1), sent(x), s.sent_after(x, i)
            ),
            "state": lambda x: chosen(x == t, state, s.state(x)),
            "read": lambda x: chosen(x == c, position + 1, s.read(x)),
            "sent": lambda x: chosen(sends_on(s, t, x), sent(x), s.sent(x)),
            "value": lambda x, i: chosen(
                both(sends_on(s, t, x), s.sent(x) <= i, i < sent(x)),
                s.emit(x, state, i - s.sent(x)),
                s.value(x, i),
            ),
            "kept": lambda x, n, p: either(is_now(x, n, p), s.kept(x, n, p)),
            "kept_value": lambda x, n, p: chosen(is_now(x, n, p), s.value(x, p), s.kept_value(x, n, p)),
        },
    )


@action(CHANNEL, ID)
def receive(s: State, c: Term, n: Term) -> Step:
    """A barrier arrives after the records before it. Its channel is blocked until the reader's snapshot."""
    return Step(
        {
            "the job runs": s.is_up(),
            "between tasks": between_tasks(s, c),
            "of this attempt": s.current(n),
            "the sender has passed": s.passed(s.source_of(c), n),
            "the barrier is next": s.read(c) == s.barrier(c, n),
        },
        {"arrived": added(s.arrived, c, n)},
    )


@action(CHANNEL, ID)
def overtake(s: State, c: Term, n: Term) -> Step:
    """After the reader's snapshot a barrier overtakes records, which are kept as channel state."""

    def is_overtaken(x: Term, m: Term, p: Term) -> Formula:
        return both(x == c, m == n, s.read(c) <= p, p < s.barrier(c, n))

    return Step(
        {
            "the job runs": s.is_up(),
            "between tasks": between_tasks(s, c),
            "of this attempt": s.current(n),
            "unaligned": s.overtakes(n),
            "the sender has passed": s.passed(s.source_of(c), n),
            "the reader has passed": s.passed(s.target_of(c), n),
            "not yet": no(s.arrived(c, n)),
        },
        {
            "arrived": added(s.arrived, c, n),
            "kept": lambda x, m, p: either(is_overtaken(x, m, p), s.kept(x, m, p)),
            "kept_value": lambda x, m, p: chosen(is_overtaken(x, m, p), s.value(x, p), s.kept_value(x, m, p)),
        },
    )


@action(TASK, ID)
def snapshot(s: State, t: Term, n: Term) -> Step:
    """A task takes its snapshot, sends its barriers, and a sink closes its transaction.

    The task captures its state at once and stores it later. For a finished task the coordinator takes the
    snapshot, which is the task's final state. Then no barrier is sent.
    """

    def is_this(x: Term, m: Term) -> Formula:
        return both(x == t, m == n)

    def is_sent(x: Term, m: Term) -> Formula:
        return both(sends_on(s, t, x), m == n)

    return Step(
        {
            "the job runs": s.is_up(),
            "of this attempt": s.current(n),
            "not yet": no(s.passed(t, n)),
            "not given up": no(s.given_up(t, n)),
            "no newer one": s.all(ID, holds=lambda m: no(both(m > n, s.passed(t, m)))),
            "all barriers have arrived": either(
                s.overtakes(n),
                s.all(CHANNEL, holds=lambda c: implies(is_read_by(s, t, c), is_delivered(s, c, n))),
            ),
            "of a finished task after those it reads from": implies(
                s.finished(t),
                s.all(
                    CHANNEL,
                    holds=lambda c: implies(
                        is_read_by(s, t, c), s.passed(s.source_of(c), n), s.finished_at(s.source_of(c), n)
                    ),
                ),
            ),
        },
        {
            "passed": added(s.passed, t, n),
            "finished_at": lambda x, m: chosen(is_this(x, m), s.finished(t), s.finished_at(x, m)),
            "cut": lambda x, m: chosen(is_this(x, m), s.length(t), s.cut(x, m)),
            "barrier": lambda x, m: chosen(is_sent(x, m), s.sent(x), s.barrier(x, m)),
            "captured": lambda x, m: chosen(is_this(x, m), s.state(t), s.captured(x, m)),
            "captured_offset": lambda x, m: chosen(
                both(reads_from(s, t, x), m == n), s.read(x), s.captured_offset(x, m)
            ),
            "first": lambda x, m: chosen(is_sent(x, m), s.opened_at(x), s.first(x, m)),
            "end": lambda x, m: chosen(is_sent(x, m), s.sent(x), s.end(x, m)),
            "opened_at": lambda x: chosen(sends_on(s, t, x), s.sent(x), s.opened_at(x)),
            "transaction_of": lambda x, i: chosen(
                both(sends_on(s, t, x), s.opened_at(x) <= i, i < s.sent(x)), n, s.transaction_of(x, i)
            ),
        },
    )


@action(TASK, ID)
def give_up(s: State, t: Term, n: Term) -> Step:
    """A task gives up an alignment, because of a newer barrier, a cancellation, or a limit."""
    return Step(
        {"the job runs": s.is_up(), "not yet": no(s.passed(t, n))}, {"given_up": added(s.given_up, t, n)}
    )


@action(TASK, ID)
def store(s: State, t: Term, n: Term) -> Step:
    """The asynchronous part ends: the captured state and the channel state are stored."""
    return Step(
        {
            "the job runs": s.is_up(),
            "of this attempt": s.current(n),
            "the task has passed": s.passed(t, n),
            "all barriers have arrived": s.all(
                CHANNEL, holds=lambda c: implies(is_read_by(s, t, c), is_delivered(s, c, n))
            ),
        },
        {
            "stored": added(s.stored, t, n),
            "saved": lambda x, m: chosen(both(x == t, m == n), s.captured(t, n), s.saved(x, m)),
            "offset": lambda x, m: chosen(
                both(reads_from(s, t, x), m == n), s.captured_offset(x, m), s.offset(x, m)
            ),
        },
    )


@action(ID)
def begin(s: State, n: Term) -> Step:
    """The coordinator begins a checkpoint."""
    return Step(
        {"the job runs": s.is_up(), "its id is new": s.all(ID, holds=lambda m: implies(s.begun(m), m < n))},
        {"begun": added(s.begun, n), "current": added(s.current, n), "pending": added(s.pending, n)},
    )


@action(ID)
def abort(s: State, n: Term) -> Step:
    """The coordinator aborts a checkpoint that was declined or cancelled, or that took too long."""
    return Step({"it is pending": s.pending(n)}, {"pending": lambda m: both(s.pending(m), no(m == n))})


@action(TASK, ID)
def acknowledge(s: State, t: Term, n: Term) -> Step:
    """The acknowledgement of a task reaches the coordinator."""
    return Step(
        {"its state is stored": s.stored(t, n), "it is pending": s.pending(n)},
        {"acknowledged": added(s.acknowledged, t, n)},
    )


@action(ID)
def complete(s: State, n: Term) -> Step:
    """A checkpoint completes and subsumes the older ones, but not savepoints (SUB-04)."""
    return Step(
        {
            "it is pending": s.pending(n),
            "all tasks acknowledged": s.all(TASK, holds=lambda t: s.acknowledged(t, n)),
        },
        {
            "completed": added(s.completed, n),
            "latest": lambda: chosen(n > s.latest(), n, s.latest()),
            "pending": lambda m: both(s.pending(m), either(m > n, both(m < n, s.is_savepoint(m)))),
        },
    )


@action(CHANNEL, ID)
def commit(s: State, c: Term, n: Term) -> Step:
    """A sink commits a transaction at the notification of its checkpoint or a later one, or at a restore."""

    def is_in(x: Term, p: Term) -> Formula:
        return both(x == c, s.first(c, n) <= p, p < s.end(c, n))

    return Step(
        {
            "a sink's output": s.is_output(c),
            "closed": s.passed(s.source_of(c), n),
            "up to a completed checkpoint": n <= s.latest(),
            "not yet": no(s.committed(c, n)),
        },
        {
            "committed": added(s.committed, c, n),
            "times": lambda x, p: s.times(x, p) + chosen(is_in(x, p), 1, 0),
            "visible": lambda x, p: chosen(is_in(x, p), s.value(x, p), s.visible(x, p)),
        },
    )


@action()
def crash(s: State) -> Step:
    """One or more tasks fail."""
    return Step({"the job runs": s.is_up()}, {"is_up": lambda: False})


@action()
def restore(s: State) -> Step:
    """All tasks restart from the latest completed checkpoint. Channels hold its channel state.

    A task that had finished in this checkpoint stays finished, and its channels end again.
    """
    n = s.latest()

    def first_lost(x: Term) -> Term:
        return chosen(has_sender(s, x), s.barrier(x, n), s.sent(x))

    def read(x: Term) -> Term:
        return chosen(has_reader(s, x), s.offset(x, n), s.read(x))

    return Step(
        {"the job has failed": no(s.is_up())},
        {
            "is_up": lambda: True,
            "current": lambda _: False,
            "pending": lambda _: False,
            "passed": lambda t, m: both(s.passed(t, m), m <= n),
            "length": lambda t: s.cut(t, n),
            "state": lambda t: s.saved(t, n),
            "ended": lambda _: False,
            "finished": lambda t: s.finished_at(t, n),
            "read": read,
            "sent": first_lost,
            "value": lambda x, p: chosen(
                both(between_tasks(s, x), read(x) <= p),
                chosen(both(p < first_lost(x), s.kept(x, n, p)), s.kept_value(x, n, p), s.lost()),
                s.value(x, p),
            ),
            "opened_at": lambda x: chosen(has_sender(s, x), s.end(x, n), s.opened_at(x)),
        },
    )


ACTIONS = (
    process, receive, overtake, snapshot, give_up, store,
    begin, abort, acknowledge, complete, commit, crash, restore,
)  # fmt: skip
