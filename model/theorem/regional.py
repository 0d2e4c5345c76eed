"""Proves that checkpoints that fall back give exactly-once, under the stated conditions. Proposed (FLIP-600).

The state machine is that of exactly-once with one more action: a checkpoint completes although some tasks
have not acknowledged it. For these tasks it *refers to* the snapshots that the latest completed checkpoint
has of them. `fails` may be any set of tasks for each checkpoint. No channel may connect these tasks with
others: this is a condition of the action, not an assumption. After a failure all tasks restart.

Source: the public discussion of FLIP-600, and the pull requests of FLINK-40209 and FLINK-40210.
"""

from collections.abc import Mapping

from model.theorem.actions import commit, restore
from model.theorem.dataflow import CHANNEL, FIELDS, ID, POSITION, TASK, between_tasks, has_reader, start
from model.theorem.exactly_once import EXACTLY_ONCE
from model.theorem.logic import TRUTH, Formula, Function, State, Term, both, chosen, either, implies, no
from model.theorem.theory import Clause, Field, Step, Theory, action, clause, replaced, without

FAILS = Field("fails", (TASK, ID), TRUTH, "if the checkpoint falls back, it does so for this task")
REFERS = Field("refers", (TASK, ID), ID, "the checkpoint whose snapshot of the task it refers to")

_OF_TASK = ("cut", "saved", "finished_at")
_OF_READER = ("offset", "kept", "kept_value")
_OF_SENDER = ("barrier", "end")


def resolved(s: State) -> State:
    """The same state, but each checkpoint itself holds the snapshots to which it refers."""

    def by(owner: Function, name: str) -> Function:
        return lambda x, n, *more: s.functions[name](x, s.refers(owner(x), n), *more)

    return s.after(
        {
            **{name: by(lambda t: t, name) for name in _OF_TASK},
            **{name: by(s.target_of, name) for name in _OF_READER},
            **{name: by(s.source_of, name) for name in _OF_SENDER},
        }
    )


def is_own(s: State, t: Term, n: Term) -> Formula:
    """The checkpoint is complete, and the task took an *own* snapshot for it: one for this checkpoint."""
    return both(s.completed(n), s.refers(t, n) == n)


@action(ID)
def fall_back(s: State, n: Term) -> Step:
    """A checkpoint completes without some tasks, and refers to older snapshots of these."""
    return Step(
        {
            "it is pending": s.pending(n),
            "the others acknowledged": s.all(
                TASK, holds=lambda t: either(s.fails(t, n), s.acknowledged(t, n))
            ),
            "no channel leaves a failed region": s.all(
                CHANNEL,
                holds=lambda c: implies(
                    both(between_tasks(s, c), s.fails(s.source_of(c), n)), s.fails(s.target_of(c), n)
                ),
            ),
            "no channel enters a failed region": s.all(
                CHANNEL,
                holds=lambda c: implies(
                    both(between_tasks(s, c), s.fails(s.target_of(c), n)), s.fails(s.source_of(c), n)
                ),
            ),
            "it is newer than the latest": s.latest() < n,
            "no older savepoint is pending": s.all(ID, holds=lambda m: no(both(s.pending(m), m < n))),
            "it does not stop the job": no(s.stops(n)),
        },
        {
            "completed": lambda m: either(m == n, s.completed(m)),
            "latest": lambda: n,
            "pending": lambda m: both(s.pending(m), either(m > n, both(m < n, s.is_savepoint(m)))),
            "refers": lambda t, m: chosen(
                both(m == n, s.fails(t, n)), s.refers(t, s.latest()), s.refers(t, m)
            ),
        },
    )


def _committed(s: State, c: Term, n: Term) -> Step:
    step = commit.step(s, c, n)
    up_to = {"up to a completed checkpoint": n <= s.refers(s.source_of(c), s.latest())}
    return Step({**step.guards, **up_to}, step.changes)


def _restored(s: State) -> Step:
    step = restore.step(resolved(s))
    passed = {"passed": lambda t, m: both(s.passed(t, m), m <= s.refers(t, s.latest()))}
    return Step(step.guards, {**step.changes, **passed})


@clause(TASK, ID)
def references(s: State, t: Term, n: Term) -> Formula:
    """A completed checkpoint refers to snapshots that were taken for itself, or for an older completed one.

    Every other checkpoint refers to itself.
    """
    m = s.refers(t, n)
    return both(
        implies(either(no(s.completed(n)), s.stops(n)), m == n),
        implies(s.completed(n), m <= n, s.completed(m), s.refers(t, m) == m),
    )


@clause(TASK, ID)
def newest_own(s: State, t: Term, n: Term) -> Formula:
    """The latest checkpoint refers to each task's newest own snapshot.

    No pending one lies between the two.
    """
    is_older = either(is_own(s, t, n), both(s.pending(n), n < s.latest()))
    return implies(is_older, n <= s.refers(t, s.latest()))


@clause(CHANNEL, ID)
def one_region(s: State, c: Term, n: Term) -> Formula:
    """For the two tasks of a channel, a checkpoint refers to snapshots of the same checkpoint."""
    return implies(between_tasks(s, c), s.refers(s.source_of(c), n) == s.refers(s.target_of(c), n))


