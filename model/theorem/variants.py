"""Broken variants of exactly-once, each with the clause that it makes false.

A variant leaves out one condition of an action, or its effect on one field, or it has another effect. There
is a state that satisfies the whole invariant, and a step of the action from this state after which the clause
is false. `finite.small_scope` finds such a step, and `finite.counterexamples` finds a run from the start of
the job.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from model.theorem.dataflow import FIELDS, between_tasks
from model.theorem.exactly_once import EXACTLY_ONCE
from model.theorem.logic import Formula, Function, State, Term, both, chosen, either
from model.theorem.prove import Obligation
from model.theorem.theory import Action, Step, Theory, without


class Variant(NamedTuple):
    """A variant: an action without one condition, without its effect on a field, or with another effect."""

    action: str
    left_out: str
    """The name of a guard or of a field."""
    clause: str
    """The clause that is false after the action."""
    instead: Callable[..., Mapping[str, Function]] | None = None
    """Makes other changes, from a state and the elements of the action. Then `left_out` only names them."""

    @property
    def name(self) -> str:
        """The action and the part that it leaves out."""
        return f"{self.action}/{self.left_out}"

    @property
    def obligation(self) -> Obligation:
        """The obligation that does not hold for the variant."""
        return Obligation(self.action, self.clause)

    @property
    def theory(self) -> Theory:
        """The theory of the variant. Raises LookupError if the action has no such guard or field."""
        actions = tuple(self._broken(found) for found in EXACTLY_ONCE.actions)
        if actions == EXACTLY_ONCE.actions:
            raise LookupError(f"no action is named {self.action!r}")
        return EXACTLY_ONCE._replace(actions=actions)

    @property
    def is_record(self) -> bool:
        """Whether the left-out field only records the run. An implementation has no such field."""
        return any(field.name == self.left_out and field.sentence.startswith("run:") for field in FIELDS)

    def _broken(self, found: Action) -> Action:
        instead = self.instead
        if found.name != self.action:
            return found
        if instead is None:
            return without(found, self.left_out)

        def step(s: State, *elements: Term) -> Step:
            guards, changes = found.step(s, *elements)
            return Step(guards, {**changes, **instead(s, *elements)})

        return found._replace(step=step)


def forgotten(s: State, n: Term) -> Mapping[str, Function]:
    """Tasks forget the transactions of the checkpoints that the completed one subsumes."""
    return {"passed": lambda t, m: both(s.passed(t, m), either(m >= n, m == 0))}


def random(s: State, t: Term, c: Term) -> Mapping[str, Function]:
    """The next state depends also on something other than the record."""
    return {"state": lambda x: chosen(x == t, s.next_history(s.state(t), c, s.lost()), s.state(x))}


def reordered(s: State, t: Term, c: Term) -> Mapping[str, Function]:
    """Of two waiting records, the task reads the second one first."""
    p = s.read(c)
    value = chosen(both(between_tasks(s, c), p + 1 < s.sent(c)), s.value(c, p + 1), s.value(c, p))
    return {"state": lambda x: chosen(x == t, s.next_history(s.state(t), c, value), s.state(x))}


def emptied(s: State) -> Mapping[str, Function]:
    """Channels are empty after a restore: the channel state is lost."""
    n = s.latest()

    def is_in_flight(c: Term, p: Term) -> Formula:
        return both(between_tasks(s, c), s.offset(c, n) <= p)

    return {"value": lambda c, p: chosen(is_in_flight(c, p), s.lost(), s.value(c, p))}


def left_full(s: State) -> Mapping[str, Function]:
    """After a crash the channels keep their records, behind the restored records."""
    n = s.latest()

    def is_old(c: Term, p: Term) -> Formula:
        return both(between_tasks(s, c), s.barrier(c, n) <= p)

    def moved(c: Term, p: Term) -> Term:
        return s.value(c, p - s.barrier(c, n) + s.read(c))

    def sent(c: Term) -> Term:
        held = chosen(between_tasks(s, c), s.sent(c) - s.read(c), 0)
        return chosen(s.is_input(c), s.sent(c), s.barrier(c, n) + held)

    return {"sent": sent, "value": lambda c, p: chosen(is_old(c, p), moved(c, p), s.value(c, p))}


VARIANTS = (
    Variant("complete", "older transactions are forgotten", "covered", forgotten),
    Variant("process", "the operator is not deterministic", "states now", random),
    Variant("process", "the channel reorders records", "states now", reordered),
    Variant("process", "the task reads the channel", "order"),
    Variant("process", "a record is there", "order"),
    Variant("process", "no barrier stands before it", "fifo"),
    Variant("process", "the channel is not blocked", "blocked"),
    Variant("process", "a source does not read behind a savepoint that stops", "stopped"),
    Variant("process", "length", "states now"),
    Variant("process", "order", "order"),
    Variant("process", "history", "sends"),
    Variant("process", "read_after", "reads"),
    Variant("process", "sent_after", "sends"),
    Variant("process", "state", "states now"),
    Variant("process", "read", "positions now"),
    Variant("process", "sent", "positions now"),
    Variant("process", "value", "records"),
    Variant("process", "kept", "kept"),
    Variant("process", "kept_value", "kept"),
    Variant("receive", "the sender has passed", "sent first"),
    Variant("receive", "the barrier is next", "blocked"),
    Variant("overtake", "the sender has passed", "sent first"),
    Variant("overtake", "the reader has passed", "blocked"),
    Variant("overtake", "kept", "kept"),
    Variant("overtake", "kept_value", "kept"),
    Variant("snapshot", "of this attempt", "begun"),
    Variant("snapshot", "not yet", "blocked"),
    Variant("snapshot", "not given up", "consistent"),
    Variant("snapshot", "no newer one", "in order"),
    Variant("snapshot", "all barriers have arrived", "aligned"),
    Variant("snapshot", "passed", "covered"),
    Variant("snapshot", "cut", "cuts"),
    Variant("snapshot", "barrier", "barriers"),
    Variant("snapshot", "captured", "captured states"),
    Variant("snapshot", "captured_offset", "captured offsets"),
    Variant("snapshot", "first", "ranges"),
    Variant("snapshot", "end", "barriers"),
    Variant("snapshot", "opened_at", "ranges"),
    Variant("snapshot", "transaction_of", "covered"),
    Variant("store", "the task has passed", "stored states"),
    Variant("store", "all barriers have arrived", "stored channels"),
    Variant("store", "saved", "stored states"),
    Variant("store", "offset", "stored offsets"),
    Variant("begin", "its id is new", "ids"),
    Variant("begin", "begun", "ids"),
    Variant("begin", "current", "ids"),
    Variant("acknowledge", "its state is stored", "acknowledged"),
    Variant("complete", "it is pending", "complete"),
    Variant("complete", "all tasks acknowledged", "channel state"),
    Variant("complete", "completed", "ids"),
    Variant("complete", "latest", "ids"),
    Variant("commit", "closed", "committed"),
    Variant("commit", "up to a completed checkpoint", "committed"),
    Variant("commit", "not yet", "times"),
    Variant("commit", "committed", "times"),
    Variant("commit", "times", "times"),
    Variant("commit", "visible", "visible"),
    Variant("restore", "current", "sent first"),
    Variant("restore", "pending", "ids"),
    Variant("restore", "passed", "begun"),
    Variant("restore", "length", "order"),
    Variant("restore", "state", "states now"),
    Variant("restore", "read", "positions now"),
    Variant("restore", "sent", "positions now"),
    Variant("restore", "opened_at", "opened"),
    Variant("restore", "channels stay as they were", "positions now", left_full),
    Variant("restore", "the channel state is not restored", "records", emptied),
    Variant("complete", "pending", "ids"),
    Variant("snapshot", "of a finished task after those it reads from", "finished cuts"),
    Variant("snapshot", "finished_at", "finished cuts"),
    Variant("restore", "ended", "ended"),
    Variant("restore", "finished", "finished"),
    Variant("receive end", "the sender has finished", "ended"),
    Variant("receive end", "all records are read", "ended"),
    Variant("finish", "all inputs have ended", "finished"),
    Variant("finish", "the open transaction is empty", "finished sinks"),
    Variant("finish", "all transactions are committed", "finished sinks"),
)
