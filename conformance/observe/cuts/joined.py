"""Validates one log in parts: finds the cuts, validates the parts in parallel, and joins their results.

The result, with its places and counts, is that of a sequential validation. If a part has a finding, or the
assumed state at a cut is wrong, the log is validated sequentially instead.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path

from conformance.observe.coordinator import recorded_first
from conformance.observe.cuts.assumed import assumed
from conformance.observe.cuts.part import PartRange, Validated, state_at, validated
from conformance.observe.cuts.places import MOST_TRIED, Cut, cuts_near
from conformance.observe.eventlog import EventLog, EventLogError, find
from conformance.observe.replay import Rejected
from conformance.observe.run_state import NotQuietError, Run, Settings
from conformance.observe.sink import orphaned
from conformance.observe.situations import REQUIRED, possible
from conformance.observe.validate import MALFORMED_LINE, TraceResult, result_of, validate

Map = Callable[[Sequence[PartRange]], Iterable[Validated]]
"""Validates parts, in parallel or not. The results are in the order of the parts."""
_FINDINGS = (Rejected, EventLogError, *MALFORMED_LINE)


def validate_in_parts(
    folder: Path,
    number: int,
    settings: Settings | None = None,
    required: Collection[str] = REQUIRED,
    side_by_side: Map | None = None,
) -> TraceResult:
    """Validate the event log in `folder` in at most `number` parts. The result is that of `validate`.

    `side_by_side`: validates the parts; by default `in_processes`. Raises the errors of `validate`.
    """
    settings = settings or Settings()
    log = find(folder)
    cuts = cuts_of(log, settings, number)
    bounds = [None, *cuts, None]
    ranges = [PartRange(folder, settings, *pair) for pair in pairwise(bounds)]
    if cuts:
        found = list((side_by_side or in_processes)(ranges))
        result = _joined(found, required)
        if result is not None:
            return result
    return validate(folder, settings, required)


def in_processes(ranges: Sequence[PartRange]) -> list[Validated]:
    """Validate the first part in this process, and each other part in a new process."""
    with ProcessPoolExecutor(max(1, len(ranges) - 1)) as pool:
        others = [pool.submit(outcome, one) for one in ranges[1:]]
        return [outcome(ranges[0]), *(one.result() for one in others)]


def outcome(ranges: PartRange) -> Validated:
    """Validate a part. After a finding `is_whole` is False, and the sequential validation reports it."""
    try:
        return validated(ranges)
    except _FINDINGS:
        return Validated()


def cuts_of(log: EventLog, settings: Settings, number: int) -> list[Cut]:
    """At most `number` - 1 cuts that divide the coordinator's file evenly."""
    retain = settings.retain
    try:
        retain = int(recorded_first(log.coordinator)[1].get("retain", retain))
    except _FINDINGS:
        return []
    cuts: list[Cut] = []
    for place in range(1, number):
        for tried, cut in enumerate(cuts_near(log, place / number, retain)):
            if tried == MOST_TRIED:
                break
            if (not cuts or cut.before.checkpoint > cuts[-1].last.checkpoint) and _is_quiet(
                log, settings, cut
            ):
                cuts.append(cut)
                break
    return cuts


def _is_quiet(log: EventLog, settings: Settings, cut: Cut) -> bool:
    """Whether no checkpoint or message is under way at the cut, as far as its checkpoint's lines show."""
    try:
        state_at(assumed(log, settings, cut), cut)
    except (NotQuietError, *_FINDINGS):
        return False
    return True


def _joined(parts: Sequence[Validated], required: Collection[str]) -> TraceResult | None:
    """The result for the log; None if the log has to be validated sequentially."""
    if not all(part.is_whole for part in parts):
        return None
    if any(one.end != other.begin for one, other in pairwise(parts)):
        return None
    run = Run()
    sinks: set[str] = set().union(*(part.sinks for part in parts))
    for part in parts:
        for task, one in part.sends_one_per_record.items():
            if run.sends_one_per_record.setdefault(task, one) != one:
                return None
        run.events += part.events
        run.cuts_compared += part.cuts_compared
        run.rules |= part.rules
        run.modes |= part.modes
        run.attempts |= part.attempts
        run.attempts_with_completion |= part.attempts_with_completion
        run.taken_over_sinks |= part.taken_over_sinks
        run.witnessed.add(part.situations)
        for (_, task), left in part.undelivered.items():
            if task in sinks:
                run.witnessed.add({"completion not delivered": left})
    if orphaned(run, sinks) is not None:
        return None
    return result_of(run, None, run.witnessed.missing(possible(required, run.modes)))
