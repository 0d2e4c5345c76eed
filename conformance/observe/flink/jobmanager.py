"""The job manager's lines, replayed: requests for checkpoints, the job's status, failure and restore."""

from conformance.observe.flink import grammar
from conformance.observe.flink.coordinator import CoordinatorReplay, acknowledgement
from conformance.observe.flink.grammar import Said
from conformance.observe.flink.order import Wait
from conformance.observe.flink.run import Run
from conformance.observe.replay import Rejected

_STEP = 1 << 20
"""Virtual ms between two starts."""
_STARTED = ("SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING")


class JobManager(CoordinatorReplay):
    """Everything that the job manager's threads say."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._current: dict[str, str] = {}
        """By task: its execution."""
        self._finished: set[str] = set()
        self._states: dict[str, str] = {}
        self._job = "CREATED"
        self._crowded: dict[int, Wait] = {}
        """Checkpoints that were triggered while too many were pending."""
        self._answered = False
        """The restarting job has been told what to restore."""
        self._unrestored = False
        """The job says that it runs again, and was not told what to restore."""
        self._handlers |= {
            grammar.TRIGGER: self._trigger,
            grammar.REFUSED: self._refuse,
            grammar.RESTORED: self._restore,
            grammar.ID_RESET: self._reset_id,
            grammar.JOB: self._job_switches,
            grammar.EXECUTION: self._execution,
        }

    # ------------------------------------------------------------ requests

    def _trigger(self, line: Said) -> Wait | None:
        seen, checkpoint = self._coordinator.seen(), line.checkpoint
        if checkpoint < seen["next_id"]:
            why = f"checkpoint {checkpoint} is triggered, ids below {seen['next_id']} are drawn; "
            why += self._describe()
            raise Rejected(("COORD-02",), why)
        if self._run.job_over and checkpoint in self._crowded:
            return self._crowded[checkpoint]  # while the job ran there was never a place for it
        idle = [task for task in self._run.survey.tasks if not self._runs(task)]
        if seen["status"] != "RUNNING" or idle:
            what = f"{' '.join(idle)} not running" if idle else f"the job {seen['status']}"
            why = f"checkpoint {checkpoint} is triggered with {what}; {self._describe()}"
            rules = ("COORD-01", "COORD-12") if idle else ("ONCE-04", "COORD-01")
            return Wait(("running",), rules, why, "checkpoint triggered before its tasks are seen running")
        savepoint = "avepoint" in line.detail
        if not savepoint and len(seen["pending"]) >= self._run.settings.max_concurrent:
            why = (
                f"checkpoint {checkpoint} is triggered while {', '.join(seen['pending'])} is pending and "
                f"{self._run.settings.max_concurrent} may be (--max-concurrent); {self._describe()}"
            )
            reordering = "checkpoint triggered before the completion of an earlier one"
            return self._crowded.setdefault(checkpoint, Wait(("free",), ("COORD-03",), why, reordering))
        self._skip_to(checkpoint)
        self._let_time_pass()
        event = {"kind": "trigger", "type": "savepoint" if savepoint else "checkpoint"}
        effects = self._coordinator.step(event, "COORD-01")
        if not any(effect["kind"] == "trigger_task" for effect in effects):
            raise self._coordinator.reject("trigger_task", f"checkpoint {checkpoint} may not start")
        self._run.see("savepoint" if savepoint else "checkpoint triggered")
        self._plan(checkpoint)
        self._run.happened("triggered", checkpoint)
        return None

    def _let_time_pass(self) -> None:
        """Time is virtual: some passes before each start, so that deadlines differ, and nothing expires."""
        state = self._coordinator.state.coordinator
        left = min((pending.deadline - state.now for pending in state.pending), default=2 * _STEP)
        self._coordinator.step({"kind": "advance", "ms": max(1, min(_STEP, left // 2))}, "COORD-10")

    def _plan(self, checkpoint: int) -> None:
        """Who is to acknowledge; tasks that have finished count as if they had."""
        finished = [task for task in self._current if self._counts_as_finished(task, checkpoint)]
        self.plans[checkpoint] = {
            execution: task for task, execution in self._current.items() if task not in finished
        }
        for task in finished:
            self._carry(self._coordinator.step(acknowledgement(task, checkpoint), "COORD-05"))
        if finished:
            self._run.see("triggered after tasks finished")

    def _counts_as_finished(self, task: str, checkpoint: int) -> bool:
        """The task finished without starting that checkpoint, and the checkpoint went on without it."""
        survey = self._run.survey
        execution = survey.executions.get(self._current[task])
        if execution is None or not survey.release.after_finish:
            return False
        if execution.thread not in survey.finished or (execution.thread, checkpoint) in survey.started:
            return False
        return checkpoint in survey.completed or (task in self._finished and checkpoint not in survey.failed)

    def _skip_to(self, checkpoint: int) -> None:
        """An attempt that drew an id and failed before it said so has burnt it (COORD-02 asks for ascent)."""
        session = self._coordinator.state
        if session.coordinator.next_id != checkpoint:
            self._run.see("id burnt")
            moved = session.coordinator._replace(next_id=checkpoint)
            self._coordinator.state = session._replace(coordinator=moved)

    def _reset_id(self, line: Said) -> None:
        self._skip_to(line.checkpoint)

    def _runs(self, task: str) -> bool:
        state = self._states.get(task)
        return state == "RUNNING" or (state == "FINISHED" and self._run.survey.release.after_finish)

    def _refuse(self, line: Said) -> None:
        """A request was refused as some task does not run; the scheduler may have told otherwise since."""
        if "Not all required tasks" not in line.detail:
            return
        effects = []
        if not all(map(self._runs, self._run.survey.tasks)):
            effects = self._coordinator.step({"kind": "trigger", "type": "checkpoint"}, "COORD-01")
        if not any(effect["kind"] == "rejected" for effect in effects):
            self._run.tolerate("request refused after the tasks are seen running")
        self._run.see("request refused")

    # ------------------------------------------------------------ job, tasks, restore

    def _job_switches(self, line: Said) -> Wait | None:
        before, _, after = line.detail.partition(">")
        if before != self._job:
            why = f"the job leaves {before}, and it is {self._job}; {self._describe()}"
            return Wait(("job", before), ("COORD-12",), why, "job changes its state out of turn")
        if self._unrestored:
            why = f"the job has run again and restored nothing; {self._describe()}"
            raise self._coordinator.reject("restored", why)
        self._leave()
        self._job = after
        if after == "RUNNING" and before == "RESTARTING" and not self._answered:
            self._unrestored = True  # the coordinator learns that it runs when it is restored
            self._run.happened("job", after)
            return None
        self._leaving = after
        if after == "RUNNING":
            self._leave()
            self._answered = False
        elif after == "FINISHED":
            self._run.see("job finished")
        self._run.job_over = after in {"FINISHED", "FAILED", "CANCELED"}
        self._run.happened("job", after)
        self._run.happened("running")
        self._run.happened("restarting")
        self._run.happened("aborted")
        self._run.happened("ended")
        return None

    def _restore(self, line: Said) -> Wait | None:
        """The job is told what to restore, in Flink after it has become RUNNING again (ONCE-04)."""
        self._leave()
        if self._coordinator.seen()["status"] == "RUNNING":
            why = f"the job restores while it runs; {self._describe()}"
            return Wait(("restarting",), ("ONCE-04",), why, "job changes its state out of turn")
        effects = self._coordinator.step({"kind": "restore"}, "ONCE-04")
        expected = effects[0]["checkpoint"]
        told = None if line.checkpoint < 0 else line.checkpoint
        if expected is None and told is not None and not self.plans:
            self._adopt(told)  # the job was started from a checkpoint of another job
        elif expected != told:
            why = f"the job restores checkpoint {told}, the latest completed one is {expected}"
            raise self._coordinator.reject("restored", why, "SUB-06")
        self._run.see("started from the beginning" if told is None else "restored from a checkpoint")
        self._answered = True
        self._unrestored = False
        if self._job == "RUNNING":
            self._coordinator.step({"kind": "job_status", "status": "RUNNING"}, "COORD-12")
            self._answered = False
            self._run.happened("running")
        return None

    def _adopt(self, checkpoint: int) -> None:
        """Ids go on above the one that the job was started from."""
        self._skip_to(checkpoint + 1)

    def _execution(self, line: Said) -> None:
        before, _, state = line.detail.partition(">")
        task = line.task
        if before == "CREATED":
            self._current[task] = line.execution
            self._finished.discard(task)
        elif self._current.get(task) != line.execution:
            return  # an execution that was replaced
        if state == "FAILED":
            self._run.see("task failed")
        release = self._run.survey.release
        if state == "FINISHED" and release.after_finish:
            self._states[task] = state
            self._finished.add(task)
            return
        if not release.asks_all_tasks and task not in self._run.survey.sources and state in _STARTED:
            state = "RUNNING"
        self._states[task] = state
        self._coordinator.step({"kind": "task_status", "task": task, "status": state}, "COORD-01")
        self._run.happened("running")
