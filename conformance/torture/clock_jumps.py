"""Checks that a jump of a wall clock fails no attempt, aborts no checkpoint, and does not stop the scheduler.

The check of the output cannot show such defects: after a time-out that comes too early the job restarts, and
at the end of the data it takes a last checkpoint. The time-outs of the round are far longer than a slow
machine needs, and far shorter than a jump.
"""

from collections.abc import Iterator
from pathlib import Path

import orjson

from impl.core.coordinator.events import CHECKPOINT_EXPIRED
from impl.faults import CLOCK
from impl.job import JobResult

CHECKPOINTS_AFTER = 3
"""Minimum number of checkpoints that complete after a jump. If a jump stops the scheduler, at most two
complete: a pending one, and the one at the end of the data."""
PATIENT_MS = 60_000
"""The time-outs of heartbeats and checkpoints in ms."""


def clock_findings(result: JobResult, events: Path) -> Iterator[str]:
    """Yield the violations after jumps in the run of `result`. `events`: the folder of its event log."""
    failures = [one.reason for one in result.attempts if one.reason is not None]
    planned = [one for one in result.faults if one.action not in CLOCK]
    if len(failures) > len(planned):
        yield (
            f"{len(failures)} attempts have failed, and the faults explain {len(planned)}: "
            f"{'; '.join(failures)}"
        )
    for checkpoint, reason in result.aborted:
        if reason == CHECKPOINT_EXPIRED:
            yield f"checkpoint {checkpoint} expired after a jump, within {PATIENT_MS} ms"
    for jump, completed in _completed_after(events / "coordinator.jsonl"):
        if completed < CHECKPOINTS_AFTER:
            yield f"after {jump}, {completed} checkpoints completed, expected {CHECKPOINTS_AFTER} or more"


def _completed_after(log: Path) -> Iterator[tuple[str, int]]:
    """Yield each jump, and the number of checkpoints that completed after it."""
    lines = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    for place, line in enumerate(lines):
        if line.get("kind") == "fault" and line["action"] in CLOCK:
            effects = (effect for later in lines[place:] for effect in later.get("effects", ()))
            completed = sum(effect["kind"] == "complete" for effect in effects)
            yield f"{line['action']} of {line['victim']} at {line['point']}", completed
