"""Plays complete suites in `conform`: chooses the number k of extra states, and states the guarantee.

Each suite is played with the plan's k, or with a smaller k if the component would otherwise have more than
SEQUENCES_AT_MOST sequences. The report names each suite that was not played.
"""

from functools import cache
from typing import NamedTuple

from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Adapter, Wire, canonical
from conformance.drive.bounds.tested_scope import by_number
from conformance.drive.lockstep import Played
from conformance.drive.loop import is_over
from conformance.drive.plan import Plan
from conformance.suites.alphabet import Alphabet
from conformance.suites.h_method import Suite, base_size, suite
from conformance.suites.machine import Machine
from conformance.suites.model_machine import STATES_AT_MOST, TooLargeError, model_machine
from conformance.suites.registry import alphabets, configurations, left_out
from conformance.suites.sequences import SuitePlay

SEQUENCES_AT_MOST = 100_000
"""Limit of the sequences of a component in a default run: some seconds of a compiled implementation."""
NEARLY = 1.1
"""A suite is not made if its estimated size exceeds the limit by more than this factor."""
THOROUGH = 1_000_000
"""Limit of the sequences of a component with --thorough."""
EXPLORED = 300_000
"""Limit of the explored steps of the model for a component in a default run."""
EXPLORED_THOROUGH = 10_000_000
"""Limit of the explored steps of the model for a component with --thorough."""
TOO_LARGE = "the model has too many states over its letters to be explored in one run"


class Guarantee(NamedTuple):
    """The guarantee of one suite, or the reason why the suite was not played to its end."""

    component: str
    config: Wire
    subject: str
    """The bounds of the letters and, if a configuration has several alphabets, the subject of this one."""
    letters: int
    states: int = 0
    """n, the number of states of the model's machine; 0 if there are too many to explore."""
    extra: int | None = None
    """k, or None if the suite was not played to its end."""
    sequences: int = 0
    events: int = 0
    left_out: int = 0
    """Number of sequences that were not played, because the implementation has a known crash in them."""
    known: int = 0
    """Number of sequences that ended at a known divergence. Their further letters were not compared."""
    reason: str = ""
    """The reason why k is lower than the plan's, or why the suite was not played; empty if neither."""

    def values(self) -> dict[str, object]:
        """As JSON values."""
        return {
            "config": dict(self.config),
            "subject": self.subject,
            "letters": self.letters,
            "states": self.states,
            "extra_states": self.extra,
            "sequences": self.sequences,
            "events": self.events,
            "left_out": self.left_out,
            "known": self.known,
            "reason": self.reason,
        }


class Planned(NamedTuple):
    """A suite, which is played if its guarantee has a k."""

    alphabet: Alphabet | None
    """None if the configuration has no alphabet."""
    guarantee: Guarantee


def play_suites(component: str, adapter: Adapter, plan: Plan, total: Played) -> list[Guarantee]:
    """Play the suites of a component until one diverges, add to `total`, and return their guarantees."""
    guarantees: list[Guarantee] = []
    streams = adapter if isinstance(adapter, ProcessAdapter) else None
    for alphabet, planned_one in planned(component, plan):
        guarantee = planned_one
        if is_over(total):
            break
        if alphabet is not None and guarantee.extra is not None:
            suite_played = SuitePlay(
                alphabet, suite_of(machine_of(alphabet), guarantee.extra), plan, total.unseen
            )
            streams = suite_played.play(adapter, streams)
            total.add(suite_played.played)
            guarantee = _guaranteed(guarantee, suite_played.played)
        guarantees.append(guarantee)
    return guarantees


