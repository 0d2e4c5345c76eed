"""The symbolic cases of a gate of one mode and profile. Their paths are the targets of directed test cases.

`conformance.cases.directed` searches for a run for each path. The proofs use the same cases with one
assumption less. The assumption: in Flink 1.11, every barrier of one checkpoint has the same type. There the
type decides whether barriers overtake, and Flink does not check that the types agree.
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

MAX_TRACKED = 3
"""Maximum number of tracked checkpoints in a case with two channels. With one channel there are none."""


def gate_path_cases(mode: str, profile: Profile, max_channels: int = 3) -> Iterator[Case]:
    """Yields each class of event at gates of 1 to 3 channels in mode exactly-once, else 1 and 2.

    `mode`: a mode of the adapter protocol. `max_channels`: the maximum number of channels of a gate.
    """
    for counts_as_aligned in (True, False) if profile.ends_count else (False,):
        if mode == "exactly-once":
            if not profile.ends_count or counts_as_aligned:  # gate_cases leaves the flag symbolic
                for channels in range(1, min(max_channels, 3) + 1):
                    yield from gate_cases(channels, profile)
        elif mode == "at-least-once":
            for channels, tracked in ((1, 0), *((2, tracked) for tracked in range(MAX_TRACKED + 1))):
                if channels > max_channels:
                    continue
                yield from tracker_cases(
                    channels,
                    tracked,
                    TRACKED_AT_MOST,
                    counts_as_aligned=counts_as_aligned,
                    profile=profile,
                )
        else:
            for channels in range(1, min(max_channels, 2) + 1):
                for case in unaligned_cases(
                    channels,
                    alternating=mode == "alternating",
                    counts_as_aligned=counts_as_aligned,
                    profile=profile,
                ):
                    if case.event[-1] != "announce" or profile.has_announcements:
                        yield _of_one_type(case) if profile.type_decides else case


def _of_one_type(case: Case) -> Case:
    """The case with the assumption that every barrier of a checkpoint has the type of its first barrier."""
    gate, event = case.state, case.event
    if type(event) is not OptionedBarrier:
        return case
    is_later = z3.And(bool_term(gate.pending), int_term(event.checkpoint) == int_term(gate.current))
    same = bool_term(event.savepoint) == bool_term(gate.first.savepoint)
    return case._replace(assumptions=(*case.assumptions, z3.Implies(is_later, same)))
