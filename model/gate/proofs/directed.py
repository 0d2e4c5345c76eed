"""The paths that a gate of a mode and a profile can take: the targets of directed cases.

They are the paths of the proofs, with one more assumption: in Flink 1.11, where the type of a checkpoint
decides, the environment sends the same type on every channel. Flink does not check for other input.
"""

from collections.abc import Iterator

import z3

from model.checker.prove import Case
from model.checker.symbolic import bool_term, int_term
from model.gate.events import OptionedBarrier
from model.gate.profiles import Profile
from model.gate.proofs.aligned import gate_cases
from model.gate.proofs.tracking import tracker_cases
from model.gate.proofs.unaligned import unaligned_cases
from model.gate.tracking import TRACKED_AT_MOST

TRACKED = 3
"""Maximum number of tracked checkpoints; a gate with one channel tracks none."""


def aimed_cases(mode: str, profile: Profile, at_most: int = 3) -> Iterator[Case]:
    """Every event on a gate with 1 to 3 channels (1 and 2 in the modes other than exactly-once), or fewer."""
    for counts_as_aligned in (True, False) if profile.ends_count else (False,):
        if mode == "exactly-once":
            if not profile.ends_count or counts_as_aligned:  # the flag is a symbol there
                for channels in range(1, min(at_most, 3) + 1):
                    yield from gate_cases(channels, profile)
        elif mode == "at-least-once":
            for channels, tracked in ((1, 0), *((2, tracked) for tracked in range(TRACKED + 1))):
                if channels > at_most:
                    continue
                yield from tracker_cases(
                    channels,
                    tracked,
                    TRACKED_AT_MOST,
                    counts_as_aligned=counts_as_aligned,
                    profile=profile,
                    records=True,
                )
        else:
            for channels in range(1, min(at_most, 2) + 1):
                for case in unaligned_cases(
                    channels,
                    alternating=mode == "alternating",
                    counts_as_aligned=counts_as_aligned,
                    profile=profile,
                ):
                    if case.event[-1] != "announce" or profile.has_announcements:
                        yield _of_one_type(case) if profile.type_decides else case


def _of_one_type(case: Case) -> Case:
    """A barrier of the pending checkpoint has the type of its first one."""
    gate, event = case.state, case.event
    if type(event) is not OptionedBarrier:
        return case
    further = z3.And(bool_term(gate.pending), int_term(event.checkpoint) == int_term(gate.current))
    same = bool_term(event.savepoint) == bool_term(gate.first.savepoint)
    return case._replace(promise=(*case.promise, z3.Implies(further, same)))