@clause(TASK, ID)
def begun(s: State, t: Term, n: Term) -> Formula:
    """Snapshots have begun ids, of this attempt or not newer than the snapshot that a restore takes."""
    return both(
        implies(s.passed(t, n), s.begun(n), either(s.current(n), n <= s.refers(t, s.latest()))),
        implies(either(s.stored(t, n), s.acknowledged(t, n)), s.begun(n)),
    )


@clause(CHANNEL, ID, POSITION)
def channel_state(s: State, c: Term, n: Term, p: Term) -> Formula:
    """The channel state of an own snapshot holds all records in flight."""
    t = s.target_of(c)
    is_in_flight = both(s.read_after(c, s.cut(t, n)) <= p, p < s.barrier(c, n))
    return implies(
        both(between_tasks(s, c), is_own(s, t, n), is_in_flight),
        s.kept(c, n, p),
        s.kept_value(c, n, p) == s.value(c, p),
    )


@clause(TASK, ID)
def stored_states(s: State, t: Term, n: Term) -> Formula:
    """The stored state is the captured state."""
    is_stored = both(s.stored(t, n), either(s.current(n), is_own(s, t, n)))
    return implies(is_stored, s.passed(t, n), s.saved(t, n) == s.captured(t, n))


@clause(CHANNEL, ID)
def stored_offsets(s: State, c: Term, n: Term) -> Formula:
    """The stored reading positions are the captured reading positions."""
    t = s.target_of(c)
    is_stored = both(s.stored(t, n), either(s.current(n), is_own(s, t, n)))
    return implies(both(has_reader(s, c), is_stored), s.offset(c, n) == s.captured_offset(c, n))


@clause(TASK, ID)
def complete(s: State, t: Term, n: Term) -> Formula:
    """A task has stored its own snapshot of a completed checkpoint."""
    return implies(is_own(s, t, n), s.passed(t, n), s.stored(t, n))


@clause(CHANNEL, ID)
def committed(s: State, c: Term, n: Term) -> Formula:
    """The checkpoint that closed a committed transaction is not newer than the one that a restore takes."""
    is_committed = both(s.is_output(c), s.committed(c, n))
    return implies(is_committed, s.passed(s.source_of(c), n), n <= s.refers(s.source_of(c), s.latest()))


@clause(CHANNEL, ID)
def nothing_in_flight(s: State, c: Term, n: Term) -> Formula:
    """If the referenced checkpoint is aligned, records sent before it were read before it."""
    m = s.refers(s.target_of(c), n)
    return implies(
        both(between_tasks(s, c), s.completed(n), no(s.overtakes(m))),
        s.read_after(c, s.cut(s.target_of(c), m)) == s.sent_after(c, s.cut(s.source_of(c), m)),
    )


@clause(CHANNEL, ID, POSITION)
def nothing_left_out(s: State, c: Term, n: Term, p: Term) -> Formula:
    """After the commits up to the referenced checkpoint, every record before it is visible once."""
    t = s.source_of(c)
    m = s.refers(t, n)
    all_committed = s.all(ID, holds=lambda k: implies(both(k <= m, s.passed(t, k)), s.committed(c, k)))
    is_before = both(p >= 0, p < s.sent_after(c, s.cut(t, m)))
    return implies(both(s.is_output(c), s.completed(n), all_committed, is_before), s.times(c, p) == 1)


def _resolved(found: Clause) -> Clause:
    return found._replace(holds=lambda s, *elements: found.holds(resolved(s), *elements))


def started(s: State) -> Mapping[str, Function]:
    """A new job: each checkpoint refers to itself."""
    return {**start(s), "refers": lambda t, n: n}


REGIONAL = Theory(
    "regional: proposed, no released jar",
    (*EXACTLY_ONCE.constants, FAILS),
    (*FIELDS, REFERS),
    EXACTLY_ONCE.axioms,
    started,
    (
        *replaced(EXACTLY_ONCE.actions, commit._replace(step=_committed), restore._replace(step=_restored)),
        fall_back,
    ),
    replaced(
        EXACTLY_ONCE.invariant,
        begun, channel_state, stored_states, stored_offsets, complete, committed,
        references, one_region, newest_own,
    ),
    replaced(map(_resolved, EXACTLY_ONCE.theorem), nothing_in_flight, nothing_left_out),
)  # fmt: skip

BROKEN: Mapping[tuple[str, str], str] = {
    ("fall back", "it is pending"): "ids",
    ("fall back", "the others acknowledged"): "complete",
    ("fall back", "no channel leaves a failed region"): "one region",
    ("fall back", "no channel enters a failed region"): "one region",
    ("fall back", "it is newer than the latest"): "ids",
    ("fall back", "no older savepoint is pending"): "newest own",
    ("fall back", "it does not stop the job"): "references",
    ("fall back", "refers"): "complete",
    ("commit", "up to the snapshot that a restore takes"): "committed",
}
"""An action, and a condition or effect of it. Without this part, the named clause is false."""


def broken(name: str, part: str) -> Theory:
    """The theory in which the action `name` lacks the condition or effect `part`."""
    lacking = (
        commit
        if name == commit.name
        else without(next(one for one in REGIONAL.actions if one.name == name), part)
    )
    return REGIONAL._replace(actions=replaced(REGIONAL.actions, lacking))
