"""Judges the checkpoints of one job from the lines of its job manager's log at INFO, one line at a time.

`CheckpointWatch` keeps the pending checkpoints, the last ended ones, and the job's and tasks' states. Two
threads may log in another order than they act. Then an alarm is deferred until the line of the other thread
comes. After an alarm the kept state follows the log, so that one defect gives one alarm.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import LogLine
from conformance.observe.monitor.executions import Executions
from conformance.observe.monitor.reports import Alarm, DeferredAlarms, Ended, Place

REMEMBERED = 1_000
"""Maximum number of ended checkpoints that are remembered. An older checkpoint counts as unknown."""
_BYTES = re.compile(r"\((\d+) bytes")
_MILLISECONDS = re.compile(r"(?:checkpointDuration=| in )(\d+) ms")
OVER = frozenset({"FINISHED", "FAILED", "CANCELED"})
COMPLETED = "completed"


@dataclass
class Pending:
    """A checkpoint that was triggered and has not ended."""

    place: Place
    kind: str
    skipped: int = -1
    """The next id at the time of the trigger, if the trigger skipped ids; else -1."""
    is_assumed: bool = False
    """Whether the id is a guess: a trigger with a used id raised an alarm, and perhaps meant this id."""
    status: str = ""
    """The state to which the job has changed from RUNNING since the trigger; empty if it has not."""


class CheckpointWatch:
    """The checkpoints of one job. Calls `alarms` for each alarm and `ended` for each ended checkpoint."""

    def __init__(
        self, job: str, max_concurrent: int, alarms: Callable[[Alarm], None], ended: Callable[[Ended], None]
    ) -> None:
        self.job = job
        self.status = ""
        """The job's state; empty if the log has not shown it yet."""
        self.pending: dict[int, Pending] = {}
        self.newest_completed = -1
        self.highest = -1
        self.restarts = 0
        self.judged: set[str] = set()
        """The rules that were checked on some line."""
        self.deferred = DeferredAlarms(self._raise)
        self.executions = Executions(job, self._raise, self.deferred)
        self._alarms = alarms
        self._ended_to = ended
        self._max_concurrent = max_concurrent
        self._ended: dict[int, str] = {}
        self._from_start = False
        self._must_restore = False
        """Whether the job runs again and no line has shown yet which checkpoint it has restored."""
        self._restored = False
        """Whether a line has shown the restored checkpoint since the job left RUNNING."""
        self._old_wording = False
        self._handlers: dict[str, Callable[[LogLine, Place], None]] = {
            grammar.TRIGGER: self._triggered,
            grammar.COMPLETED: self._completed,
            grammar.FAILED: self._failed,
            grammar.EXPIRED: self._expired,
            grammar.DECLINED: self._declined,
            grammar.ACKNOWLEDGED_LATE: self._late,
            grammar.SOURCE_NOTIFIED: self._notified,
            grammar.SOURCE_NOTIFIED_OF_ABORT: self._notified_of_abort,
        }

    def read(self, line: LogLine, place: Place) -> None:
        """Judge one line."""
        handler = self._handlers.get(line.kind)
        if handler is not None:
            handler(line, place)
            self.deferred.line_read()

    # ------------------------------------------------------------ findings

    def _raise(self, alarm: Alarm) -> None:
        self._alarms(alarm)

    def _alarm(self, rule: str, sentence: str, place: Place, checkpoint: int = -1) -> None:
        self._alarms(Alarm(self.job, rule, sentence, place, checkpoint))

    def _end(self, checkpoint: int, state: str, place: Place, detail: str = "") -> None:
        pending = self.pending.pop(checkpoint, None)
        self._ended[checkpoint] = state
        if len(self._ended) > REMEMBERED:
            del self._ended[next(iter(self._ended))]
        size, duration = _BYTES.search(detail), _MILLISECONDS.search(detail)
        took = int(duration[1]) if duration else None
        if took is None and pending is not None and place.time is not None:
            begun = pending.place.time
            took = round((place.time - begun) * 1000) if begun is not None and place.time >= begun else None
        kind = pending.kind if pending is not None else "checkpoint"
        bytes_ = int(size[1]) if size else None
        self._ended_to(Ended(self.job, checkpoint, state, kind, took, bytes_, place))
        if pending is not None and state in {COMPLETED, "failed", "expired", "declined"}:
            self.deferred.checkpoint_ended(checkpoint)

    def _names_of_pending(self) -> str:
        return f"pending: {', '.join(map(str, self.pending)) or 'none'}"

    # ------------------------------------------------------------ triggers

    def _triggered(self, line: LogLine, place: Place) -> None:
        checkpoint = line.checkpoint
        detail = line.detail.lower()
        kind = "savepoint" if "savepoint" in detail else "checkpoint"
        self._old_wording = "{" not in line.detail
        self.judged |= {"COORD-01", "COORD-02", "COORD-03", "COORD-12"}
        if checkpoint <= self.highest:
            self._triggered_again(checkpoint, kind, place)
            return
        skipped = self.highest + 1 if 0 <= self.highest < checkpoint - 1 else -1
        self.highest = checkpoint
        self._check_concurrent(checkpoint, kind, place)
        if "suspend" in detail or "terminate" in detail:
            for aborted in list(self.pending):  # stopping the scheduler aborts them; 1.13 does not log it
                self._end(aborted, "aborted", place)
        self.pending[checkpoint] = Pending(place, kind, skipped)
        self._check_running(checkpoint, place)

    def _triggered_again(self, checkpoint: int, kind: str, place: Place) -> None:
        """Judge a trigger whose id is not above the highest id: one of these two ids is wrong in the log."""
        self.judged.add("COORD-02")
        high = self.pending.get(self.highest)
        if high is not None and high.skipped >= 0 and checkpoint > high.skipped and not high.is_assumed:
            self._alarm(
                "COORD-02",
                f"checkpoint {self.highest} is triggered where {high.skipped} was expected, and checkpoint "
                f"{checkpoint} follows ({place.describe()})",
                high.place,
                self.highest,
            )
            del self.pending[self.highest]
            self.pending[checkpoint] = Pending(place, kind)
            self.highest = checkpoint
            return
        self._alarm(
            "COORD-02",
            f"checkpoint {checkpoint} is triggered, and ids up to {self.highest} are used; "
            f"{self._names_of_pending()}",
            place,
            checkpoint,
        )
        if checkpoint not in self.pending:  # perhaps the next id was meant
            self.highest += 1
            self.pending[self.highest] = Pending(place, kind, is_assumed=True)

    def _check_concurrent(self, checkpoint: int, kind: str, place: Place) -> None:
        counted = [
            one for one, pending in self.pending.items()
            if pending.kind == "checkpoint" and not pending.is_assumed and not pending.status
        ]  # fmt: skip
        for one in [one for one, pending in self.pending.items() if pending.is_assumed]:
            del self.pending[one]
        if kind != "checkpoint" or len(counted) < self._max_concurrent:
            return
        oldest = counted[0]
        sentence = (
            f"checkpoint {checkpoint} is triggered while {', '.join(map(str, counted))} is pending, expected "
            f"at most {self._max_concurrent} (--max-concurrent)"
        )
        self.deferred.add(
            lambda: oldest not in self.pending,
            Alarm(self.job, "COORD-03", sentence, place, checkpoint),
            "checkpoint triggered before the completion of an earlier one",
            ends_with=checkpoint,
        )

    def _check_running(self, checkpoint: int, place: Place) -> None:
        reordering = "checkpoint triggered before its tasks are logged as running"
        left = self.executions.triggered()
        idle = sorted(self.executions.idle())
        waited = [self.executions.current[task] for task in idle]
        is_late = bool(waited) and left.issuperset(waited)
        if is_late:
            reordering = "checkpoint triggered before the failure of a task ends it"
        if self.status not in {"", "RUNNING"}:
            alarm = Alarm(
                self.job, "COORD-12", f"checkpoint {checkpoint} is triggered, but the job is {self.status}",
                place, checkpoint,
            )  # fmt: skip
            if self.status in OVER:
                self._raise(alarm)
            else:
                self.deferred.add(
                    lambda: self.status == "RUNNING" or (is_late and self._is_lost(checkpoint)),
                    alarm,
                    reordering,
                    ends_with=checkpoint,
                )
        if self._must_restore and self.newest_completed >= 0:
            self.judged.add("ONCE-04")
            sentence = (
                f"checkpoint {checkpoint} is triggered after the job restarted, but nothing was restored"
            )
            alarm = Alarm(self.job, "ONCE-04", sentence, place, checkpoint)
            self.deferred.add(lambda: not self._must_restore, alarm, reordering, ends_with=checkpoint)
        if self._old_wording or not self.executions.is_complete:
            return
        if idle:
            executions = self.executions
            sentence = f"checkpoint {checkpoint} is triggered with {', '.join(idle[:5])} not running"
            self.deferred.add(
                lambda: (
                    all(executions.states.get(one) in {"RUNNING", "FINISHED", None} for one in waited)
                    or (is_late and self._is_lost(checkpoint))
                ),
                Alarm(self.job, "COORD-01", sentence, place, checkpoint),
                reordering,
                ends_with=checkpoint,
            )

    def _is_lost(self, checkpoint: int) -> bool:
        """Whether a checkpoint has ended without success, or its job has left RUNNING since its trigger.

        Flink checks that the tasks run in one thread and triggers in another. If a task fails in between, a
        checkpoint is triggered that cannot complete.
        """
        pending = self.pending.get(checkpoint)
        return pending.status != "" if pending is not None else self._ended.get(checkpoint) != COMPLETED

    # ------------------------------------------------------------ ends

    def _completed(self, line: LogLine, place: Place) -> None:
        checkpoint, was = line.checkpoint, self._ended.get(line.checkpoint)
        self.judged |= {"COORD-07", "COORD-09"}
        if checkpoint in self.pending:
            self._complete(checkpoint, place, line.detail)
            return
        if was == COMPLETED:
            self._alarm(
                "COORD-07",
                f"checkpoint {checkpoint} is reported as completed a second time",
                place,
                checkpoint,
            )
        elif was is not None:
            self._alarm(
                "COORD-07", f"checkpoint {checkpoint} is reported as completed, but it was {was} before",
                place, checkpoint,
            )  # fmt: skip
        elif self.highest < 0 or (not self._from_start and checkpoint < self.highest):
            self.highest = max(self.highest, checkpoint)
            self._complete(checkpoint, place, line.detail)  # it was triggered before the log begins
        else:
            self._completed_untriggered(line, place)

    def _completed_untriggered(self, line: LogLine, place: Place) -> None:
        """Judge a completion without a trigger: its id or a trigger's is altered, or a trigger is missing."""
        checkpoint = line.checkpoint
        for high, pending in self.pending.items():
            if pending.skipped == checkpoint:
                self._alarm(
                    "COORD-02",
                    f"checkpoint {high} is triggered where {checkpoint} was expected, and {checkpoint} "
                    f"completes ({place.describe()})",
                    pending.place,
                    high,
                )
                self.pending[checkpoint] = self.pending.pop(high)
                self.highest = max(self.pending)
                self._complete(checkpoint, place, line.detail)
                return
        self._alarm(
            "COORD-07",
            f"checkpoint {checkpoint} is reported as completed, but it was never triggered; "
            f"{self._names_of_pending()}",
            place,
            checkpoint,
        )
        if checkpoint == self.highest + 1:  # its trigger is missing
            self.highest = checkpoint
            self.pending.clear()
            self._complete(checkpoint, place, line.detail)
        elif len(self.pending) == 1:  # the line probably means the one pending checkpoint
            self._complete(next(iter(self.pending)), place, line.detail)

    def _complete(self, checkpoint: int, place: Place, detail: str) -> None:
        pending = self.pending.get(checkpoint)
        if pending is not None and pending.status and self._restored:
            self._alarm(
                "COORD-12",
                f"checkpoint {checkpoint} is reported as completed, but since its trigger the job was "
                f"{pending.status} and has restored another checkpoint",
                place,
                checkpoint,
            )
        is_checkpoint = pending is None or pending.kind == "checkpoint"
        if is_checkpoint:
            if checkpoint < self.newest_completed:
                self.judged.add("SUB-01")
            self.newest_completed = max(self.newest_completed, checkpoint)
        self._end(checkpoint, COMPLETED, place, detail)
        if is_checkpoint:
            for older in [one for one, two in self.pending.items() if one < checkpoint]:
                if self.pending[older].kind == "checkpoint":
                    self._end(older, "subsumed", place)

    def _failed(self, line: LogLine, place: Place) -> None:
        self._abort(line.checkpoint, "failed", "COORD-09", place)

    def _expired(self, line: LogLine, place: Place) -> None:
        self._abort(line.checkpoint, "expired", "COORD-10", place)

    def _declined(self, line: LogLine, place: Place) -> None:
        self._abort(line.checkpoint, "declined", "COORD-09", place)

    def _abort(self, checkpoint: int, state: str, rule: str, place: Place) -> None:
        self.judged.add(rule)
        was = self._ended.get(checkpoint)
        if checkpoint in self.pending:
            self._end(checkpoint, state, place)
        elif was == COMPLETED:
            self._alarm(rule, f"checkpoint {checkpoint} is reported as {state}, but it has completed", place,
                        checkpoint)  # fmt: skip
        elif was == state and state != "failed":
            self._alarm(rule, f"checkpoint {checkpoint} is reported as {state} a second time", place,
                        checkpoint)  # fmt: skip
        elif was is not None:
            pass  # an expiry or a decline is followed by the line of the failure
        elif state == "failed" and self.highest >= 0 and checkpoint == self.highest + 1:
            self.highest = checkpoint  # a start that failed before the line of its trigger has used the id
            self._end(checkpoint, state, place)
        elif self._from_start or checkpoint > self.highest >= 0:
            self._alarm(
                rule,
                f"checkpoint {checkpoint} is reported as {state}, but it was never triggered; "
                f"{self._names_of_pending()}",
                place,
                checkpoint,
            )

    def _late(self, line: LogLine, place: Place) -> None:
        checkpoint = line.checkpoint
        self.judged.add("COORD-06")
        what = f"an acknowledgement of checkpoint {checkpoint} is reported as late, but that checkpoint"
        if checkpoint in self.pending:
            alarm = Alarm(self.job, "COORD-06", f"{what} is pending", place, checkpoint)
            reordering = "late answer before the end of its checkpoint"
            self.deferred.add(lambda: checkpoint not in self.pending, alarm, reordering)
        elif checkpoint > self.highest >= 0:
            self._alarm("COORD-06", f"{what} was never triggered", place, checkpoint)

    def _notified_of_abort(self, line: LogLine, place: Place) -> None:
        """Judge a line in which a source's coordinator is notified of an abort."""
        checkpoint = line.checkpoint
        self.judged.add("COORD-09")
        if self._ended.get(checkpoint) == COMPLETED:
            what = f"{line.detail} is notified that checkpoint {checkpoint} was aborted, but it has completed"
            self._alarm("COORD-09", what, place, checkpoint)

    def _notified(self, line: LogLine, place: Place) -> None:
        """Judge a line in which a source's coordinator is notified of a completion."""
        checkpoint = line.checkpoint
        self.judged |= {"COORD-08", "ONCE-05"}
        was = self._ended.get(checkpoint)
        what = f"{line.detail} is notified that checkpoint {checkpoint} completed"
        if was == COMPLETED or (was is None and not self._from_start and checkpoint < self.highest):
            return
        alarm = Alarm(self.job, "COORD-08", f"{what}, but it has not completed", place, checkpoint)
        if was is not None:
            self._raise(alarm._replace(sentence=f"{what}, but it was {was}"))
            return
        reordering = "notification before its completion"
        self.deferred.add(lambda: self._ended.get(checkpoint) == COMPLETED, alarm, reordering)