def planned(component: str, plan: Plan) -> list[Planned]:
    """The suites of a component, each with the largest k for which the suites together stay within the limit.

    First all suites get k = 0, then as many as possible get k = 1, and so on. For each k, suites of the
    newest profile come first, and smaller suites before larger ones.
    """
    most_extra = plan.extra_states or 0
    thorough = most_extra > 1
    left = THOROUGH if thorough else SEQUENCES_AT_MOST
    explorable = EXPLORED_THOROUGH if thorough else EXPLORED
    found: list[Planned] = []
    none: list[Planned] = []
    for config in configurations(component, plan):
        listed = list(alphabets(component, config, injects=plan.injects, thorough=thorough))
        for alphabet in listed:  # none explores more than half of the remaining steps
            states = explorable // 2 // len(alphabet.letters)
            found.append(Planned(alphabet, _unplayed(alphabet, states)))
            explorable -= (found[-1].guarantee.states or states) * len(alphabet.letters)
        if not listed:
            none.append(Planned(None, Guarantee(component, config, "", 0, reason="it has no alphabet yet")))
    if reason := left_out(component):
        none.append(Planned(None, Guarantee(component, {}, "other configurations", 0, reason=reason)))
    newest = max((str(one.guarantee.config.get("profile", "")) for one in found), key=by_number, default="")
    for extra in range(most_extra + 1):
        ways = {at: _ways(one, extra) for at, one in enumerate(found) if _may_grow(one, extra)}
        of_newest = {at: found[at].guarantee.config.get("profile", "") == newest for at in ways}
        for at in sorted(ways, key=lambda at: (not of_newest[at], ways[at])):
            now = found[at].guarantee
            size = _size(found[at], extra) if ways[at] <= NEARLY * (left + now.sequences) else ways[at]
            more = size - now.sequences
            if more <= left:
                left -= more
                found[at] = found[at]._replace(guarantee=now._replace(extra=extra, sequences=size, reason=""))
            else:
                reason = f"k={extra} has about {size:,} sequences, more than the limit for a run leaves"
                found[at] = found[at]._replace(guarantee=now._replace(reason=reason))
    return [*found, *none]


def _may_grow(one: Planned, extra: int) -> bool:
    """Whether the suite with k one smaller stays within the limit."""
    guarantee = one.guarantee
    return guarantee.states > 0 and (extra == 0 or guarantee.extra == extra - 1)


def _unplayed(alphabet: Alphabet, states_at_most: int) -> Guarantee:
    subject = "; ".join(part for part in (alphabet.subject, alphabet.bound) if part)
    guarantee = Guarantee(alphabet.component, alphabet.config, subject, len(alphabet.letters))
    try:
        return guarantee._replace(states=machine_of(alphabet, states_at_most).size)
    except TooLargeError:
        return guarantee._replace(reason=TOO_LARGE)


def _ways(one: Planned, extra: int) -> int:
    """An estimate of the number of sequences, see `base_size`."""
    assert one.alphabet is not None
    return base_size(machine_of(one.alphabet), extra)


def _size(one: Planned, extra: int) -> int:
    assert one.alphabet is not None
    return sum(1 for _ in suite_of(machine_of(one.alphabet), extra).words())


def _guaranteed(planned_one: Guarantee, played: Played) -> Guarantee:
    left = planned_one.sequences - played.cases
    done = planned_one._replace(
        sequences=played.cases, events=played.steps, left_out=left, known=played.known
    )
    if played.skipped or not played.is_sound or played.ended_early:
        return done._replace(extra=None, left_out=0, known=0, reason="it was not played to its end")
    return done


_MACHINES: dict[tuple[str, bytes, str, tuple[str, ...]], Machine] = {}


def machine_of(alphabet: Alphabet, states_at_most: int = STATES_AT_MOST) -> Machine:
    """The model's machine, which a process explores only once. Raises TooLargeError."""
    key = (alphabet.component, canonical(alphabet.config), alphabet.bound, alphabet.names)
    if key not in _MACHINES:
        _MACHINES[key] = model_machine(alphabet, states_at_most)
    return _MACHINES[key]


@cache
def suite_of(machine: Machine, extra: int) -> Suite:
    """The suite of a machine, which a process makes only once."""
    return suite(machine, extra)
