"""Closed models of gates whose channels may deliver any item at any time, also a lower id after a higher one.

The adapter protocol permits the same items. The environment has no state, so a closed model has only the
states of its gate. The directed search uses these closed models to find runs that take a given path of a step
function (`model.gate.proofs.path_cases`).
"""

from collections.abc import Iterator
from itertools import product

from model.checker.closed_model import ClosedModel, Environment
from model.events import Event
from model.gate.alignment import ALIGNED, FORCED_ALIGNED, TIMED, UNALIGNED, Options
from model.gate.environment.aligned import closed_gate
from model.gate.environment.tracking import closed_tracker
from model.gate.environment.unaligned import GateBounds, closed_unaligned
from model.gate.profiles import Profile

EVERY_KIND = (
    *(Options(alignment, False, 0) for alignment in (ALIGNED, UNALIGNED, FORCED_ALIGNED, TIMED)),
    *(Options(alignment, True, 0) for alignment in (ALIGNED, FORCED_ALIGNED, TIMED)),
)
"""All combinations of alignment and type that a barrier may carry. A savepoint is never unaligned."""
TIMEOUT = 10
"""The time-out in ms, as in the configurations of the released generations."""


LATER = Options(TIMED, False, TIMEOUT)
"""A timed barrier of a checkpoint that is triggered at TIMEOUT ms, and so never times out in these models."""


def closed_free_models(mode: str, profile: Profile, at_most: int = 3) -> Iterator[ClosedModel]:
    """Yields closed models of a mode and a profile: 1 to 3 channels in mode exactly-once, else 1 or 2.

    `at_most`: the maximum number of channels.
    """
    for counts_as_aligned in (True, False) if profile.ends_count else (False,):
        if mode == "exactly-once":
            for channels, ids in ((1, 3), (2, 3), (3, 3))[:at_most]:
                yield _free(
                    closed_gate(
                        channels,
                        ids,
                        counts_as_aligned=counts_as_aligned,
                        polled=False,
                        profile=profile,
                        injects=profile.ends_count,
                    )
                )
        elif mode == "at-least-once":
            for channels, ids in ((1, 3), (2, 4))[:at_most]:
                yield _free(
                    closed_tracker(
                        channels, ids, counts_as_aligned=counts_as_aligned, profile=profile, records=True
                    )
                )
        else:
            yield from _overtaking(mode == "alternating", counts_as_aligned, profile, min(at_most, 2))


def _overtaking(
    alternating: bool, counts_as_aligned: bool, profile: Profile, at_most: int
) -> Iterator[ClosedModel]:
    has_timer = alternating and not profile.first_decides
    for channels, timeout in product(range(1, at_most + 1), (TIMEOUT, 0)):
        if timeout == 0 and not has_timer:
            continue
        bounds = GateBounds(
            channels,
            ids=2 if has_timer else 4,
            until=3 * TIMEOUT // 2 if has_timer and timeout else 1,
            timeout=timeout,
            alternating=alternating,
            counts_as_aligned=counts_as_aligned,
            options=(*EVERY_KIND, LATER) if has_timer and not profile.times_from_first else EVERY_KIND,
            announces=(ALIGNED, UNALIGNED, FORCED_ALIGNED, TIMED),
            announced=profile.has_announcements,
            profile=profile,
            tick=TIMEOUT // 2,
            one_type=profile.type_decides,
        )
        yield _free(closed_unaligned(bounds))


def _free(closed: ClosedModel) -> ClosedModel:
    return closed._replace(name=f"free {closed.name}", environment=(), allows=_anything)


def _anything(environment: Environment, event: Event) -> Environment:
    return environment
