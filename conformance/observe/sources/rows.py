"""Checks the number of rows that a task has sent before a barrier, and the offset of a source at the barrier.

A source continues from the restored offset and sends the records that it reads (ONCE-02). A task sends each
row along every outgoing edge.
"""

from conformance.observe.exchanges import rows_along
from conformance.observe.lines.line import Line
from conformance.observe.replay import Rejected
from conformance.observe.run_state import Attempt, Run


class SentRows:
    """Checks the rows that one task sends in one attempt."""

    def __init__(self, run: Run, task: str) -> None:
        self._run = run
        self._task = task
        self.restored: int | None = None
        """The offset from which the source continues, if the log records it."""

    def check(self, line: Line, attempt: Attempt, checkpoint: int, *, is_source: bool) -> None:
        """Check a barrier: all edges have as many rows, and the rows of a source fit its offset.

        Raises Rejected.
        """
        sent, total = line.further.get("sent"), None
        if isinstance(sent, dict):
            try:
                total = rows_along(attempt.exchanges, self._task, sent)
            except ValueError as uneven:
                why = f"{self._task} at barrier {checkpoint}: {uneven}"
                raise Rejected(("ONCE-01",), why) from uneven
        offset = line.further.get("offset")
        if is_source and type(offset) is int:
            self._check_offset(attempt, checkpoint, offset, total)

    def _check_offset(self, attempt: Attempt, checkpoint: int, offset: int, total: int | None) -> None:
        run, task = self._run, self._task
        run.offsets[task, checkpoint] = offset
        base = 0 if attempt.restored is None else run.offsets.get((task, attempt.restored))
        if self.restored is not None and attempt.restored is not None:
            if base is not None and base != self.restored:
                why = f"{task} had offset {base} at {attempt.restored}, and continues from {self.restored}"
                raise Rejected(("ONCE-04", "ONCE-02"), why)
            base = self.restored
        if base is None or total is None:
            return
        if offset < base:
            why = f"{task} is at offset {offset} at barrier {checkpoint}, it was restored at {base}"
            raise Rejected(("ONCE-02", "ONCE-04"), why)
        if offset == base and not total:
            return  # nothing was read, so this does not show how many rows the source sends for a record
        if run.sends_one_per_record.setdefault(task, offset - base == total) and offset - base != total:
            why = (
                f"{task} was restored at offset {base} and is at {offset} at barrier {checkpoint}: "
                f"{offset - base} records read, {total} sent"
            )
            raise Rejected(("ONCE-02", "ONCE-01"), why)
