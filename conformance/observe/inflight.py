"""Records in flight of a run with unaligned checkpoints: is every complete checkpoint whole?

Barriers overtake, so they come in another order than markers were broadcast, and not behind the records that
were sent before them. What has to hold instead is UNAL-37: what a task had read, what it stored of a channel,
and what the sender stored of it, are together all that had been sent.
"""

from typing import Any

from conformance.observe.causes import Key, Need
from conformance.observe.eventlog import LogFile
from conformance.observe.run import Run

Left = tuple[tuple[str, ...], str]


class InFlight:
    """What one task tells of records in flight, in one attempt."""

    def __init__(self, run: Run, file: LogFile) -> None:
        self._run = run
        self._file = file
        self._taken: dict[int, set[int]] = {}
        self._read: dict[int, dict[str, int]] = {}
        self._stored: dict[int, dict[str, int]] = {}

    def deployed(self, fields: dict[str, Any], channels: list[str]) -> None:
        """The attempt begins with these records in flight."""
        recovered = fields.get("recovered", {})
        task, attempt, known = self._file.task, self._file.attempt, self._run.recovered
        for above, rows in recovered.get("input", {}).items():
            known[attempt, above, task] = known.get((attempt, above, task), 0) + rows
        for below, rows in recovered.get("output", {}).items():
            known[attempt, task, below] = known.get((attempt, task, below), 0) + rows
        if any(recovered.get("input", {}).values()) or any(recovered.get("output", {}).values()):
            self._run.witnessed.see("in-flight records restored")

    def marker(self, channel: int, key: Key, said: str, checkpoint: object) -> Need | None:
        """The marker was broadcast above, and has not come on this channel before."""
        taken = self._taken.setdefault(channel, set())
        count = self._run.causes.count(key)
        for place in range(count):
            if place not in taken and self._run.causes.what(key, place)[:2] == (said, checkpoint):
                taken.add(place)
                return None
        why = f"{said} {checkpoint} came on channel {channel}, {key[2]} has not broadcast it"
        return Need(key, count + 1, ("TASK-01", "UNAL-35"), why)

    def snapshot(self, checkpoint: int, fields: dict[str, Any]) -> None:
        """The task has sent its barrier: so many records before it, and so many read."""
        at = (self._file.attempt, self._file.task, checkpoint)
        self._run.sent[at] = dict(fields.get("sent") or {})
        self._read[checkpoint] = dict(fields.get("received") or {})

    def gathered(self, fields: dict[str, Any]) -> None:
        """All that was in flight at the task's ends is stored."""
        checkpoint = fields["checkpoint"]
        at = (self._file.attempt, self._file.task, checkpoint)
        self._run.overtaken[at] = dict(fields["overtaken"])
        self._stored[checkpoint] = dict(fields["stored"])
        if any(self._stored[checkpoint].values()):
            self._run.witnessed.see("input stored")
        if any(fields["overtaken"].values()):
            self._run.witnessed.see("output overtaken")

    def torn(self, channels: list[str]) -> Left | None:
        """The first complete checkpoint in which a channel's records do not add up (UNAL-37)."""
        attempt, task, run = self._file.attempt, self._file.task, self._run
        for checkpoint in sorted(run.completed & {one for one, received in self._read.items() if received}):
            stored = self._stored.get(checkpoint)
            if stored is None:
                return ("UNAL-37",), f"checkpoint {checkpoint} is complete, {task} has stored no part of it"
            for above in channels:
                at = (attempt, above, checkpoint)
                if at not in run.sent or at not in run.overtaken:
                    why = f"checkpoint {checkpoint} is complete, {above} has stored no part of it"
                    return ("UNAL-37",), why
                begun = run.recovered.get((attempt, above, task), 0)
                parts = (self._read[checkpoint][above], stored.get(above, 0), run.overtaken[at].get(task, 0))
                run.counted += 1
                if sum(parts) != run.sent[at][task] + begun:
                    why = (
                        f"checkpoint {checkpoint}: {task} had read {parts[0]} records of {above} and stored "
                        f"{parts[1]}, {above} stored {parts[2]}; it had sent {run.sent[at][task]} after "
                        f"{begun} that were restored: the cut is torn"
                    )
                    return ("UNAL-37", "ONCE-01"), why
        return None
