"""Judges one job: its state, its restarts, the checkpoints that it restores, and the states of its tasks.

The log of the job manager shows them at INFO. A job begins when its state leaves CREATED: the first time, and
each time that a new job manager takes it over.
"""

from collections.abc import Callable

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import LogLine
from conformance.observe.monitor.checkpoints import COMPLETED, OVER, CheckpointWatch
from conformance.observe.monitor.reports import Alarm, Ended, Place


class JobWatch(CheckpointWatch):
    """Everything that the monitor observes of one job."""

    def __init__(
        self, job: str, max_concurrent: int, alarms: Callable[[Alarm], None], ended: Callable[[Ended], None]
    ) -> None:
        super().__init__(job, max_concurrent, alarms, ended)
        self._starts = 0
        self._start_from: tuple[int, Place | None] | None = None
        """The checkpoint that was restored before the job began; its line, or None if it was judged."""
        self._is_given = False
        """Whether a user has named the checkpoint to restore."""
        self._handlers |= {
            grammar.RESTORED: self._restores,
            grammar.ID_RESET: self._id_reset,
            grammar.JOB: self._switched,
            grammar.EXECUTION: self._execution_switched,
            grammar.TASK: self._execution_switched,
        }

    @property
    def awaits_restore(self) -> bool:
        """Whether the job has restarted, and no line shows what it has restored."""
        return self._must_restore or self.status == "RESTARTING"

    @property
    def is_over(self) -> bool:
        """Whether the job has ended for good."""
        return self.status in OVER

    def given(self) -> None:
        """Record that the user names a checkpoint or savepoint to start from."""
        self._is_given = True

    def _execution_switched(self, line: LogLine, place: Place) -> None:
        self.judged.add("COORD-01")
        self.executions.switched(line, place)

    # ------------------------------------------------------------ the state of the job

    def _switched(self, line: LogLine, place: Place) -> None:
        before, _, after = line.detail.partition(">")
        self.judged.add("COORD-12")
        if before == "CREATED":
            self._begin()
        self._start_from = None
        if before != "CREATED" and self.status and before != self.status:
            sentence = f"the job leaves {before}, but it is {self.status}: a line is missing or altered"
            self._alarm("COORD-12", sentence, place)
        self.status = after
        if before == "RUNNING" and after not in OVER:
            self._restored = False
            for pending in self.pending.values():
                pending.status = after
        if after == "RUNNING" and before == "RESTARTING":
            self.restarts += 1
            self._must_restore = not self._restored
        if after in OVER:
            for checkpoint in list(self.pending):
                self._end(checkpoint, "aborted", place)

    def _begin(self) -> None:
        """Begin the job. Its ids continue after the restored checkpoint, or begin at 1."""
        self._starts += 1
        for checkpoint in list(self.pending):
            self._end(checkpoint, "aborted", self.pending[checkpoint].place)
        checkpoint, place = self._start_from or (-1, None)
        if checkpoint < 0:
            self._ended.clear()
            self.highest, self.newest_completed = 0, -1
        else:
            if place is not None and checkpoint < self.newest_completed and not self._is_given:
                self._restores_another(checkpoint, place)
            self._ended[checkpoint] = COMPLETED
            self.newest_completed = checkpoint
            self.highest = max(self.highest, checkpoint)
        self._from_start, self._must_restore, self._restored = True, False, False
        self._is_given = False
        self.executions.begin()

    # ------------------------------------------------------------ restores

    def _id_reset(self, line: LogLine, place: Place) -> None:
        if self._start_from is not None:
            self.highest = line.checkpoint - 1

    def _restores(self, line: LogLine, place: Place) -> None:
        checkpoint = line.checkpoint
        self.judged |= {"ONCE-04", "SUB-06"}
        if checkpoint >= 0:
            self._ended_to(Ended(self.job, checkpoint, "restored", "checkpoint", None, None, place))
        if self.status in {"", "CREATED", *OVER}:
            self._start_from = checkpoint, place
            if not self.status:
                self.newest_completed = max(self.newest_completed, checkpoint)
            return
        if not self._must_restore and self.status == "RUNNING":
            self._restores_while_running(checkpoint, place)
            return
        if checkpoint != self.newest_completed and (self.newest_completed >= 0 or self._from_start):
            self._restores_another(checkpoint, place)
        for one in [one for one, pending in self.pending.items() if pending.status]:
            self._end(one, "aborted", place)
        self._restored, self._must_restore = True, False
        self._start_from = checkpoint, None  # a new job manager may have logged it, and start the job next

    def _restores_while_running(self, checkpoint: int, place: Place) -> None:
        """Defer an alarm about a restore while the job runs.

        A new job manager may have taken the job over, or the lines of the job's failure may follow.
        """
        self._start_from = checkpoint, place
        starts, restarts = self._starts, self.restarts
        sentence = f"checkpoint {checkpoint} is restored while the job runs"
        self.deferred.add(
            lambda: (
                self._starts > starts or self.restarts > restarts or self.status not in {"RUNNING", *OVER}
            ),
            Alarm(self.job, "ONCE-04", sentence, place, checkpoint),
            "job changes its state in another order",
            lines=8,
        )

    def _restores_another(self, checkpoint: int, place: Place) -> None:
        newest = self.newest_completed
        what = f"checkpoint {checkpoint}" if checkpoint >= 0 else "no checkpoint"
        latest = str(newest) if newest >= 0 else "none"
        sentence = f"the job restores {what}, but the latest completed one is {latest}"
        alarm = Alarm(self.job, "ONCE-04", sentence, place, checkpoint)
        if checkpoint > newest and checkpoint in self.pending:
            reordering = "restore before the completion of what is restored"
            self.deferred.add(lambda: self._ended.get(checkpoint) == COMPLETED, alarm, reordering)
        else:
            self._raise(alarm)
