"""Checks that each complete checkpoint of a run with unaligned checkpoints holds all records in flight.

A barrier that overtakes records may arrive before records, and before markers, that were sent earlier. So the
check of aligned barriers does not apply. UNAL-37 replaces it, for each channel: the records that the receiver
had read, those that the receiver stored, and those that the sender stored are together all sent records.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from conformance.observe.causes import Key, Need
from conformance.observe.eventlog import LogFile
from conformance.observe.run_state import EndRejection, Run


class InFlight:
    """The records in flight of one task in one attempt."""

    def __init__(self, run: Run, file: LogFile) -> None:
        self._run = run
        self._file = file
        self._sender = (file.attempt, file.task)
        self._taken: dict[int, set[int]] = defaultdict(set)
        self._all_taken: Counter[int] = Counter()
        """By channel: the length of the longest prefix of its markers that has arrived completely."""
        self._read: dict[int, dict[str, int]] = {}
        self._stored: dict[int, dict[str, int]] = {}

    def deployed(self, fields: dict[str, Any]) -> None:
        """Count the records in flight with which the attempt begins."""
        task, attempt, recovered = self._file.task, self._file.attempt, fields.get("recovered", {})
        rows: Counter[tuple[int, str, str]] = Counter()
        for above, count in recovered.get("input", {}).items():
            rows[attempt, above, task] += count
        for below, count in recovered.get("output", {}).items():
            rows[attempt, task, below] += count
        for key, count in rows.items():
            self._run.recovered[key] = self._run.recovered.get(key, 0) + count
        if any(rows.values()):
            self._run.witnessed.see("in-flight records restored")

    def marker(self, channel: int, key: Key, kind: str, checkpoint: object) -> Need | None:
        """Count a marker as read if it was broadcast and not yet read. Returns the missing cause, or None."""
        taken = self._taken[channel]
        count = self._run.causes.count(key)
        for place in range(self._all_taken[channel], count):
            if place not in taken and self._run.causes.kept(key)[place][:2] == (kind, checkpoint):
                taken.add(place)
                while self._all_taken[channel] in taken:
                    taken.remove(self._all_taken[channel])
                    self._all_taken[channel] += 1
                return None
        why = f"{kind} {checkpoint} came on channel {channel}, but {key[2]} has not broadcast it"
        return Need(key, count + 1, ("TASK-01", "UNAL-35"), why)

    def snapshot(self, checkpoint: int, fields: Mapping[str, Any]) -> None:
        """Record how many records the task had sent and read when it sent its barrier."""
        self._run.sent[(*self._sender, checkpoint)] = fields.get("sent") or {}
        received = fields.get("received")
        if received:
            self._read[checkpoint] = dict(received)

    def gathered(self, fields: dict[str, Any]) -> None:
        """Record that the task has stored all its records in flight."""
        checkpoint = fields["checkpoint"]
        at = (self._file.attempt, self._file.task, checkpoint)
        self._run.overtaken[at] = dict(fields["overtaken"])
        self._stored[checkpoint] = dict(fields["stored"])
        if any(self._stored[checkpoint].values()):
            self._run.witnessed.see("input stored")
        if any(fields["overtaken"].values()):
            self._run.witnessed.see("output overtaken")

    @property
    def is_empty(self) -> bool:
        """Whether `end_rejection` has no counts to compare."""
        return not self._read and not self._stored

    def forget(self, checkpoints: AbstractSet[int]) -> None:
        """Drop all data about these checkpoints."""
        for known in (self._read, self._stored):
            for one in checkpoints & known.keys():
                del known[one]

    def forget_below(self, checkpoint: int) -> None:
        """Drop all data about checkpoints below `checkpoint`, complete or not."""
        self.forget({one for one in self._read.keys() | self._stored.keys() if one < checkpoint})

    def end_rejection(self, channels: list[str]) -> EndRejection | None:
        """The rejection of the first complete checkpoint in which a channel's counts do not agree, or None.

        `channels`: by channel, its sender. The rule is UNAL-37.
        """
        attempt, task, run = self._file.attempt, self._file.task, self._run
        for checkpoint in sorted(run.completed & {one for one, received in self._read.items() if received}):
            for owner in (task, *channels):
                at = (attempt, owner, checkpoint)
                if at not in run.overtaken or (owner != task and at not in run.sent):
                    why = f"checkpoint {checkpoint} is complete, but {owner} has stored no part of it"
                    return ("UNAL-37",), why
                if owner == task:
                    continue
                restored = run.recovered.get((attempt, owner, task), 0)
                read, stored = self._read[checkpoint][owner], self._stored[checkpoint].get(owner, 0)
                overtaken, sent = run.overtaken[at].get(task, 0), run.sent[at][task]
                run.cuts_compared += 1
                if read + stored + overtaken != sent + restored:
                    why = (
                        f"checkpoint {checkpoint}: {task} had read {read} records of {owner} and stored "
                        f"{stored}, {owner} stored {overtaken}; {owner} had sent {sent} after {restored} "
                        "that were restored: the cut is not consistent"
                    )
                    return ("UNAL-37", "ONCE-01"), why
        return None
