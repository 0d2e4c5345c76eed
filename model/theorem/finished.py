"""Tasks that finish: the actions of the end of a job, and the clauses of the invariant about it.

An input may end. A source that has read all of its input finishes. A channel ends behind the last record of
its sender. A task finishes when all of its channels have ended. If an operator sends records at the end of
its input, they count as sent for its last input record. A gate treats an ended channel as one that has
delivered its barrier (ALIGN-15, UNAL-09). A sink finishes when its last transaction is committed, that is,
after the final checkpoint.

A finished task sends no acknowledgement (COORD-27). Its part of a checkpoint is its final state: the
coordinator takes the actions `snapshot`, `store` and `acknowledge` in place of the task.

Source: Flink's FLIP-147.
"""

from model.theorem.actions import added
from model.theorem.dataflow import (
    CHANNEL,
    ID,
    POSITION,
    TASK,
    between_tasks,
    has_reader,
    is_read_to_the_end,
    reads_from,
    sends_on,
)
from model.theorem.logic import Formula, State, Term, both, either, implies, no
from model.theorem.theory import Step, action, clause


@action(CHANNEL)
def receive_end(s: State, c: Term) -> Step:
    """A reader that has read all records of a finished sender reads the end of the channel."""
    return Step(
        {
            "the job runs": s.is_up(),
            "between tasks": between_tasks(s, c),
            "the sender has finished": s.finished(s.source_of(c)),
            "all records are read": s.read(c) == s.sent(c),
        },
        {"ended": added(s.ended, c)},
    )


@action(TASK)
def finish(s: State, t: Term) -> Step:
    """A task finishes: all channels that it reads have ended.

    A sink has also committed all its transactions.
    """

    def is_read(c: Term) -> Formula:
        return both(
            implies(s.is_input(c), is_read_to_the_end(s, c, s.read(c))),
            implies(no(s.is_input(c)), s.ended(c)),
        )

    def is_settled(c: Term, n: Term) -> Formula:
        return either(no(s.passed(t, n)), s.first(c, n) == s.end(c, n), s.committed(c, n))

    def is_own_output(c: Term) -> Formula:
        return both(s.is_output(c), sends_on(s, t, c))

    return Step(
        {
            "the job runs": s.is_up(),
            "all inputs have ended": s.all(CHANNEL, holds=lambda c: implies(reads_from(s, t, c), is_read(c))),
            "the open transaction is empty": s.all(
                CHANNEL, holds=lambda c: implies(is_own_output(c), s.opened_at(c) == s.sent(c))
            ),
            "all transactions are committed": s.all(
                CHANNEL, ID, holds=lambda c, n: implies(is_own_output(c), is_settled(c, n))
            ),
        },
        {"finished": added(s.finished, t)},
    )


@clause(CHANNEL)
def ended(s: State, c: Term) -> Formula:
    """A channel has ended when its sender has finished and all its records are read."""
    return implies(both(between_tasks(s, c), s.ended(c)), s.finished(s.source_of(c)), s.read(c) == s.sent(c))


@clause(CHANNEL)
def finished(s: State, c: Term) -> Formula:
    """A finished task has read all records of its channels, and their senders have finished."""
    return implies(
        both(has_reader(s, c), s.finished(s.target_of(c))),
        implies(s.is_input(c), is_read_to_the_end(s, c, s.read(c))),
        implies(between_tasks(s, c), s.finished(s.source_of(c)), s.read(c) == s.sent(c)),
    )


@clause(CHANNEL, POSITION)
def finished_sinks(s: State, c: Term, p: Term) -> Formula:
    """All records that a finished sink wrote are committed."""
    return implies(
        both(s.is_output(c), s.finished(s.source_of(c))),
        s.opened_at(c) == s.sent(c),
        implies(both(p >= 0, p < s.sent(c)), s.committed(c, s.transaction_of(c, p))),
    )


@clause(CHANNEL, ID)
def finished_senders(s: State, c: Term, n: Term) -> Formula:
    """If a task had finished at its snapshot, it sends nothing after the snapshot."""
    t = s.source_of(c)
    is_final = both(no(s.is_input(c)), s.current(n), s.passed(t, n), s.finished_at(t, n))
    return implies(is_final, s.finished(t), s.barrier(c, n) == s.sent(c))


@clause(CHANNEL, ID)
def finished_cuts(s: State, c: Term, n: Term) -> Formula:
    """A task that had finished at its snapshot had read all records, and their senders had finished too."""
    t, u = s.target_of(c), s.source_of(c)
    read = s.read_after(c, s.cut(t, n))
    return implies(
        both(has_reader(s, c), s.passed(t, n), s.finished_at(t, n)),
        implies(s.is_input(c), is_read_to_the_end(s, c, read)),
        implies(between_tasks(s, c), s.passed(u, n), s.finished_at(u, n), read == s.barrier(c, n)),
    )


@clause(CHANNEL, ID, POSITION)
def finished_outputs(s: State, c: Term, n: Term, p: Term) -> Formula:
    """If a sink had finished at its snapshot, all records that it wrote are committed."""
    t = s.source_of(c)
    is_final = both(s.is_output(c), s.passed(t, n), s.finished_at(t, n))
    return implies(both(is_final, p >= 0, p < s.end(c, n)), s.committed(c, s.transaction_of(c, p)))


@clause(CHANNEL, POSITION)
def complete_at_the_end(s: State, c: Term, p: Term) -> Formula:
    """When all tasks have finished, all inputs are read, and each record of the output is visible once."""
    return implies(
        s.all(TASK, holds=s.finished),
        implies(s.is_input(c), is_read_to_the_end(s, c, s.read(c))),
        implies(between_tasks(s, c), s.read(c) == s.sent(c)),
        implies(
            both(s.is_output(c), p >= 0, p < s.sent(c)), s.times(c, p) == 1, s.visible(c, p) == s.value(c, p)
        ),
    )


@clause(CHANNEL, ID)
def finished_for_good(s: State, c: Term, n: Term) -> Formula:
    """A task that is finished in a completed checkpoint has nothing left to read there."""
    t, u = s.target_of(c), s.source_of(c)
    return implies(
        both(has_reader(s, c), s.completed(n), s.finished_at(t, n)),
        implies(s.is_input(c), is_read_to_the_end(s, c, s.offset(c, n))),
        implies(between_tasks(s, c), s.finished_at(u, n), s.offset(c, n) == s.barrier(c, n)),
    )


ACTIONS = (receive_end, finish)
INVARIANT = (ended, finished, finished_sinks, finished_senders, finished_cuts, finished_outputs)
THEOREM = (complete_at_the_end, finished_for_good)
