"""Replays the job manager's lines about requests for checkpoints, and about the job's states and restores."""

from conformance.observe.flink import grammar
from conformance.observe.flink.coordinator import CoordinatorReplay, acknowledgement
from conformance.observe.flink.grammar import LogLine
from conformance.observe.flink.order import Wait
from conformance.observe.flink.run_state import Run
from conformance.observe.replay import Effects, Rejected
from model.store.store import CHECKPOINT, SAVEPOINT, Entry

_STEP = 1 << 20
"""Maximum virtual time in ms that passes before a checkpoint starts."""
_STARTED = ("SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING")


class JobManager(CoordinatorReplay):
    """Replays all lines of the job manager's threads."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._current: dict[str, str] = {}
        """By task: its newest execution."""
        self._finished: set[str] = set()
        self._left: set[str] = set()
        """The tasks that have left RUNNING since the newest trigger."""
        self._states: dict[str, str] = {}
        self._job = "CREATED"
        self._crowded: dict[int, Wait] = {}
        """By checkpoint that was triggered while the maximum number was pending: the Wait of the trigger."""
        self._stored: list[int] = []
        """The checkpoints that the job manager has read from its store since it started."""
        self._has_restored = False
        """Whether the restarting job has received the checkpoint to restore."""
        self.restored = -1
        """The checkpoint that the job has restored last; -1: none."""
        self._must_restore = False
        """Whether the job is logged as running again and has not received the checkpoint to restore."""
        self._handlers |= {
            grammar.TRIGGER: self._trigger,
            grammar.REFUSED: self._refuse,
            grammar.STORED: self._find_stored,
            grammar.RESTORED: self._restore,
            grammar.ID_RESET: lambda line: self._skip_to(line.checkpoint),
            grammar.JOB: self._job_switches,
            grammar.EXECUTION: self._execution_switches,
        }

    def forget(self, below: int) -> None:
        """Drop all data about checkpoints below that id."""
        super().forget(below)
        self._crowded = {one: wait for one, wait in self._crowded.items() if one >= below}

    # ------------------------------------------------------------ requests

    def _trigger(self, line: LogLine) -> Wait | None:
        state, checkpoint = self._coordinator.state.coordinator, line.checkpoint
        limit = self._run.settings.max_concurrent
        what = f"checkpoint {checkpoint} is triggered"
        if checkpoint < state.next_id:
            why = f"{what}, ids below {state.next_id} are used; {self._describe()}"
            raise Rejected(("COORD-02",), why)
        if self._run.job_over and checkpoint in self._crowded:
            return self._crowded[checkpoint]  # the maximum number was pending until the job ended
        idle = [task for task in self._run.survey.tasks if not self._runs(task)]
        is_late = bool(idle) and self._left.issuperset(idle)
        if state.status != "RUNNING" or (idle and not is_late):
            cause = f"{' '.join(idle)} not running" if idle else f"the job {state.status}"
            why = f"{what} with {cause}; {self._describe()}"
            rules = ("COORD-01", "COORD-12") if idle else ("ONCE-04", "COORD-01")
            reordering = "checkpoint triggered before its tasks are logged as running"
            return Wait(("running",), rules, why, reordering)
        kind = "savepoint" if "avepoint" in line.detail else "checkpoint"
        if kind == "checkpoint" and len(state.pending) >= limit:
            pending = ", ".join(str(one.checkpoint) for one in state.pending)
            why = (
                f"{what} while {pending} is pending, expected at most {limit} (--max-concurrent); "
                f"{self._describe()}"
            )
            reordering = "checkpoint triggered before the completion of an earlier one"
            return self._crowded.setdefault(checkpoint, Wait(("free",), ("COORD-03",), why, reordering))
        self._skip_to(checkpoint)
        self._advance()
        effects = self._request(kind, idle)
        if not any(effect["kind"] == "trigger_task" for effect in effects):
            raise self._coordinator.reject("trigger_task", f"checkpoint {checkpoint} may not start")
        self._run.see("savepoint" if kind == "savepoint" else "checkpoint triggered")
        self._plan(checkpoint)
        self._run.happened("triggered", checkpoint)
        return None

    def _request(self, kind: str, idle: list[str]) -> Effects:
        """Step the model with a request. Returns its effects.

        The coordinator checks the tasks in one thread and triggers in another, so the failure of the `idle`
        tasks may be logged before the trigger. Then the model takes the request before the failure.
        """
        self._left.clear()
        for task in idle:
            self._coordinator.step({"kind": "task_status", "task": task, "status": "RUNNING"}, "COORD-01")
        effects = self._coordinator.step({"kind": "trigger", "type": kind}, "COORD-01")
        for task in idle:
            status = {"kind": "task_status", "task": task, "status": self._states[task]}
            self._coordinator.step(status, "COORD-01")
        if idle:
            self._run.tolerated["checkpoint triggered before the failure of a task ends it"] += 1
        return effects

    def _advance(self) -> None:
        """Advance the virtual time before a start, so that deadlines differ, but to no deadline."""
        state = self._coordinator.state.coordinator
        left = min((pending.deadline - state.now for pending in state.pending), default=2 * _STEP)
        self._coordinator.step({"kind": "advance", "ms": max(1, min(_STEP, left // 2))}, "COORD-10")

    def _plan(self, checkpoint: int) -> None:
        """Record the executions that have to acknowledge, and acknowledge for the finished tasks."""
        finished = [task for task in self._current if self._counts_as_finished(task, checkpoint)]
        self.plans[checkpoint] = {
            execution: task for task, execution in self._current.items() if task not in finished
        }
        for task in finished:
            self._keep(self._coordinator.step(acknowledgement(task, checkpoint), "COORD-05"))
        if finished:
            self._run.see("triggered after tasks finished")

    def _counts_as_finished(self, task: str, checkpoint: int) -> bool:
        """Whether the task finishes without starting the checkpoint, which continues without it."""
        survey = self._run.survey
        execution = survey.executions.get(self._current[task])
        if execution is None or not survey.release.after_finish:
            return False
        if execution.thread not in survey.finished or (execution.thread, checkpoint) in survey.started:
            return False
        return checkpoint in survey.completed or (task in self._finished and checkpoint not in survey.failed)

    def _skip_to(self, checkpoint: int) -> None:
        """Set the next id. A start that failed before its line has used an id (COORD-02: ids ascend)."""
        session = self._coordinator.state
        if session.coordinator.next_id != checkpoint:
            self._run.see("id burnt")
            moved = session.coordinator._replace(next_id=checkpoint)
            self._coordinator.state = session._replace(coordinator=moved)

    def _runs(self, task: str) -> bool:
        state = self._states.get(task)
        return state == "RUNNING" or (state == "FINISHED" and self._run.survey.release.after_finish)

    def _refuse(self, line: LogLine) -> None:
        """Replay a refused request. The scheduler may already have logged that the missing task runs."""
        if "Not all required tasks" not in line.detail:
            return
        effects = []
        if not all(map(self._runs, self._run.survey.tasks)):
            effects = self._coordinator.step({"kind": "trigger", "type": "checkpoint"}, "COORD-01")
        if not any(effect["kind"] == "rejected" for effect in effects):
            self._run.tolerated["request refused after the tasks are logged as running"] += 1
        self._run.see("request refused")

    # ------------------------------------------------------------ job, tasks, restore

    def _job_switches(self, line: LogLine) -> Wait | None:
        before, _, after = line.detail.partition(">")
        if before != self._job:
            why = f"the job leaves {before}, but its state is {self._job}; {self._describe()}"
            return Wait(("job", before), ("COORD-12",), why, "job changes its state in another order")
        if self._must_restore:
            why = f"the job has run again and restored nothing; {self._describe()}"
            raise self._coordinator.reject("restored", why)
        self._leave()
        self._job = after
        if after == "RUNNING" and before == "RESTARTING" and not self._has_restored:
            self._must_restore = True  # the model takes the job as RUNNING only after its restore
            self._run.happened("job", after)
            return None
        self._leaving = after
        if after == "RUNNING":
            self._leave()
            self._has_restored = False
        elif after == "FINISHED":
            self._run.see("job finished")
        self._run.job_over = after in {"FINISHED", "FAILED", "CANCELED"}
        self._run.happened("job", after)
        for key in ("running", "restarting", "aborted", "ended"):
            self._run.happened(key)
        return None

    def _find_stored(self, line: LogLine) -> None:
        """Record a checkpoint that a starting job manager has found in the store."""
        self._stored.append(line.checkpoint)

    def _continue_after(self, restored: int, name: str) -> None:
        """Continue after a checkpoint of another job or job manager, or after a savepoint.

        The store then has this checkpoint, and the older ones that the job manager has found in it.
        """
        self._skip_to(restored + 1)
        session = self._coordinator.state
        kinds = {one: CHECKPOINT for one in self._stored if one < restored}
        kinds[restored] = CHECKPOINT
        if name.endswith("Savepoint"):
            kinds[restored] = SAVEPOINT
            self.restored_savepoints.add(restored)
        entries = tuple(Entry(one, kind) for one, kind in sorted(kinds.items()))
        store = session.coordinator.store._replace(entries=entries)
        moved = session.coordinator._replace(store=store)
        self._coordinator.state = session._replace(coordinator=moved)
        self._stored.clear()
        self._run.completion_logged.add(restored)
        self._run.happened("completion logged", restored)

    def _restore(self, line: LogLine) -> Wait | None:
        """Replay the line of a restore (ONCE-04). Flink may log it after the job is RUNNING again."""
        self._leave()
        if self._coordinator.observe()["status"] == "RUNNING":
            why = f"the job restores while it runs; {self._describe()}"
            return Wait(("restarting",), ("ONCE-04",), why, "job changes its state in another order")
        expected = self._coordinator.step({"kind": "restore"}, "ONCE-04")[0]["checkpoint"]
        restored = None if line.checkpoint < 0 else line.checkpoint
        if expected is None and restored is not None and not self.plans:
            self._continue_after(restored, line.detail)
        elif expected != restored:
            why = f"the job restores checkpoint {restored}, the latest completed one is {expected}"
            raise self._coordinator.reject("restored", why, "SUB-06")
        self._run.see("started from the beginning" if restored is None else "restored from a checkpoint")
        self.restored = line.checkpoint
        self._must_restore = False
        self._has_restored = self._job != "RUNNING"
        if self._job == "RUNNING":
            self._coordinator.step({"kind": "job_status", "status": "RUNNING"}, "COORD-12")
            self._run.happened("running")
        return None

    def _execution_switches(self, line: LogLine) -> None:
        before, _, state = line.detail.partition(">")
        task = line.task
        if before == "CREATED":
            self._current[task] = line.execution
            self._finished.discard(task)
        elif self._current.get(task) != line.execution:
            return  # another execution has replaced this one
        if state == "FAILED":
            self._run.see("task failed")
        if before == "RUNNING":
            self._left.add(task)
        if before == "CREATED":
            self._left.discard(task)
        release = self._run.survey.release
        if state == "FINISHED" and release.after_finish:
            self._states[task] = state
            self._finished.add(task)
            return
        if not release.all_tasks_must_run and task not in self._run.survey.sources and state in _STARTED:
            state = "RUNNING"
        self._states[task] = state
        self._coordinator.step({"kind": "task_status", "task": task, "status": state}, "COORD-01")
        self._run.happened("running")
