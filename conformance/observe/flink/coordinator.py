"""Replays the checkpoint coordinator's lines about acknowledgements and about the ends of checkpoints.

The model's coordinator returns all effects of a message at once. The log reports them in separate lines of
other threads. So the replay keeps the effects, and compares each line that reports an effect with them.
"""

from collections import Counter
from collections.abc import Callable

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import LogLine
from conformance.observe.flink.order import Wait
from conformance.observe.flink.run_state import Part, Run
from conformance.observe.flink.survey import has_other_reason
from conformance.observe.replay import Effects, Rejected, unknown_effect

_TIMEOUT = 1 << 40
"""The model's time-out in virtual ms, too long for any checkpoint. A line of the log reports an expiry."""


class CoordinatorReplay:
    """Replays the coordinator's lines about messages of tasks and about the ends of checkpoints."""

    def __init__(self, run: Run) -> None:
        survey, settings = run.survey, run.settings
        self._run = run
        config = {
            "tasks": [{"id": task, "source": task in survey.sources} for task in survey.tasks],
            "timeout_ms": _TIMEOUT,
            "max_concurrent": settings.max_concurrent,
            "retain": settings.retain,
        }
        self._coordinator = Part(run, "coordinator", "coordinator", config)
        self.plans: dict[int, dict[str, str]] = {}
        """By checkpoint: the executions that have to acknowledge it, and their tasks."""
        self._leaving = ""
        """The job's new state, if it is logged and the coordinator does not know it yet; else empty."""
        self._acknowledged: set[tuple[str, int]] = set()
        self._completed: set[int] = set()
        self._aborted: dict[int, str] = {}
        """By aborted checkpoint: the reason."""
        self._notified_of_abort: set[tuple[str, int]] = set()
        """Task and checkpoint of each abort of which the model has notified the task."""
        self._subsumed: Counter[tuple[str, int]] = Counter()
        """By task and subsumed checkpoint (-1: none): the number of notifications without a line yet."""
        self._discarded: set[int] = set()
        """The dropped checkpoints that no line has yet reported as discarded."""
        self._cleaned: set[tuple[int, str]] = set()
        """Checkpoint and detail (`true`: files deleted) of each line that has reported a cleaning."""
        self.restored_savepoints: set[int] = set()
        """Restored savepoints in the store. When Flink drops one, it logs an attempt to discard it."""
        self._handlers: dict[str, Callable[[LogLine], Wait | None]] = {
            grammar.ACKNOWLEDGED: self._acknowledge,
            grammar.ACKNOWLEDGED_TWICE: self._acknowledge_without_effect,
            grammar.ACKNOWLEDGED_BY_STRANGER: self._acknowledge_without_effect,
            grammar.ACKNOWLEDGED_LATE: self._acknowledge_late,
            grammar.COMPLETED: self._complete,
            grammar.DECLINED: self._decline,
            grammar.EXPIRED: self._expire,
            grammar.DISCARDED: self._discard,
            grammar.CLEANED: self._clean,
            grammar.FAILED: self._fail,
        }

    def handle(self, line: LogLine) -> Wait | None:
        """Replay one line. Returns None, or the cause for which it has to wait. Raises Rejected."""
        handler = self._handlers.get(line.kind)
        return None if handler is None else handler(line)

    def forget(self, below: int) -> None:
        """Drop all data about checkpoints below that id."""
        self.plans = {one: plan for one, plan in self.plans.items() if one >= below}
        self._acknowledged = {one for one in self._acknowledged if one[1] >= below}
        self._completed = {one for one in self._completed if one >= below}
        self._aborted = {one: why for one, why in self._aborted.items() if one >= below}
        self._notified_of_abort = {one for one in self._notified_of_abort if one[1] >= below}
        self._subsumed = Counter(
            {one: left for one, left in self._subsumed.items() if left and (one[1] >= below or one[1] < 0)}
        )
        self._discarded = {one for one in self._discarded if one >= below}
        self._cleaned = {one for one in self._cleaned if one[0] >= below}

    # ------------------------------------------------------------ notifications that a task receives

    def has_acknowledged(self, execution: str, checkpoint: int) -> bool:
        """Whether the log has reported that the coordinator counts this acknowledgement."""
        return (execution, checkpoint) in self._acknowledged

    def wait_for_completion(self, checkpoint: int, task: str) -> Wait | None:
        """Return None if the log has reported the completion, else the Wait for it.

        Raises Rejected if the checkpoint was aborted.
        """
        if checkpoint in self._run.completion_logged:
            return None
        rules = ("COORD-08", "ONCE-05")
        what = f"{task} is notified that checkpoint {checkpoint} completed"
        why = f"{what}, but it has not completed; {self._describe()}"
        if checkpoint in self._aborted:
            raise Rejected(rules, f"{why}; it was aborted ({self._aborted[checkpoint]})")
        return Wait(("completion logged", checkpoint), rules, why, "notification before its completion")

    def wait_for_abort(self, checkpoint: int, task: str) -> Wait | None:
        """Return None if the coordinator has notified the task of the abort, else the Wait for it.

        Raises Rejected if the checkpoint has completed.
        """
        if (task, checkpoint) not in self._notified_of_abort:
            self._leave()
        if (task, checkpoint) in self._notified_of_abort:
            return None
        rules = ("COORD-09", "COORD-12")
        why = (
            f"{task} is notified that checkpoint {checkpoint} was aborted, but it was not; {self._describe()}"
        )
        if checkpoint in self._completed:
            raise Rejected(rules, why)
        return Wait(("aborted",), rules, why, "notification before the abort")

    def take_subsumed(self, task: str, checkpoint: int) -> Wait | None:
        """Take one notification that `checkpoint` (-1: none) was subsumed. Returns the Wait if there is none.

        Raises Rejected if no later completion can subsume the checkpoint.
        """
        checkpoint = max(checkpoint, -1)
        if self._subsumed[task, checkpoint]:
            self._subsumed[task, checkpoint] -= 1
            self._run.see("subsumption notified")
            return None
        rules = ("COORD-08", "SUB-09")
        why = f"{task} is notified that {checkpoint} was subsumed, but it was not; {self._describe()}"
        has_ended = checkpoint in self._completed or checkpoint in self._aborted
        if has_ended and checkpoint not in self._coordinator.observe()["completed"]:
            raise Rejected(rules, why)  # no later completion can subsume it
        return self._wait_for_a_completion(rules, why, "notification before its completion")

    def _describe(self) -> str:
        return f"coordinator: {self._coordinator.describe()}"

    # ------------------------------------------------------------ messages of tasks

    def _sender(self, line: LogLine) -> str:
        """The task that acknowledges or declines; an unknown execution has its id as its name."""
        return self.plans[line.checkpoint].get(line.execution, f"execution {line.execution}")

    def _untriggered(self, line: LogLine) -> Wait | None:
        if line.checkpoint in self.plans:
            return None
        why = f"a message about checkpoint {line.checkpoint}, which was never triggered; {self._describe()}"
        rules = ("COORD-06", "COORD-04")
        return Wait(("triggered", line.checkpoint), rules, why, "acknowledgement before its trigger")

    def _result(self, line: LogLine) -> tuple[Effects, str | None]:
        """Step the model with an acknowledgement. Returns its effects, and its result.

        The result is None if the checkpoint is not pending.
        """
        event = acknowledgement(self._sender(line), line.checkpoint)
        effects = self._coordinator.step(event, "COORD-05")
        results = (effect["result"] for effect in effects if effect["kind"] == "acknowledged")
        return effects, next(results, None)

    def _acknowledge(self, line: LogLine) -> Wait | None:
        """Replay a line which reports that the coordinator has counted an acknowledgement."""
        wait = self._untriggered(line)
        if wait is not None:
            return wait
        checkpoint = line.checkpoint
        execution = self._run.survey.executions.get(line.execution)
        is_planned = line.execution in self.plans[checkpoint]
        if execution is not None and is_planned:
            key = (execution.thread, checkpoint)
            if key not in self._run.writing:
                why = f"{execution.thread} acknowledges checkpoint {checkpoint} and never began to write it"
                reordering = "acknowledgement before the asynchronous part starts"
                return Wait(("writing", *key), ("TASK-07", "COORD-05"), why, reordering)
        if self._fails_to_finalize(line):
            self._acknowledged.add((line.execution, checkpoint))
            self._abort_for(line, "FINALIZE_CHECKPOINT_FAILURE", self._sender(line))
            self._run.see("ended for another reason")
            return None
        before = self._coordinator.bookmark()
        effects, result = self._result(line)
        if result != "SUCCESS":
            came = f"counts as {result}" if result else f"is of a checkpoint that {self._end_of(checkpoint)}"
            rules = ["COORD-05" if result else "COORD-06"]
            if execution is not None and not is_planned:
                rules.append("ONCE-06")
            why = f"the log counts the acknowledgement of {self._sender(line)}, it {came}"
            raise Rejected(rules, f"{why}; before it, coordinator: {self._coordinator.describe(before)}")
        self._acknowledged.add((line.execution, checkpoint))
        self._run.see("snapshot acknowledged")
        if self._leaving:
            self._run.tolerated["acknowledgement after the job left RUNNING"] += 1
        self._keep(effects)
        return None

    def _fails_to_finalize(self, line: LogLine) -> bool:
        """Whether this is the last acknowledgement of a checkpoint that a later line reports as failed.

        Then its finalization has failed: the later line gives a reason that the model itself never gives.
        """
        checkpoint, survey = line.checkpoint, self._run.survey
        if checkpoint not in survey.unfinalized or checkpoint in survey.completed:
            return False
        pending = self._coordinator.observe()["pending"].get(str(checkpoint))
        return pending is not None and list(pending) == [self._sender(line)]

    def _end_of(self, checkpoint: int) -> str:
        if checkpoint in self._completed:
            return "has completed"
        return f"was aborted ({self._aborted.get(checkpoint, 'unknown')})"

    def _acknowledge_without_effect(self, line: LogLine) -> Wait | None:
        """Replay a line about a second acknowledgement, or one of an unknown execution.

        Raises Rejected if the model has another result.
        """
        wait = self._untriggered(line)
        if wait is None:
            expected = "DUPLICATE" if line.kind == grammar.ACKNOWLEDGED_TWICE else "UNKNOWN"
            _, result = self._result(line)
            if result != expected:
                why = f"the log has {expected}, expected {result or 'that the checkpoint is not pending'}"
                raise self._coordinator.reject("acknowledged", why)
        return wait

    def _acknowledge_late(self, line: LogLine) -> Wait | None:
        self._leave()
        if str(line.checkpoint) in self._coordinator.observe()["pending"]:
            why = f"an acknowledgement of {line.checkpoint} counts as late, but {line.checkpoint} is pending"
            why = f"{why}; {self._describe()}"
            return Wait(("ended",), ("COORD-06",), why, "late answer before the end of its checkpoint")
        return None

    def _decline(self, line: LogLine) -> Wait | None:
        wait = self._untriggered(line)
        if wait is None:
            self._abort_for(line, "CHECKPOINT_DECLINED", self._sender(line))
            self._run.see("declined")
        return wait

    def _abort_for(self, line: LogLine, reason: str, task: str) -> None:
        event = {"kind": "decline", "checkpoint": line.checkpoint, "task": task, "reason": reason}
        effects = self._coordinator.step(event, "COORD-09")
        if not effects:
            why = f"checkpoint {line.checkpoint} ends ({reason}), but it is not pending"
            raise self._coordinator.reject("abort", why)
        self._keep(effects)

    def _expire(self, line: LogLine) -> Wait | None:
        """Replay an expiry: advance the virtual time to the deadline of the checkpoint."""
        wait = self._untriggered(line)
        if wait is None:
            state = self._coordinator.state.coordinator
            due = next((one.deadline for one in state.pending if one.checkpoint == line.checkpoint), None)
            if due is None:
                why = f"checkpoint {line.checkpoint} expires, and is not pending"
                raise self._coordinator.reject("abort", why)
            self._keep(self._coordinator.step({"kind": "advance", "ms": due - state.now}, "COORD-10"))
            self._run.see("expired")
        return wait

    # ------------------------------------------------------------ the end of a checkpoint

    def _keep(self, effects: Effects) -> None:
        """Keep the effects of the coordinator for the lines that report them."""
        run = self._run
        subsumed: dict[str, int] = {}
        if len(effects) == 1 and effects[0]["kind"] == "acknowledged":
            return  # no further line reports the effect of an acknowledgement
        for effect in effects:
            checkpoint = int(effect.get("checkpoint", -1))
            match effect["kind"]:
                case "complete":
                    self._completed.add(checkpoint)
                    self._discarded |= self.restored_savepoints
                    self.restored_savepoints.clear()
                    run.happened("completed", checkpoint)
                case "abort":
                    self._aborted[checkpoint] = effect["reason"]
                case "discard" if checkpoint >= 0:
                    self._discarded.add(checkpoint)
                    run.see("older one replaced")
                case "notify_complete":
                    subsumed.setdefault(effect["task"], -1)
                case "notify_abort":
                    self._notified_of_abort.add((effect["task"], checkpoint))
                case "notify_subsumed":
                    subsumed[effect["task"]] = checkpoint
                case "acknowledged" | "rejected" | "trigger_task" | "discard" | "restored":
                    pass  # checked where their own lines are replayed
                case "fail_job" | "fail":
                    pass  # the job's own lines report it
                case "checkpoint_coordinator" | "trigger_hook" | "notify_coordinator":
                    pass  # without a line in Flink's log
                case _:
                    raise unknown_effect("coordinator", effect)
        self._subsumed.update(subsumed.items())
        for key in ("free", "aborted", "ended"):
            run.happened(key)

    def _complete(self, line: LogLine) -> Wait | None:
        checkpoint = line.checkpoint
        if checkpoint in self._run.completion_logged:
            why = f"checkpoint {checkpoint} is reported as completed a second time"
            raise self._coordinator.reject("complete", why)
        if checkpoint not in self._completed:
            missing = self._coordinator.observe()["pending"].get(str(checkpoint))
            lacks = f"it lacks {', '.join(missing)}" if missing else "it is not pending"
            why = f"checkpoint {checkpoint} is reported as completed, and {lacks}; {self._describe()}"
            reordering = "completion before an acknowledgement of another thread"
            return Wait(("completed", checkpoint), ("COORD-07", "COORD-05"), why, reordering)
        self._run.see("checkpoint completed")
        self._run.completion_logged.add(checkpoint)
        self._run.happened("completion logged", checkpoint)
        return None

    def unreported(self) -> Rejected | None:
        """The rejection if a checkpoint has every acknowledgement and no line reports its completion."""
        for checkpoint in sorted(self._completed - self._run.completion_logged):
            why = f"checkpoint {checkpoint} has every acknowledgement, but no line reports that it completed"
            return self._coordinator.reject("complete", why)
        return None

    def _discard(self, line: LogLine) -> Wait | None:
        if line.checkpoint in self._discarded:
            self._discarded.remove(line.checkpoint)
            return None
        why = f"checkpoint {line.checkpoint} is discarded, but no newer one has completed; {self._describe()}"
        is_pending = bool(self._coordinator.observe()["pending"])
        rules = ("COORD-07", "SUB-09") if is_pending else ("SUB-09", "SUB-06")
        reordering = "discarded before the completion that replaces it"
        return self._wait_for_a_completion(rules, why, reordering)

    def _clean(self, line: LogLine) -> Wait | None:
        """Replay a cleaning. Flink cleans a checkpoint when it ends, and again when it deletes the files."""
        checkpoint, deletes = line.checkpoint, line.detail
        if self.plans and checkpoint >= self._coordinator.state.coordinator.next_id:
            why = f"checkpoint {checkpoint} is cleaned, but it was never started; {self._describe()}"
            return Wait(("triggered", checkpoint), ("SUB-09", "COORD-02"), why, "cleaned before its start")
        if deletes and (checkpoint, deletes) in self._cleaned:
            what = "deleted" if deletes == "true" else "cleaned"
            why = f"checkpoint {checkpoint} is {what} a second time; {self._describe()}"
            raise Rejected(("SUB-09",), why)
        self._cleaned.add((checkpoint, deletes))
        return None

    def _wait_for_a_completion(self, rules: tuple[str, ...], why: str, reordering: str) -> Wait:
        """The Wait for the next event that can complete a checkpoint. A completion may drop older ones."""
        state = self._coordinator.observe()
        oldest = next(iter(state["pending"]), None)
        key = ("triggered", state["next_id"]) if oldest is None else ("completed", int(oldest))
        return Wait(key, rules, why, reordering)

    def _fail(self, line: LogLine) -> Wait | None:
        """Replay a line of the failure manager about a failed checkpoint. Another line reports the cause."""
        self._leave()
        if line.checkpoint in self._aborted:
            return None
        if line.checkpoint in self._completed:
            why = f"checkpoint {line.checkpoint} fails, but it has completed"
            raise self._coordinator.reject("abort", why)
        if not has_other_reason(line):
            why = (
                f"checkpoint {line.checkpoint} fails ({line.detail or 'no reason'}), but nothing has ended it"
            )
            why = f"{why}; {self._describe()}"
            return Wait(("aborted",), ("COORD-09", "COORD-12"), why, "failure logged before its cause")
        wait = self._untriggered(line)
        if wait is None:
            self._run.see("ended for another reason")
            self._abort_for(line, line.detail, self._run.survey.tasks[0])
        return wait

    def _leave(self) -> None:
        """Step the model's coordinator with the job's new state, if the log has one and the model has not.

        The job logs its state before the coordinator stops. Acknowledgements count until a line shows that
        the coordinator has stopped (COORD-12).
        """
        if self._leaving:
            status, self._leaving = self._leaving, ""
            if self._coordinator.observe()["pending"]:
                self._run.see("pending one ended by the failure")
            self._keep(self._coordinator.step({"kind": "job_status", "status": status}, "COORD-12"))


def acknowledgement(task: str, checkpoint: int) -> dict[str, object]:
    """The wire event of an acknowledgement without a handle."""
    return {"kind": "acknowledge", "checkpoint": checkpoint, "task": task}
