"""Claims that generations of gates behave alike, their proofs, and the shortest runs that show differences.

*Outcomes* are the effects of a gate on its task: the task takes a snapshot, aborts a checkpoint or fails.
*Calls* are all effects in order, including blocks and resumes.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from model.checker.closed_model import ClosedModel
from model.checker.equivalence import Difference, Outcome, Pair, Verdict, alike, shortest_difference
from model.checker.prove import Case, assume_invariants
from model.checker.symbolic import bool_term
from model.events import Effects, Event, Fail
from model.gate.aligned import Gate
from model.gate.environment.aligned import closed_gate
from model.gate.environment.tracking import closed_tracker
from model.gate.events import Abort, Barrier, EndOfPartition, Injection, Trigger
from model.gate.profiles import PROFILES, Profile
from model.gate.proofs.aligned import gate_cases
from model.properties import of_component

CHANNELS = (1, 2, 3)
"""The numbers of channels for which the claims are proved."""


def outcomes(effects: Effects) -> Effects:
    """The triggers, aborts and failures among the effects, in order."""
    return tuple(effect for effect in effects if type(effect) in (Trigger, Abort, Fail))


def calls(effects: Effects) -> Effects:
    """All effects, in order."""
    return effects


def comparable(gate: Gate) -> tuple[object, ...]:
    """The fields of a gate that two generations must have in common: the checkpoint and its channels."""
    return (gate.current, gate.pending, gate.blocked, gate.closed)


class Claim(NamedTuple):
    """A claim: aligned gates of two generations behave alike under these conditions."""

    left: str
    right: str
    ends: bool
    """The claim also holds if channels end. Both generations have checkpoints after tasks finish disabled."""
    repeats: bool
    """The claim also holds if a channel repeats the barrier of the pending checkpoint."""
    exact: bool
    """The claim states that all calls are equal. Else it states only that the outcomes are equal."""

    def describe(self) -> str:
        """The claim in one sentence."""
        without = [] if self.ends else ["ends of partition"]
        without += [] if self.repeats else ["repeated barriers"]
        seen = "in every call" if self.exact else "in their outcomes"
        left_out = f", without {' and '.join(without)}" if without else ""
        return f"{self.left} and {self.right} are alike {seen}{left_out}"

    def prove(self) -> Verdict:
        """Proves the claim with z3, for every checkpoint id."""
        outcome: Outcome = calls if self.exact else outcomes
        return alike(self._pairs(), outcome, comparable)

    def _pairs(self) -> Iterator[Pair]:
        left, right = PROFILES[self.left], PROFILES[self.right]
        for channels in CHANNELS:
            for one, other in zip(_delivered(channels, left), _delivered(channels, right), strict=True):
                if type(one.event) is EndOfPartition and not self.ends:
                    continue
                gate: Gate = one.state._replace(counts_as_aligned=False, repeats=0)
                sound = assume_invariants(gate, of_component("gate"))
                if not self.ends:
                    sound = (*sound, *(~bool_term(closed) for closed in gate.closed))
                if type(one.event) is Barrier and not self.repeats:
                    again = (gate.current == one.event.checkpoint, gate.blocked[one.event.channel])
                    sound = (*sound, ~(bool_term(again[0]) & bool_term(again[1])))
                twin = gate._replace(profile=right)
                yield Pair(one._replace(state=gate), other._replace(state=twin), sound)


CLAIMS = (
    Claim("flink-1.9", "flink-1.11", ends=True, repeats=True, exact=False),
    Claim("flink-1.11", "flink-1.12", ends=True, repeats=True, exact=False),
    Claim("flink-1.12", "flink-1.13", ends=True, repeats=False, exact=False),
    Claim("flink-1.13", "flink-1.14", ends=True, repeats=False, exact=True),
)
"""Claims for consecutive generations. Claims for other pairs follow, because equality is transitive."""


def _delivered(channels: int, profile: Profile) -> Iterator[Case]:
    """The cases of events that a channel may deliver. Older generations have no other event (injections)."""
    return (case for case in gate_cases(channels, profile) if type(case.event) is not Injection)


class Contrast(NamedTuple):
    """The shortest run that distinguishes two consecutive generations, if there is one within the bounds."""

    mode: str
    left: Profile
    right: Profile
    seen: str
    """The compared effects: `outcomes` or `calls`."""
    difference: Difference | None
    """None if no run within the bounds shows a difference."""


def contrasts() -> Iterator[Contrast]:
    """Yields the contrasts of consecutive generations, in the modes exactly-once and at-least-once."""
    for left, right in pairwise(PROFILES.values()):
        for seen, outcome in (("outcomes", outcomes), ("calls", calls)):
            yield Contrast("exactly-once", left, right, seen, _apart(left, right, outcome, _gate))
        yield Contrast("at-least-once", left, right, "outcomes", _apart(left, right, outcomes, _tracker))


def _apart(
    left: Profile, right: Profile, outcome: Outcome, closed_model: Callable[[Profile, int], ClosedModel]
) -> Difference | None:
    for channels in CHANNELS:
        found = shortest_difference(
            closed_model(left, channels), closed_model(right, channels), outcome, _anything
        )
        if found is not None:
            return found
    return None


def _anything(state: object, event: Event) -> bool:
    return True


def _gate(profile: Profile, channels: int) -> ClosedModel:
    return closed_gate(channels, 2, counts_as_aligned=profile.ends_count, polled=False, profile=profile)


def _tracker(profile: Profile, channels: int) -> ClosedModel:
    return closed_tracker(channels, 2, counts_as_aligned=profile.ends_count, profile=profile)
