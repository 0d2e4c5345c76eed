"""Proves that a restore may use another parallelism.

Here the tasks of the theorem are the key groups of operators and the splits of sources. A restore restores
the state of each task separately. A subtask holds several tasks, and its step is the step of each task, one
after the other. z3 proves that the first of these steps does not disable the others. So every behaviour of
subtasks is a behaviour of the theorem's tasks, for every assignment of tasks to subtasks. z3 also proves that
Flink's ranges assign each key group to exactly one subtask.

The proof does not cover operator state that is split in other ways (union and broadcast lists).
"""

from model.theorem.actions import give_up, overtake, receive, snapshot, store
from model.theorem.dataflow import (
    AXIOMS,
    CHANNEL,
    CONSTANTS,
    FIELDS,
    ID,
    POSITION,
    TASK,
    reads_from,
    sends_on,
    start,
)
from model.theorem.finished import finish, receive_end
from model.theorem.logic import Formula, State, Term, both, implies, no
from model.theorem.theory import Action, Theory, clause


def is_enabled(found: Action, s: State, *elements: Term) -> Formula:
    """The guards of the action hold."""
    return both(*found.step(s, *elements).guards.values())


def stays_enabled(found: Action, s: State, first: tuple[Term, ...], second: tuple[Term, ...]) -> Formula:
    """The action with the elements `first` does not disable the action with the elements `second`."""
    after = s.after(found.step(s, *first).changes)
    return implies(
        both(is_enabled(found, s, *first), is_enabled(found, s, *second)), is_enabled(found, after, *second)
    )


@clause(TASK, TASK, ID)
def snapshots_in_turn(s: State, t: Term, u: Term, n: Term) -> Formula:
    """Key groups of one operator take their snapshots in turn."""
    of_one_operator = s.all(CHANNEL, holds=lambda c: no(both(sends_on(s, t, c), reads_from(s, u, c))))
    return implies(both(no(t == u), of_one_operator), stays_enabled(snapshot, s, (t, n), (u, n)))


@clause(TASK, TASK, ID)
def stores_in_turn(s: State, t: Term, u: Term, n: Term) -> Formula:
    """Key groups store their snapshots in turn."""
    return stays_enabled(store, s, (t, n), (u, n))


@clause(TASK, TASK, ID)
def give_up_in_turn(s: State, t: Term, u: Term, n: Term) -> Formula:
    """Key groups give up an alignment in turn."""
    return stays_enabled(give_up, s, (t, n), (u, n))


@clause(CHANNEL, CHANNEL, ID)
def barriers_in_turn(s: State, c: Term, d: Term, n: Term) -> Formula:
    """A barrier between two subtasks arrives at each pair of their key groups in turn."""
    return stays_enabled(receive, s, (c, n), (d, n))


@clause(CHANNEL, CHANNEL, ID)
def overtaking_in_turn(s: State, c: Term, d: Term, n: Term) -> Formula:
    """A barrier overtakes the records between each pair of key groups in turn."""
    return implies(no(c == d), stays_enabled(overtake, s, (c, n), (d, n)))


@clause(CHANNEL, CHANNEL)
def ends_in_turn(s: State, c: Term, d: Term) -> Formula:
    """The end of a channel between two subtasks arrives at each pair of their key groups in turn."""
    return stays_enabled(receive_end, s, (c,), (d,))


@clause(TASK, TASK)
def finish_in_turn(s: State, t: Term, u: Term) -> Formula:
    """Key groups finish in turn."""
    return stays_enabled(finish, s, (t,), (u,))


@clause(POSITION, POSITION, POSITION, POSITION)
def one_subtask_for_each_key_group(
    s: State, groups: Term, subtasks: Term, group: Term, subtask: Term
) -> Formula:
    """A key group lies in the range of the subtask that its records go to, and in no other."""
    first = (subtask * groups + subtasks - 1) / subtasks
    last = ((subtask + 1) * groups - 1) / subtasks
    is_in = both(first <= group, group <= last)
    goes_to = group * subtasks / groups == subtask
    return implies(
        both(subtasks > 0, subtasks <= groups, group >= 0, group < groups, subtask >= 0, subtask < subtasks),
        is_in == goes_to,
    )


RESCALING = Theory(
    "rescaling",
    CONSTANTS,
    FIELDS,
    AXIOMS,
    start,
    (),
    (),
    (
        snapshots_in_turn,
        stores_in_turn,
        give_up_in_turn,
        barriers_in_turn,
        overtaking_in_turn,
        ends_in_turn,
        finish_in_turn,
        one_subtask_for_each_key_group,
    ),
)
