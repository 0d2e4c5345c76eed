"""Checks that a jump of a wall clock fails no attempt, ends no checkpoint, and does not stop the schedule.

The output of such a run is exact anyway: a restart repairs what a time-out that came too early has broken,
and the last checkpoint is taken at the end of the data. So these checks come on top of the judgement of every
round. The time-outs of the round are far above what a slow machine needs, and far below a jump.
"""

from collections.abc import Iterator
from pathlib import Path

import orjson

from impl.core.coordinator.events import CHECKPOINT_EXPIRED
from impl.faults import CLOCK
from impl.job import JobResult

CHECKPOINTS_AFTER = 3
"""The checkpoints that must complete after a jump. Without the schedule at most two would: one that was
pending, and the last one."""
PATIENT_MS = 60_000
"""The time-outs of heartbeats and checkpoints."""


def clock_findings(result: JobResult, events: Path) -> Iterator[str]:
    """The violations by a clock jump in the run of `result`, whose event log is in the folder `events`."""
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
    """Each jump, and the number of checkpoints that completed after it."""
    lines = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    for place, line in enumerate(lines):
        if line.get("kind") == "fault" and line["action"] in CLOCK:
            effects = (effect for later in lines[place:] for effect in later.get("effects", ()))
            completed = sum(effect["kind"] == "complete" for effect in effects)
            yield f"{line['action']} of {line['victim']} at {line['point']}", completed
