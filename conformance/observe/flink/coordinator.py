"""The checkpoint coordinator's messages, replayed: acknowledgements, and how checkpoints end.

The model's coordinator answers every message at once. The log has the answer in lines of its own, on other
threads. So each answer is kept, and the line that reports it must find it.
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
"""Virtual ms until a checkpoint would expire; a line of the log reports when it does."""


class CoordinatorReplay:
    """The coordinator's lines about the pending checkpoints."""

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
        """The state for which the job has left RUNNING, until a line shows that the coordinator knows it."""
        self._acknowledged: set[tuple[str, int]] = set()
        self._completed: set[int] = set()
        self._aborted: dict[int, str] = {}
        """The reason, by checkpoint."""
        self._notified_of_abort: set[tuple[str, int]] = set()
        """Tasks and the checkpoints of which the model has notified them."""
        self._subsumed: Counter[tuple[str, int]] = Counter()
        """By task and checkpoint: notifications of subsumption without a line yet; -1: nothing subsumed."""
        self._discarded: set[int] = set()
        """Checkpoints that were dropped, without a line yet."""
        self._cleaned: set[tuple[int, str]] = set()
        """Checkpoints whose pending form was cleaned, or whose files were deleted."""
        self.restored_savepoints: set[int] = set()
        """Savepoints in the store: when Flink drops one, it logs an attempt to discard it."""
        self._handlers: dict[str, Callable[[LogLine], Wait | None]] = {
            grammar.ACKNOWLEDGED: self._acknowledge,
            grammar.ACKNOWLEDGED_TWICE: self._acknowledge_in_vain,
            grammar.ACKNOWLEDGED_BY_STRANGER: self._acknowledge_in_vain,
            grammar.ACKNOWLEDGED_LATE: self._acknowledge_late,
            grammar.COMPLETED: self._complete,
            grammar.DECLINED: self._decline,
            grammar.EXPIRED: self._expire,
            grammar.DISCARDED: self._discard,
            grammar.CLEANED: self._clean,
            grammar.FAILED: self._fail,
        }

    def handle(self, line: LogLine) -> Wait | None:
        """Replay one line. Raises Rejected."""
        handler = self._handlers.get(line.kind)
        return None if handler is None else handler(line)

    def forget(self, below: int) -> None:
        """Drop what is known of checkpoints below that id."""
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
        """Whether the coordinator has counted that acknowledgement."""
        return (execution, checkpoint) in self._acknowledged

    def wait_for_completion(self, checkpoint: int, task: str) -> Wait | None:
        """None if the log has reported the completion, else the line waits for it.

        Raises Rejected if the checkpoint was aborted.
        """
        if checkpoint in self._run.completion_logged:
            return None
        rules = ("COORD-08", "ONCE-05")
        why = f"{task} is notified that checkpoint {checkpoint} completed, and it has not; {self._describe()}"
        if checkpoint in self._aborted:
            raise Rejected(rules, f"{why}; it was aborted ({self._aborted[checkpoint]})")
        return Wait(("completion logged", checkpoint), rules, why, "notification before its completion")

    def wait_for_abort(self, checkpoint: int, task: str) -> Wait | None:
        """None if the coordinator has notified the task of the abort, else the line waits for it.

        Raises Rejected after a completion.
        """
        if (task, checkpoint) not in self._notified_of_abort:
            self._leave()
        if (task, checkpoint) in self._notified_of_abort:
            return None
        rules = ("COORD-09", "COORD-12")
        why = (
            f"{task} is notified that checkpoint {checkpoint} was aborted, and it was not; {self._describe()}"
        )
        if checkpoint in self._completed:
            raise Rejected(rules, why)
        return Wait(("aborted",), rules, why, "notification before the abort")

    def take_subsumed(self, task: str, checkpoint: int) -> Wait | None:
        """Uses up a notification that `checkpoint` (-1: none) was subsumed, or lets the line wait for one."""
        checkpoint = max(checkpoint, -1)
        if self._subsumed[task, checkpoint]:
            self._subsumed[task, checkpoint] -= 1
            self._run.see("subsumption notified")
            return None
        rules = ("COORD-08", "SUB-09")
        why = f"{task} is notified that {checkpoint} was subsumed, and it was not; {self._describe()}"
        has_ended = checkpoint in self._completed or checkpoint in self._aborted
        if has_ended and checkpoint not in self._coordinator.observe()["completed"]:
            raise Rejected(rules, why)  # no completion to come can replace it
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
        """The effects of an acknowledgement, and its result; None if the checkpoint is not pending."""
        event = acknowledgement(self._sender(line), line.checkpoint)
        effects = self._coordinator.step(event, "COORD-05")
        results = (effect["result"] for effect in effects if effect["kind"] == "acknowledged")
        return effects, next(results, None)

    def _acknowledge(self, line: LogLine) -> Wait | None:
        """The coordinator has counted an acknowledgement."""
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
        """Whether it is the last acknowledgement of a checkpoint that a later line reports as failed.

        No other message has ended it: the reason is not one that the model gives itself.
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

    def _acknowledge_in_vain(self, line: LogLine) -> Wait | None:
        """A second acknowledgement, or one of an unknown execution: the model must have the same result."""
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
            why = f"an acknowledgement of {line.checkpoint} is late, and it is pending; {self._describe()}"
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
            why = f"checkpoint {line.checkpoint} ends ({reason}), and it is not pending"
            raise self._coordinator.reject("abort", why)
        self._keep(effects)

    def _expire(self, line: LogLine) -> Wait | None:
        """Time is virtual: it advances to the deadline of that checkpoint."""
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
            return  # no other line reports it
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
            why = f"checkpoint {checkpoint} has every acknowledgement, and no line reports that it completed"
            return self._coordinator.reject("complete", why)
        return None

    def _discard(self, line: LogLine) -> Wait | None:
        if line.checkpoint in self._discarded:
            self._discarded.remove(line.checkpoint)
            return None
        why = f"checkpoint {line.checkpoint} is discarded, and no newer one has completed; {self._describe()}"
        is_pending = bool(self._coordinator.observe()["pending"])
        rules = ("COORD-07", "SUB-09") if is_pending else ("SUB-09", "SUB-06")
        reordering = "discarded before the completion that replaces it"
        return self._wait_for_a_completion(rules, why, reordering)

    def _clean(self, line: LogLine) -> Wait | None:
        """A checkpoint is cleaned after it has started: once when it ends, once when its files go."""
        checkpoint, deletes = line.checkpoint, line.detail
        if self.plans and checkpoint >= self._coordinator.state.coordinator.next_id:
            why = f"checkpoint {checkpoint} is cleaned, and it was never started; {self._describe()}"
            return Wait(("triggered", checkpoint), ("SUB-09", "COORD-02"), why, "cleaned before its start")
        if deletes and (checkpoint, deletes) in self._cleaned:
            what = "deleted" if deletes == "true" else "cleaned"
            why = f"checkpoint {checkpoint} is {what} a second time; {self._describe()}"
            raise Rejected(("SUB-09",), why)
        self._cleaned.add((checkpoint, deletes))
        return None

    def _wait_for_a_completion(self, rules: tuple[str, ...], why: str, reordering: str) -> Wait:
        """Wait until a completion may have dropped older checkpoints."""
        state = self._coordinator.observe()
        oldest = next(iter(state["pending"]), None)
        key = ("triggered", state["next_id"]) if oldest is None else ("completed", int(oldest))
        return Wait(key, rules, why, reordering)

    def _fail(self, line: LogLine) -> Wait | None:
        """The failure manager reports that a checkpoint failed; its cause has a line of its own."""
        self._leave()
        if line.checkpoint in self._aborted:
            return None
        if line.checkpoint in self._completed:
            why = f"checkpoint {line.checkpoint} fails, and it has completed"
            raise self._coordinator.reject("abort", why)
        if not has_other_reason(line):
            why = (
                f"checkpoint {line.checkpoint} fails ({line.detail or 'no reason'}), and nothing has ended it"
            )
            why = f"{why}; {self._describe()}"
            return Wait(("aborted",), ("COORD-09", "COORD-12"), why, "failure logged before its cause")
        wait = self._untriggered(line)
        if wait is None:
            self._run.see("ended for another reason")
            self._abort_for(line, line.detail, self._run.survey.tasks[0])
        return wait

    def _leave(self) -> None:
        """The coordinator learns the state for which the job has left RUNNING.

        The job logs its state before the coordinator stops: until a line shows that the coordinator has
        stopped, acknowledgements count (COORD-12).
        """
        if self._leaving:
            status, self._leaving = self._leaving, ""
            if self._coordinator.observe()["pending"]:
                self._run.see("pending one ended by the failure")
            self._keep(self._coordinator.step({"kind": "job_status", "status": status}, "COORD-12"))


def acknowledgement(task: str, checkpoint: int) -> dict[str, object]:
    """The event of one acknowledgement, without state."""
    return {"kind": "acknowledge", "checkpoint": checkpoint, "task": task}
